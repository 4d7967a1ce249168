"""Cuts a group in two along one dimension of its output, so that each part has tiles that divide it."""

from collections.abc import Mapping
from typing import Any

from dialects.bindings import Operation
from pipelines.mlir.tiled.edit import create, ir
from pipelines.mlir.tiled.nest import Access, LoopNest, read_nest
from pipelines.mlir.tiled.strategy import Split


def part_of(access: Access, sizes: tuple[int, ...], loop: int, start: int, size: int) -> tuple[list[int], list[int]]:
    """Offsets and sizes of what an operand contributes when `loop` runs from `start` for `size` steps.

    >>> image = Access((58,), (((0, 1), (1, 1)),))
    >>> part_of(image, (56, 3), loop=0, start=48, size=8)
    ([48], [10])
    """
    offsets, extents = [], []
    for shape, index in zip(access.shape, access.indices, strict=True):
        terms = dict(index)
        if loop not in terms:
            offsets.append(0)
            extents.append(shape)
            continue
        steps = {other: (size if other == loop else sizes[other]) - 1 for other in terms}
        offsets.append(terms[loop] * start)
        extents.append(1 + sum(coefficient * steps[other] for other, coefficient in terms.items()))
    return offsets, extents


def narrowed(op: Operation, loop: int, start: int, size: int, instead: Mapping[int, Any]) -> Operation:
    """A copy of a `linalg.generic`, before it, for part of one loop; `instead` gives operands that are already cut."""
    nest = read_nest(op)
    assert nest is not None, "only operations with a known nest are split"
    copy = op.clone(ip=ir.InsertionPoint(op)).operation
    with ir.InsertionPoint(copy), op.location:
        for number, access in enumerate(nest.accesses):
            copy.operands[number] = (
                instead[number] if number in instead else _slice(op.operands[number], access, nest, loop, start, size)
            )
    copy.results[0].set_type(copy.operands[len(copy.operands) - 1].type)
    return copy


def _slice(value: Any, access: Access, nest: LoopNest, loop: int, start: int, size: int) -> Any:
    if loop not in access.loops:
        return value
    return extract(value, *part_of(access, nest.sizes, loop, start, size))


def extract(value: Any, offsets: list[int], sizes: list[int]) -> Any:
    """Build `tensor.extract_slice` with static offsets and sizes."""
    kind = ir.RankedTensorType.get(sizes, value.type.element_type)
    return create("tensor.extract_slice", [value], kind, **_static(offsets, sizes, [1, 0, 0, 0]))


def strided(value: Any, sizes: list[int], steps: list[int]) -> Any:
    """Build `tensor.extract_slice` from the origin with static steps."""
    kind = ir.RankedTensorType.get(sizes, value.type.element_type)
    return create("tensor.extract_slice", [value], kind, **_static([0] * len(sizes), sizes, [1, 0, 0, 0], steps))


def insert(value: Any, into: Any, offsets: list[int]) -> Any:
    """Build `tensor.insert_slice` with static offsets."""
    sizes = list(value.type.shape)
    return create("tensor.insert_slice", [value, into], into.type, **_static(offsets, sizes, [1, 1, 0, 0, 0]))


def _static(
    offsets: list[int], sizes: list[int], segments: list[int], steps: list[int] | None = None
) -> dict[str, Any]:
    return {
        "static_offsets": ir.DenseI64ArrayAttr.get(offsets),
        "static_sizes": ir.DenseI64ArrayAttr.get(sizes),
        "static_strides": ir.DenseI64ArrayAttr.get(steps or [1] * len(sizes)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
    }


def split_group(root: Operation, anchor: Operation, init: Operation | None, split: Split) -> list[list[Operation]]:
    """Replace a group by two; gives the operations (root, anchor, and init if there was one) of each part."""
    nest = read_nest(anchor)
    assert nest is not None, "an anchor has a known nest"
    loop = nest.outputs[0].indices[split.dim][0][0]
    place = next(i for i, value in enumerate(root.operands) if value == anchor.results[0])
    last = len(root.operands) - 1
    whole = root.operands[last]
    parts: list[list[Operation]] = []
    extent = root.results[0].type.shape[split.dim]
    for start, size in ((0, split.at), (split.at, extent - split.at)):
        filled = [narrowed(init, _init_loop(init, split.dim), start, size, {})] if init is not None else []
        given = {len(anchor.operands) - 1: filled[0].results[0]} if filled else {}
        computed = narrowed(anchor, loop, start, size, given)
        offsets = [start if d == split.dim else 0 for d in range(whole.type.rank)]
        sizes = [size if d == split.dim else n for d, n in enumerate(whole.type.shape)]
        with ir.InsertionPoint(root), root.location:
            target = extract(whole, offsets, sizes)
            final = narrowed(root, split.dim, start, size, {place: computed.results[0], last: target})
            whole = insert(final.results[0], whole, offsets)
        parts.append([final, computed, *filled])
    root.results[0].replace_all_uses_with(whole)
    for op in (root, anchor, *([init] if init is not None else [])):
        op.erase()
    return parts


def _init_loop(init: Operation, dim: int) -> int:
    nest = read_nest(init)
    assert nest is not None, "an init has a known nest"
    return nest.outputs[0].indices[dim][0][0]
