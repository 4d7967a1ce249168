"""The table of fused functions: what each one computes, how much, and how often the graph calls it."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from pipelines.tvm.bindings import load


@dataclass(frozen=True)
class FusedFunction:
    """One fused function of the optimised Relay and the TIR function it became.

    `flop` counts a multiply and an add as two, and one for each element that any other operator makes (or, in a
    reduction, takes); of transformed convolutions it is what the transformed form does. `bytes` are those of arguments
    and results, each once. `nodes` are the nodes of the user's model that calls of it came from.
    """

    name: str
    ops: tuple[str, ...]
    calls: int
    flop: int
    bytes: int
    nodes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


def function_table(relay_module: Any, graph: str) -> list[FusedFunction]:
    """The functions that the graph calls, in the order of their first call. They are matched by TVM's own hash."""
    relay = load("relay")
    fused: dict[str, Any] = {}
    nodes: dict[str, list[str]] = {}

    def visit(node: Any) -> None:
        if isinstance(node, relay.Call) and isinstance(node.op, relay.Function):
            key = str(node.op.attrs["hash"])
            fused.setdefault(key, node.op)
            nodes.setdefault(key, [])

    relay.analysis.post_order_visit(relay_module["main"].body, visit)
    rows: dict[str, FusedFunction] = {}
    calls = Counter(n["attrs"]["func_name"] for n in json.loads(graph)["nodes"] if n["op"] == "tvm_op")
    for node in json.loads(graph)["nodes"]:
        function = fused.get(node.get("attrs", {}).get("hash", ""))
        name = node.get("attrs", {}).get("func_name", "")
        if function is not None and name not in rows:
            ops, flop = _work(function)
            rows[name] = FusedFunction(name, ops, calls[name], flop, _bytes(function), ())
    return list(rows.values())


def _work(function: Any) -> tuple[tuple[str, ...], int]:
    relay = load("relay")
    ops: list[str] = []
    flop = 0

    def visit(node: Any) -> None:
        nonlocal flop
        if isinstance(node, relay.Call) and hasattr(node.op, "name"):
            ops.append(str(node.op.name))
            flop += _flop(node)

    relay.analysis.post_order_visit(function.body, visit)
    return tuple(ops), flop


_MOVES = ("reshape", "transpose", "layout_transform", "squeeze", "expand_dims", "concatenate", "strided_slice", "split")
"""Operators that only move elements."""


def _flop(call: Any) -> int:
    name = str(call.op.name)
    out = _elements(call.checked_type)
    if name.rpartition(".")[2] in _MOVES or "transform" in name:
        return 0
    operands = [_shape(a.checked_type) for a in call.args if hasattr(a.checked_type, "shape")]
    if "conv" in name or "dense" in name or "matmul" in name:
        # Every product is one of a left element; each output element sums as many as the weight has elements per channel.
        total = prod(operands[1]) if operands[1:] else 0
        return 2 * out * _depth(name, call, operands, total)
    return max([out, *(prod(s) for s in operands)] if name in _REDUCTIONS else [out])


_REDUCTIONS = ("sum", "mean", "max", "min", "prod", "nn.softmax", "nn.max_pool2d", "nn.avg_pool2d", "nn.global_avg_pool2d")


def _depth(name: str, call: Any, operands: list[tuple[int, ...]], total: int) -> int:
    if "conv" in name:
        channels = int(call.attrs.channels) if getattr(call.attrs, "channels", None) is not None else operands[1][0]
        return max(total // max(channels, 1), 1)
    return operands[0][-1]


def _bytes(function: Any) -> int:
    types = [*(p.checked_type for p in function.params), function.ret_type]
    return sum(_size(t) for t in types)


def _size(kind: Any) -> int:
    if hasattr(kind, "fields"):
        return sum(_size(f) for f in kind.fields)
    dtype = load().DataType(kind.dtype)
    return prod(_shape(kind)) * dtype.lanes * ((dtype.bits + 7) // 8)


def _elements(kind: Any) -> int:
    return sum(_elements(f) for f in kind.fields) if hasattr(kind, "fields") else prod(_shape(kind))


def _shape(kind: Any) -> tuple[int, ...]:
    return tuple(int(d) for d in kind.shape)
