"""Relay cut in two: regions for the array, each a function of its own, and the host's rest."""

from dataclasses import dataclass
from math import prod
from typing import Any

from tvm import relay, transform

from byoc.relay.legality import Refusal, task_of
from byoc.relay.patterns import COMPILER, PRODUCTS, Chain, Matched, calls, chain_of, pattern_table, taken_apart
from byoc.relay.task import Task
from byoc.relay.tidy import tidy
from byoc.systolic.machine import Machine
from workbench.core.offload import LeftBehind


@dataclass(frozen=True)
class Accelerated:
    """One composite of a region: the node of the user's model it comes from, and its task."""

    region: str
    node: str
    task: Task


def annotate(module: Any, machine: Machine) -> Any:
    """The module with what the array takes as composites, in annotated regions. Weights are constants of `@main`."""
    passes = [
        relay.transform.InferType(),
        relay.transform.FoldConstant(fold_qnn=False),
        relay.transform.InferType(),
        tidy(),
        relay.transform.InferType(),
        relay.transform.MergeComposite(pattern_table(lambda found: _taken(found, machine))),
        relay.transform.AnnotateTarget([COMPILER]),
        relay.transform.MergeCompilerRegions(),
    ]
    return transform.Sequential(passes)(module)


def partition(module: Any) -> Any:
    """The annotated regions as functions with the attribute `Compiler`; constants stay arguments."""
    passes = [relay.transform.PartitionGraph(bind_constants=False), relay.transform.InferType()]
    return transform.Sequential(passes)(module)


def _taken(found: Matched, machine: Machine) -> bool:
    try:
        task_of(found, machine)
    except Refusal:
        return False
    return True


def regions(module: Any) -> dict[str, Any]:
    """The functions for the array by name, in the order of their names' numbers."""
    found = {str(name.name_hint): f for name, f in module.functions.items() if compiler_of(f) == COMPILER}
    return dict(sorted(found.items(), key=lambda item: int(item[0].rpartition("_")[2])))


def compiler_of(function: Any) -> str:
    """What a function is to be compiled by, "" for the host."""
    attrs = getattr(function, "attrs", None)
    return str(attrs["Compiler"]) if attrs and "Compiler" in attrs.keys() else ""  # noqa: SIM118 (TVM's own map)


def composites(function: Any) -> list[tuple[Any, Any]]:
    """The calls of composite functions in a region and those functions, in the order they run."""
    found: list[tuple[Any, Any]] = []

    def visit(node: Any) -> None:
        if isinstance(node, relay.Call) and isinstance(node.op, relay.Function):
            found.append((node, node.op))

    relay.analysis.post_order_visit(function.body, visit)
    return found


def matched(composite: Any) -> Matched:
    """The parts of a composite function."""
    return taken_apart(chain_of(str(composite.attrs["Composite"])), composite.body)


def accelerated(module: Any, machine: Machine) -> list[Accelerated]:
    """Everything that the array does, in the order of the regions."""
    rows: list[Accelerated] = []
    for name, function in regions(module).items():
        for _, composite in composites(function):
            found = matched(composite)
            rows.append(Accelerated(name, node_of(found.product), task_of(found, machine)))
    return rows


def left_behind(module: Any, machine: Machine) -> list[LeftBehind]:
    """Every operation of `@main` that the host runs, with the reason why."""
    rows: list[LeftBehind] = []

    def visit(node: Any) -> None:
        if isinstance(node, relay.Call) and hasattr(node.op, "name") and not _free(node):
            name = str(node.op.name)
            rows.append(LeftBehind(node_of(node), name, macs_of(node), reason(node, machine)))

    relay.analysis.post_order_visit(module["main"].body, visit)
    return rows


def reason(call: Any, machine: Machine) -> str:
    """Why the host runs an operation."""
    for kind, operator in PRODUCTS.items():
        if calls(call, operator):
            quantised = all(calls(a, "qnn.dequantize") for a in call.args[:2])
            chains = [Chain(kind, True, ())] * quantised + [Chain(kind, False, ())]
            return "; as floats: ".join(_refusal(taken_apart(c, call), machine) for c in chains)
    if macs_of(call):
        return f"the array has no form of {call.op.name}; it has {', '.join(machine.operations)}"
    return "no matrix product"


def _refusal(found: Matched, machine: Machine) -> str:
    try:
        task_of(found, machine)
    except Refusal as refusal:
        return str(refusal)
    return "it is fused with what another operation reads too"


def _free(call: Any) -> bool:
    """Whether an operation only names or moves elements, or is folded into a constant."""
    moves = ("reshape", "squeeze", "expand_dims", "transpose", "layout_transform", "nn.batch_flatten", "cast")
    return any(calls(call, name) for name in moves) or all(isinstance(a, relay.Constant) for a in call.args)


def node_of(call: Any) -> str:
    """The node of the user's model that an expression comes from."""
    name = getattr(getattr(call.span, "source_name", None), "name", "") if call.span else ""
    return str(name) or str(getattr(call.op, "name", ""))


def macs_of(call: Any) -> int:
    """Multiply-accumulates of an operation with static shapes: convolutions and matrix products have them."""
    name = str(call.op.name).removeprefix("nn.").removeprefix("qnn.")
    if not name.startswith(("conv", "dense", "matmul", "batch_matmul")):
        return 0
    made, x, w = (_sizes(a) for a in (call, call.args[0], call.args[1]))
    if not made or not x or not w:
        return 0
    if not name.startswith("conv"):
        return prod(made) * x[-2 if bool(getattr(call.attrs, "transpose_a", False)) else -1]
    if "transpose" in name:
        return prod(x) * prod(w) // w[0]
    return prod(made) * prod(w) // w[str(call.attrs.kernel_layout).index("O")]


def _sizes(x: Any) -> tuple[int, ...]:
    """A tensor's sizes; () where they are not known."""
    shape = getattr(x.checked_type, "shape", ())
    return tuple(int(d) for d in shape) if all(hasattr(d, "value") for d in shape) else ()
