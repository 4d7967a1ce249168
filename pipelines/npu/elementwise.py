"""What follows a product, element by element, read out of linalg.generic as a list of steps."""

from dataclasses import dataclass
from typing import Any

from dialects.bindings import Operation
from pipelines.mlir.tiled.edit import defining, ir, maps_of

Tree = Any
"""An expression: ("flow",) is the element that comes in; else ("in", operand), ("const", number), (name, *children)."""
FLOW = ("flow",)
_CONVERSIONS = ("trunci", "extsi", "sitofp", "fptosi", "extf", "truncf")
_GREATER = ("cmpf.2", "cmpf.3", "cmpf.9", "cmpf.10")
_LESS = ("cmpf.4", "cmpf.5", "cmpf.11", "cmpf.12")
"""Comparisons, ordered and unordered: which number `select` takes where one is NaN is all that they differ in."""


@dataclass(frozen=True)
class Step:
    """One operation on the element that comes in.

    `name` is add, mul, div (by a vector or a number), at_least, at_most (a number), roundeven, or a conversion with
    the type it gives ("trunci i32"). A vector has one number a channel.
    """

    name: str
    number: float | None = None
    vector: Any = None


def steps_of(op: Operation, flow: Any, channel: int) -> list[Step] | None:
    """The steps of an elementwise linalg.generic on `flow`, first one first; None when it does anything else.

    It must read and write in the order of the output; vectors run along dimension `channel` of it.
    """
    if op.name != "linalg.generic" or len(op.results) != 1:
        return None
    inputs, maps = list(op.operands)[:-1], maps_of(op)
    rank = maps[-1].n_dims
    identity, along = ir.AffineMap.get_identity(rank), ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(channel)])
    if maps[-1] != identity:
        return None
    block = op.regions[0].blocks[0]
    leaves: dict[Any, Tree] = {}
    for argument, value, indexing in zip(block.arguments, inputs, maps, strict=False):
        if value == flow and indexing == identity:
            leaves[argument] = FLOW
        elif (number := scalar(value)) is not None:
            leaves[argument] = ("const", number)
        elif indexing == along and value.type.rank == 1:
            leaves[argument] = ("in", value)
    tree = _tree(list(block.operations)[-1].operands[0], leaves)
    return _peel(tree) if tree is not None else None


def scalar(value: Any) -> float | None:
    """The number that a constant holds in every element, or None."""
    constant = defining(value, "arith.constant")
    if constant is None:
        return None
    held = constant.attributes["value"]
    if isinstance(held, ir.DenseElementsAttr):
        if not held.is_splat:
            return None
        held = held.get_splat_value()
    return held.value if isinstance(held, ir.FloatAttr | ir.IntegerAttr) else None


def _tree(value: Any, leaves: dict[Any, Tree]) -> Tree | None:
    if value in leaves:
        return leaves[value]
    if (number := scalar(value)) is not None:
        return ("const", number)
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    children = [_tree(v, leaves) for v in op.operands]
    if any(c is None for c in children):
        return None
    name = op.name.partition(".")[2]
    if name in ("cmpf", "cmpi"):
        name = f"{name}.{op.attributes['predicate'].value}"
    elif name in _CONVERSIONS:
        name = f"{name} {op.results[0].type}"
    return (name, *children)


def _peel(tree: Tree) -> list[Step] | None:
    """Undo the outermost operation again and again until the incoming element is left."""
    steps: list[Step] = []
    while tree != FLOW:
        found = _bound(tree) or _unary(tree) or _binary(tree)
        if found is None:
            return None
        step, tree = found
        steps.insert(0, step)
    return steps


def _unary(tree: Tree) -> tuple[Step, Tree] | None:
    if len(tree) == 2 and (tree[0] == "roundeven" or tree[0].partition(" ")[0] in _CONVERSIONS):
        return Step(tree[0]), tree[1]
    return None


def _binary(tree: Tree) -> tuple[Step, Tree] | None:
    name = {"addf": "add", "addi": "add", "mulf": "mul", "divf": "div"}.get(tree[0])
    if name is None or len(tree) != 3:
        return None
    for flow, other in ((tree[1], tree[2]), (tree[2], tree[1]))[: 1 if name == "div" else 2]:
        if other[0] == "const":
            return Step(name, number=other[1]), flow
        if other[0] == "in":
            return Step(name, vector=other[1]), flow
    return None


def _bound(tree: Tree) -> tuple[Step, Tree] | None:
    """max and min with a number, as an operation or as compare and select."""
    if tree[0] in ("maximumf", "minimumf", "maxsi", "minsi"):
        name = "at_least" if tree[0].startswith("max") else "at_most"
        for flow, other in ((tree[1], tree[2]), (tree[2], tree[1])):
            if other[0] == "const":
                return Step(name, number=other[1]), flow
    if tree[0] != "select" or tree[1][0] not in (*_GREATER, *_LESS):
        return None
    (compare, left, right), yes, no = tree[1:]
    larger_stays = (compare in _GREATER) == (yes == left)
    flow, bound = (left, right) if right[0] == "const" else (right, left)
    if bound[0] != "const" or (yes, no) not in ((left, right), (right, left)):
        return None
    return Step("at_least" if larger_stays else "at_most", number=bound[1]), flow
