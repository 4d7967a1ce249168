"""Finds what is tiled together: an anchor, the operation that fills its output, and the one that uses its result.

The three carry one number in the attributes `tiled.anchor`, `tiled.init` and `tiled.root`; the root's tiles are the
group's, and the other two are fused into them.
"""

from collections.abc import Mapping
from dataclasses import replace

from dialects.bindings import Module, Operation
from pipelines.mlir.tiled.edit import create, defining, ir, maps_of, ops_named, users
from pipelines.mlir.tiled.nest import LoopNest, read_nest
from pipelines.mlir.tiled.split import split_group
from pipelines.mlir.tiled.strategy import Registers, Split, Tiling, Untiled, choose

ANCHOR, INIT, ROOT = "tiled.anchor", "tiled.init", "tiled.root"


def form_groups(module: Module, registers: Registers) -> None:
    """Number the groups of the module. What cannot be tiled is left without a number."""
    for number, anchor in enumerate(ops_named(module, "linalg.generic")):
        nest = read_nest(anchor)
        if nest is None or nest.elementwise or isinstance(choose(nest, registers), Untiled):
            continue
        _mark(anchor, ANCHOR, number)
        _mark(_root(anchor), ROOT, number)
        _own_init(anchor, number)


def plan(module: Module, registers: Registers, threads: int = 1) -> dict[int, Tiling | Split]:
    """What `choose` says for each group, for the part of the anchor that its root asks for."""
    chosen: dict[int, Tiling | Split] = {}
    for number, group in members(module).items():
        choice = choose(_needed(group[ANCHOR], group[ROOT]), registers, threads)
        if not isinstance(choice, Untiled):
            chosen[number] = choice
    return chosen


def split_groups(module: Module, splits: Mapping[int, Split]) -> None:
    """Cut the groups in two where asked; the second part gets a number of its own."""
    groups = members(module)
    fresh = max(groups, default=0) + 1
    for number, split in splits.items():
        group = groups[number]
        for part in split_group(group[ROOT], group[ANCHOR], group.get(INIT), split):
            for op, mark in zip(part, (ROOT, ANCHOR, INIT), strict=False):
                _mark(op, mark, number)
            number, fresh = fresh, fresh + 1


def reduction_steps(group: Mapping[str, Operation]) -> list[int]:
    """Tile sizes of the anchor's loops that walk its reductions one step at a time; 0 for the others."""
    nest = read_nest(group[ANCHOR])
    assert nest is not None, "an anchor has a known nest"
    return [0 if parallel else 1 for parallel in nest.parallel]


def members(module: Module) -> dict[int, dict[str, Operation]]:
    """The marked operations of each group."""
    groups: dict[int, dict[str, Operation]] = {}
    for op in ops_named(module, "linalg.generic"):
        for mark in (ANCHOR, INIT, ROOT):
            if mark in op.attributes:
                groups.setdefault(int(op.attributes[mark].value), {})[mark] = op
    return groups


def _mark(op: Operation, mark: str, number: int) -> None:
    op.attributes[mark] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def _needed(anchor: Operation, root: Operation) -> LoopNest:
    """The anchor's nest, no larger than the part of its output that the root reads."""
    nest = read_nest(anchor)
    assert nest is not None, "a marked anchor was read before"
    sizes = list(nest.sizes)
    for index, extent in zip(nest.outputs[0].indices, root.results[0].type.shape, strict=True):
        sizes[index[0][0]] = extent
    return replace(nest, sizes=tuple(sizes))


def _root(anchor: Operation) -> Operation:
    """The only user of the anchor when it is elementwise on the same shape, else a copy made for the purpose."""
    readers = users(anchor.results[0])
    if len(readers) == 1 and ROOT not in readers[0].attributes and _follows(readers[0], anchor):
        return readers[0]
    return _copy_after(anchor)


def _follows(user: Operation, anchor: Operation) -> bool:
    nest = read_nest(user)
    if nest is None or not nest.elementwise or len(nest.outputs) != 1 or len(list(anchor.results[0].uses)) != 1:
        return False
    identity = ir.AffineMap.get_identity(len(nest.sizes))
    maps = maps_of(user)
    number = next(i for i, value in enumerate(user.operands) if value == anchor.results[0])
    return number < len(nest.inputs) and maps[number] == identity and maps[-1] == identity


def _copy_after(anchor: Operation) -> Operation:
    """An elementwise copy of the anchor's result, so that every group has a root."""
    value = anchor.results[0]
    readers = [(use.owner, use.operand_number) for use in value.uses]
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(value.type.rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    with ir.InsertionPoint.after(anchor), anchor.location:
        copy = ir.Operation.create(
            "linalg.generic",
            operands=[value, create("tensor.empty", [], value.type)],
            results=[value.type],
            attributes={
                "indexing_maps": ir.ArrayAttr.get([identity, identity]),
                "iterator_types": ir.ArrayAttr.get([parallel] * value.type.rank),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
            },
            regions=1,
        )
        element = value.type.element_type
        block = copy.regions[0].blocks.append(element, element, arg_locs=[anchor.location] * 2)
        with ir.InsertionPoint(block):
            ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    for owner, number in readers:
        owner.operands[number] = copy.results[0]
    return copy


def _own_init(anchor: Operation, number: int) -> None:
    """Mark the operation that fills the anchor's output; a shared one is copied first."""
    last = len(anchor.operands) - 1
    init = defining(anchor.operands[last], "linalg.generic")
    nest = read_nest(init) if init is not None else None
    if init is None or nest is None or not nest.elementwise or len(nest.outputs) != 1 or ANCHOR in init.attributes:
        return
    if ROOT in init.attributes:
        return
    if INIT in init.attributes or len(list(init.results[0].uses)) > 1:
        init = _clone_before(init, anchor)
        anchor.operands[last] = init.results[0]
    _mark(init, INIT, number)


def _clone_before(op: Operation, where: Operation) -> Operation:
    copy = op.clone(ip=ir.InsertionPoint(where))
    return copy.operation
