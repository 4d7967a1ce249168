"""Changes to linalg operations in place: operands, maps, loop order."""

from collections.abc import Callable, Sequence
from typing import Any

from dialects.bindings import Module, Operation, load, walk


class _Lazy:
    """`mlir.ir`, loaded at its first use."""

    def __getattr__(self, name: str) -> Any:
        return getattr(load("ir"), name)


ir: Any = _Lazy()
DYNAMIC = -(2**63)
"""MLIR's mark for an offset that is a value."""


def ops_named(module: Module, *names: str) -> list[Operation]:
    """Operations of these names, in program order."""
    found: list[Operation] = []
    walk(module.operation, lambda op: found.append(op.operation) if op.operation.name in names else None)
    return found


def users(value: Any) -> list[Operation]:
    """Operations that use a value, each once."""
    found: list[Operation] = []
    for use in value.uses:
        if use.owner.operation not in found:
            found.append(use.owner.operation)
    return found


def replace_uses(value: Any, fresh: Any, keep: Operation) -> None:
    """Let every operation but `keep` use `fresh` instead of `value`."""
    for use in list(value.uses):
        if use.owner.operation != keep:
            use.owner.operands[use.operand_number] = fresh


def defining(value: Any, name: str) -> Operation | None:
    """The operation `name` that defines a value, or None."""
    if isinstance(value.owner, ir.Block):
        return None
    owner = value.owner.operation
    return owner if owner.name == name else None


def create(name: str, operands: Sequence[Any], result: Any, **attributes: Any) -> Any:
    """Build an operation with one result at the current insertion point and give the result."""
    return ir.Operation.create(name, operands=list(operands), results=[result], attributes=attributes).results[0]


def maps_of(op: Operation) -> list[Any]:
    """The indexing maps of a linalg operation, one an operand."""
    return [a.value for a in op.attributes["indexing_maps"]]


def set_maps(op: Operation, maps: Sequence[Any]) -> None:
    """Replace the indexing maps."""
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])


def permuted(items: Sequence[Any], order: Sequence[int]) -> list[Any]:
    """`items` in the order given: result i is item order[i]."""
    return [items[i] for i in order]


def inverse(order: Sequence[int]) -> list[int]:
    """The permutation that undoes `order`."""
    return sorted(range(len(order)), key=lambda i: order[i])


def permute_operand(op: Operation, number: int, value: Any, order: Sequence[int]) -> None:
    """Let operand `number` read `value`, which holds the old operand's dimensions in the order given."""
    maps = maps_of(op)
    old = maps[number]
    maps[number] = ir.AffineMap.get(old.n_dims, 0, permuted(list(old.results), order))
    op.operands[number] = value
    set_maps(op, maps)


def permute_loops(op: Operation, order: Sequence[int]) -> None:
    """Reorder the loops of a `linalg.generic`: new loop i is old loop order[i]."""
    place = inverse(order)
    fresh = [ir.AffineExpr.get_dim(p) for p in place]
    maps = [ir.AffineMap.get(len(order), 0, [_renamed(e, fresh) for e in m.results]) for m in maps_of(op)]
    set_maps(op, maps)
    kinds = list(op.attributes["iterator_types"])
    op.attributes["iterator_types"] = ir.ArrayAttr.get(permuted(kinds, order))
    index_type = ir.IntegerType.get_signless(64)

    def rename(inner: Operation) -> None:
        if inner.operation.name == "linalg.index":
            dim = place[inner.attributes["dim"].value]
            inner.attributes["dim"] = ir.IntegerAttr.get(index_type, dim)

    walk(op, rename)


def _renamed(expr: Any, fresh: Sequence[Any]) -> Any:
    combine: dict[type, Callable[[Any, Any], Any]] = {
        ir.AffineAddExpr: ir.AffineExpr.get_add,
        ir.AffineMulExpr: ir.AffineExpr.get_mul,
    }
    if isinstance(expr, ir.AffineDimExpr):
        return fresh[expr.position]
    if type(expr) in combine:
        return combine[type(expr)](_renamed(expr.lhs, fresh), _renamed(expr.rhs, fresh))
    return expr


def transposed_type(kind: Any, order: Sequence[int]) -> Any:
    """A ranked tensor type with its dimensions in the order given."""
    return ir.RankedTensorType.get(permuted(list(kind.shape), order), kind.element_type)


def transpose(value: Any, order: Sequence[int]) -> Any:
    """Build `linalg.transpose`: dimension i of the result is dimension order[i] of the value."""
    result = transposed_type(value.type, order)
    empty = create("tensor.empty", [], result)
    op = ir.Operation.create(
        "linalg.transpose",
        operands=[value, empty],
        results=[result],
        attributes={"permutation": ir.DenseI64ArrayAttr.get(list(order))},
        regions=1,
    )
    element = value.type.element_type
    block = op.regions[0].blocks.append(element, element, arg_locs=[op.location, op.location])
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    return op.results[0]


def in_piece(op: Operation) -> bool:
    """Whether an operation is inside a piece of work that threads share."""
    parent = op.operation.parent
    return parent is not None and (parent.operation.name == "scf.forall" or in_piece(parent.operation))
