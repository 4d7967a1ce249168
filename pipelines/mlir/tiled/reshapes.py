"""Moves expanding reshapes below the operations that read them, so that these meet what they can be fused with."""

import math
from collections.abc import Sequence
from typing import Any

from dialects.bindings import Module, Operation
from pipelines.mlir.tiled.edit import create, defining, ir, ops_named, set_maps
from pipelines.mlir.tiled.nest import Access, LoopNest, read_nest

Groups = list[list[int]]
"""Loops, or dimensions, that are one after the reshape is undone."""


def sink_reshapes(module: Module) -> None:
    """Let operations run on what an expand_shape reads, and expand their result instead.

    f(expand(x), y) becomes expand(f(x, collapse(y))): a batched matmul, the scaling and the softmax after it then have
    the same loops. Dimensions of size 1 that no loop walks, which a reduction may leave, go as well.
    """
    while sum(_sink(op) for op in ops_named(module, "linalg.generic")):
        pass


def _sink(op: Operation) -> bool:
    """Run one operation on fewer dimensions, if it can; whether it could."""
    nest = read_nest(op)
    if nest is None or nest.windowed or len(nest.outputs) != 1 or _asks_where(op):
        return False
    loops = _expanded_loops(op, nest) or [[loop] for loop in range(len(nest.sizes))]
    if any(dimension_groups(a, loops) is None for a in nest.accesses):
        loops = [[loop] for loop in range(len(nest.sizes))]
    groups = [dimension_groups(a, loops) or [] for a in nest.accesses]
    if all(len(group) == 1 for operand in groups for group in operand):
        return False
    with ir.InsertionPoint(op), op.location:
        _run_collapsed(op, nest, loops)
    return True


def _asks_where(op: Operation) -> bool:
    return any(inner.operation.name == "linalg.index" for inner in op.regions[0].blocks[0].operations)


def _expanded_loops(op: Operation, nest: LoopNest) -> Groups | None:
    """All loops in order, those together that one dimension was expanded into; None when no input is expanded."""
    for value, access in zip(op.operands, nest.inputs, strict=False):
        reshape = defining(value, "tensor.expand_shape")
        if reshape is None:
            continue
        single = [access.indices[d][0] if len(access.indices[d]) == 1 else (-1, 1) for d in range(len(access.shape))]
        groups = [[single[int(str(d).split()[0])][0] for d in group] for group in reshape.attributes["reassociation"]]
        joined = [group for group in groups if len(group) > 1 and -1 not in group]
        if joined and all(group == list(range(group[0], group[0] + len(group))) for group in joined):
            starts = {group[0]: group for group in joined}
            inner = {loop for group in joined for loop in group[1:]}
            return [starts.get(loop, [loop]) for loop in range(len(nest.sizes)) if loop not in inner]
    return None


def dimension_groups(access: Access, loops: Groups) -> Groups | None:
    """Dimensions of an operand that become one when loops do; None if some of a group's loops are apart or missing.

    A dimension without a loop joins its neighbour.

    >>> row = Access((2, 8, 5, 1), (((0, 1),), ((1, 1),), ((2, 1),), ()))
    >>> dimension_groups(row, [[0, 1], [2], [3]])
    [[0, 1], [2, 3]]
    """
    walked = [index[0][0] if len(index) == 1 else -1 for index in access.indices]
    groups: Groups = []
    d = 0
    while d < len(walked):
        group = next((g for g in loops if walked[d] in g), [walked[d]])
        if walked[d : d + len(group)] != group:
            return None
        alone = walked[d] == -1 and access.shape[d] == 1
        if groups and (alone or _fixed(access, groups[-1], walked)):
            groups[-1] += range(d, d + len(group))
        else:
            groups.append(list(range(d, d + len(group))))
        d += len(group)
    return groups


def _fixed(access: Access, group: list[int], walked: list[int]) -> bool:
    return all(walked[d] == -1 and access.shape[d] == 1 for d in group)


def _run_collapsed(op: Operation, nest: LoopNest, loops: Groups) -> None:
    copy = op.clone(ip=ir.InsertionPoint(op)).operation
    place = {loop: number for number, group in enumerate(loops) for loop in group}
    maps: list[Any] = []
    for number, access in enumerate(nest.accesses):
        groups = dimension_groups(access, loops) or []
        heads = [next((access.indices[d] for d in group if access.indices[d]), ()) for group in groups]
        exprs = [ir.AffineExpr.get_dim(place[i[0][0]]) if i else ir.AffineExpr.get_constant(0) for i in heads]
        maps.append(ir.AffineMap.get(len(loops), 0, exprs))
        with ir.InsertionPoint(copy):
            copy.operands[number] = _collapsed(op.operands[number], groups)
    set_maps(copy, maps)
    kinds = list(op.attributes["iterator_types"])
    copy.attributes["iterator_types"] = ir.ArrayAttr.get([kinds[group[0]] for group in loops])
    result, wide = copy.results[0], op.results[0].type
    result.set_type(copy.operands[len(copy.operands) - 1].type)
    groups = dimension_groups(nest.outputs[0], loops) or []
    if any(len(group) > 1 for group in groups):
        shape = ir.DenseI64ArrayAttr.get(list(wide.shape))
        result = create(
            "tensor.expand_shape", [result], wide, static_output_shape=shape, reassociation=_reassociation(groups)
        )
    op.results[0].replace_all_uses_with(result)
    op.erase()


def _collapsed(value: Any, groups: Groups) -> Any:
    """The value with each group of dimensions as one; what only fills is filled in that shape to begin with."""
    if all(len(group) == 1 for group in groups):
        return value
    shape = list(value.type.shape)
    sizes = [math.prod(shape[d] for d in group) for group in groups]
    kind = ir.RankedTensorType.get(sizes, value.type.element_type)
    if defining(value, "tensor.empty") is not None:
        return create("tensor.empty", [], kind)
    reshape = defining(value, "tensor.expand_shape")
    if reshape is not None and reshape.operands[0].type == kind:
        return reshape.operands[0]
    fill = defining(value, "linalg.generic")
    nest = read_nest(fill) if fill is not None else None
    if fill is not None and nest is not None and nest.elementwise and not any(a.loops for a in nest.inputs):
        return _filled(fill, kind)
    return create("tensor.collapse_shape", [value], kind, reassociation=_reassociation(groups))


def _filled(fill: Operation, kind: Any) -> Any:
    empty = create("tensor.empty", [], kind)
    copy = fill.clone(ip=ir.InsertionPoint.current).operation
    last = len(copy.operands) - 1
    copy.operands[last] = empty
    scalars = [ir.AffineMap.get(kind.rank, 0, []) for _ in range(last)]
    set_maps(copy, [*scalars, ir.AffineMap.get_identity(kind.rank)])
    copy.attributes["iterator_types"] = ir.ArrayAttr.get(list(fill.attributes["iterator_types"])[:1] * kind.rank)
    copy.results[0].set_type(kind)
    return copy.results[0]


def _reassociation(groups: Sequence[Sequence[int]]) -> Any:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in group]) for group in groups])
