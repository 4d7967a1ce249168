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

    `flop` is that of one call: see `flop`. `bytes` are those of its arguments and results, each counted once. `calls`
    is how often the graph calls it.
    """

    name: str
    ops: tuple[str, ...]
    calls: int
    flop: int
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


def function_table(module: Any, graph: str) -> list[FusedFunction]:
    """The functions that the graph calls, in the order of their first call; TVM's own hash says which is which."""
    fused = fused_functions(module)
    nodes = [node["attrs"] for node in json.loads(graph)["nodes"] if node["op"] == "tvm_op"]
    calls = Counter(node["func_name"] for node in nodes)
    rows: dict[str, FusedFunction] = {}
    for node in nodes:
        name, function = node["func_name"], fused.get(node.get("hash", ""))
        if function is not None and name not in rows:
            work = calls_of(function)
            ops = tuple(str(call.op.name) for call in work)
            rows[name] = FusedFunction(name, ops, calls[name], sum(map(flop, work)), bytes_of(function))
    return list(rows.values())


def fused_functions(module: Any) -> dict[str, Any]:
    """The primitive functions of an optimised module by their hash."""
    relay = load("relay")
    found: dict[str, Any] = {}

    def visit(node: Any) -> None:
        if isinstance(node, relay.Call) and isinstance(node.op, relay.Function):
            found[str(node.op.attrs["hash"])] = node.op

    relay.analysis.post_order_visit(module["main"].body, visit)
    return found


def calls_of(function: Any) -> list[Any]:
    """The calls of operators in a fused function, in the order they run."""
    relay, op = load("relay"), load("ir").Op
    found: list[Any] = []

    def visit(node: Any) -> None:
        if isinstance(node, relay.Call) and isinstance(node.op, op):
            found.append(node)

    relay.analysis.post_order_visit(function.body, visit)
    return found


MOVES = frozenset(
    ("reshape", "transpose", "layout_transform", "squeeze", "expand_dims", "concatenate", "split", "take", "where")
)
"""Operators that choose and move elements; so does everything called strided_slice or nn.pad."""
REDUCTIONS = frozenset(("sum", "mean", "max", "min", "prod", "argmax", "argmin"))


def flop(call: Any) -> int:
    """Floating-point operations of one operator.

    Convolutions and products: two for each multiply-add of the direct form, also where a transformed one (Winograd)
    does fewer. Reductions and poolings: one for each element taken. Others: one for each element made; moves: none.
    """
    name = str(call.op.name).removeprefix("nn.").removeprefix("contrib_")
    made = elements_of(call.checked_type)
    if name in MOVES or name in ("strided_slice", "pad") or _transforms_weights(name):
        return 0
    operands = [shape_of(a.checked_type) for a in call.args if hasattr(a.checked_type, "shape")]
    if name.startswith(("conv", "depthwise_conv")):
        return 2 * made * _convolved(call, name, operands[1])
    if name.startswith(("dense", "matmul", "batch_matmul")):
        transposed = bool(getattr(call.attrs, "transpose_a", False))
        return 2 * made * operands[0][-2 if transposed else -1]
    if name in REDUCTIONS:
        return prod(operands[0])
    if "pool" in name:
        window = getattr(call.attrs, "pool_size", None)
        return made * prod(int(n) for n in window) if window else prod(operands[0])
    return made


def _transforms_weights(name: str) -> bool:
    return "weight_transform" in name and "without_weight_transform" not in name


def _convolved(call: Any, name: str, weight: tuple[int, ...]) -> int:
    """Elements that each output element of a convolution sums over."""
    kernel = [int(n) for n in call.attrs.kernel_size]
    summed = prod(weight) // max(int(call.attrs.channels), 1)
    if "winograd_without" in name:
        tile = int(call.attrs.tile_size)
        return summed // prod(tile + k - 1 for k in kernel) * prod(kernel)
    return summed


def bytes_of(function: Any) -> int:
    """Bytes of a function's arguments and results."""
    return sum(_size(t) for t in (*(p.checked_type for p in function.params), function.ret_type))


def elements_of(kind: Any) -> int:
    """Elements of a tensor, or of all in a tuple."""
    return sum(map(elements_of, kind.fields)) if hasattr(kind, "fields") else prod(shape_of(kind))


def shape_of(kind: Any) -> tuple[int, ...]:
    """Static shape of a tensor type."""
    return tuple(int(d) for d in kind.shape)


def _size(kind: Any) -> int:
    if hasattr(kind, "fields"):
        return sum(map(_size, kind.fields))
    dtype = load().DataType(kind.dtype)
    return prod(shape_of(kind)) * dtype.lanes * ((dtype.bits + 7) // 8)
