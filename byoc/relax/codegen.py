"""The code generator `relax.ext.systolic`, for TVM 0.27: products of matrices with a bias and a ReLU behind them.

As `byoc.relay.codegen`, whose tasks and driver it shares: a region is one call of the packed function `systolic.run`
with the task as JSON. Convolutions and quantised products come through Relay only.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import combinations
from typing import Any

from byoc.relay.driver import PACKED
from byoc.relay.task import Task, read_task
from byoc.systolic.machine import Machine
from workbench.core.errors import CompileError

tvm: Any = import_module("tvm")  # of the toolchain, whose names the TVM of this environment lacks
relax, te, tirx, dpl = (import_module(f"tvm.{name}") for name in ("relax", "te", "tirx", "relax.dpl"))
is_op: Any = dpl.is_op
wildcard: Any = dpl.wildcard

COMPILER = "systolic"


class Refusal(Exception):
    """Why a product stays on the host."""


def compiled(module: Any, machine: Machine) -> Any:
    """The module with everything that the array takes compiled for `machine` and linked as external functions."""

    def generate(functions: Sequence[Any], options: Any, constants: Any) -> list[Any]:
        return [built(f, machine) for f in functions]

    tvm.register_global_func(f"relax.ext.{COMPILER}", generate, override=True)
    return relax.transform.RunCodegen()(partition(module, machine))


def partition(module: Any, machine: Machine) -> Any:
    """The module with each product that the array takes as a function with the attribute `Codegen`."""

    def accepts(context: Any) -> bool:
        try:
            read_task(task_of(context.annotated_expr).to_json(machine))
        except (CompileError, Refusal):
            return False
        return True

    rows = [(name, root, parts, accepts) for name, root, parts in table()]
    return relax.transform.FuseOpsByPattern(rows, bind_constants=False, annotate_codegen=True)(module)


def table() -> list[tuple[str, Any, dict[str, Any]]]:
    """Name, pattern and named parts of each chain, longer ones first."""
    rows: list[tuple[str, Any, dict[str, Any]]] = []
    for fused in (f for count in (2, 1, 0) for f in combinations(("bias", "relu"), count)):
        parts: dict[str, Any] = {"x": wildcard(), "w": wildcard()}
        y = is_op("relax.matmul")(parts["x"], parts["w"])
        if "bias" in fused:
            parts["bias"] = wildcard()
            y = is_op("relax.add")(y, parts["bias"])
        if "relu" in fused:
            y = parts["relu"] = is_op("relax.nn.relu")(y)
        rows.append((".".join((COMPILER, "matmul", *fused)), y, parts))
    return rows


def task_of(parts: Mapping[str, Any]) -> Task:
    """The task of a chain's parts. Raises Refusal with the reason why the array cannot take it."""
    x, w = sizes(parts["x"]), sizes(parts["w"])
    if len(x) != len(w) or len(x) not in (2, 3) or x[:-2] != w[:-2]:
        raise Refusal(f"the array multiplies matrices, or as many of one as of the other: not {list(x)} by {list(w)}")
    if (bias := parts.get("bias")) is not None and sizes(bias) != w[-1:]:
        raise Refusal(f"what is added has shape {list(sizes(bias))}, not one number for each of {w[-1]} columns")
    kind, batch = ("batch_matmul", x[0]) if len(x) == 3 else ("dense", 1)
    return Task(kind, str(parts["x"].ty.dtype), batch, x[-2], x[-1], w[-1], bias is not None, "relu" in parts, False)


def sizes(x: Any) -> tuple[int, ...]:
    """Static shape of an expression. Raises Refusal when it is not known."""
    shape = tuple(x.ty.shape)
    if not all(hasattr(d, "value") for d in shape):
        raise Refusal(f"its shape is not known before it runs: {', '.join(map(str, shape))}")
    return tuple(int(d) for d in shape)


def built(function: Any, machine: Machine) -> Any:
    """A runtime module with the function of one region, which TVM calls with its arguments and the result to fill."""
    name = str(function.attrs["global_symbol"])
    composite = next(b.value for block in function.body.blocks for b in block.bindings)
    calls = [b.value for block in composite.body.blocks for b in block.bindings if isinstance(b.value, relax.Call)]
    parts: dict[str, Any] = {"x": calls[0].args[0], "w": calls[0].args[1]}
    for call in calls[1:]:
        parts |= {"relu": call} if call.op.name == "relax.nn.relu" else {"bias": call.args[1]}
    text = task_of(parts).to_json(machine)

    def call_driver(ins: Any, outs: Any) -> Any:
        return tirx.call_packed(PACKED, text, *ins, *outs)

    inputs = {p: te.placeholder(sizes(p), str(p.ty.dtype), str(p.name)) for p in composite.params}
    operands = [inputs[parts[part]] for part in ("x", "w", "bias") if part in parts]
    out = te.extern([sizes(calls[-1])], operands, call_driver, name="result", dtype=[str(calls[-1].ty.dtype)])
    lowered = te.create_prim_func([*inputs.values(), out]).with_attr("global_symbol", name)
    return tvm.compile(tvm.IRModule({name: lowered}), target="llvm").mod
