"""Panels: the lanes that one piece of work reads of a matrix, side by side in memory.

Read in place, a panel of a wide matrix takes a new page for each row, and its rows compete for the same cache sets.
"""

import math
from typing import Any

from dialects.bindings import Module, Operation
from pipelines.mlir.tiled.edit import create, in_piece, ir, ops_named, transpose

MIN_READS = 8
"""How often a panel must be read for a copy to pay."""
MIN_BYTES = 16 * 1024
"""Size of a panel from which on a copy pays: a smaller one stays in the first-level cache."""


def pack_panels(module: Module) -> None:
    """Copy matrices that are computed, or come as inputs, into panels before the tiles that read them often."""
    readers: dict[Any, list[Operation]] = {}
    for op in ops_named(module, "tensor.extract_slice"):
        width = panel_width(op)
        if width and reads(op) >= MIN_READS and _panel_bytes(op, width) >= MIN_BYTES and not _made_inside(op):
            readers.setdefault((op.operands[0], width), []).append(op)
    for (value, width), ops in readers.items():
        with _after(value), ops[0].location:
            packed = _packed(value, width)
        for op in ops:
            read_panel(op, packed)


def panel_width(op: Operation) -> int:
    """Lanes that a slice reads, if it starts at a multiple of them that a loop counts; else 0."""
    if op.name != "tensor.extract_slice":
        return 0
    width = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))[-1]
    steps = set(ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    extent = op.operands[0].type.shape[-1]
    whole = steps == {1} and 0 < width < extent and extent % width == 0
    return width if whole and _panel_number(op, width) is not None else 0


def _panel_number(op: Operation, width: int) -> Any:
    """The loop variable i of a slice whose last offset is the affine expression i * width; None for another."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    static = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    if segments[2] or segments[3] or static[-1] >= 0:
        return None
    owner = op.operands[segments[1]].owner
    if isinstance(owner, ir.Block) or owner.operation.name != "affine.apply" or len(owner.operation.operands) != 1:
        return None
    times = ir.AffineExpr.get_mul(ir.AffineExpr.get_dim(0), ir.AffineExpr.get_constant(width))
    scaled = ir.AffineMap.get(1, 0, [times])
    return owner.operation.operands[0] if owner.operation.attributes["map"].value == scaled else None


def read_panel(op: Operation, packed: Any) -> None:
    """Let a slice read its panel of a packed matrix, whose first dimension numbers the panels."""
    static = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
    panel, moving = _panel_number(op, sizes[-1]), list(op.operands)[1:-1]
    with ir.InsertionPoint(op), op.location:
        fresh = create(
            "tensor.extract_slice",
            [packed, panel, *moving],
            op.results[0].type,
            static_offsets=ir.DenseI64ArrayAttr.get([static[-1], *static[:-1], 0]),
            static_sizes=ir.DenseI64ArrayAttr.get([1, *sizes]),
            static_strides=ir.DenseI64ArrayAttr.get([1] * (len(sizes) + 1)),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 1 + len(moving), 0, 0]),
        )
    op.results[0].replace_all_uses_with(fresh)
    op.erase()


def reads(op: Operation) -> int:
    """How often a slice reads the same panel: the trips of the loops around it, in its piece, that do not move it."""
    times, inner = 1, op
    while (loop := inner.parent) is not None and loop.operation.name == "scf.for":
        loop = loop.operation
        start, stop, step = (_constant(v) for v in list(loop.operands)[:3])
        moves = any(value == loop.regions[0].blocks[0].arguments[0] for value in _sources(op))
        if not moves and step:
            times *= max(1, (stop - start) // step)
        inner = loop
    return times


def _sources(op: Operation) -> list[Any]:
    """The offsets of a slice, and what those that are computed are computed from."""
    direct = list(op.operands)[1:]
    return direct + [v for d in direct if not isinstance(d.owner, ir.Block) for v in d.owner.operation.operands]


def _constant(value: Any) -> int:
    owner = value.owner
    known = not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant"
    return owner.operation.attributes["value"].value if known else 0


def _panel_bytes(op: Operation, width: int) -> int:
    kind = op.operands[0].type
    return math.prod(kind.shape[:-1]) * width * getattr(kind.element_type, "width", 64) // 8


def _made_inside(op: Operation) -> bool:
    owner = op.operands[0].owner
    return not isinstance(owner, ir.Block) and in_piece(owner.operation)


def _after(value: Any) -> Any:
    owner = value.owner
    if isinstance(owner, ir.Block):
        return ir.InsertionPoint.at_block_begin(owner)
    return ir.InsertionPoint.after(owner.operation)


def _packed(value: Any, width: int) -> Any:
    """(a, b, n) as (n / width, a, b, width)."""
    shape, rank = list(value.type.shape), value.type.rank
    cut = ir.RankedTensorType.get([*shape[:-1], shape[-1] // width, width], value.type.element_type)
    i64 = ir.IntegerType.get_signless(64)
    groups = [*([d] for d in range(rank - 1)), [rank - 1, rank]]
    reassociation = ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in g]) for g in groups])
    sizes = ir.DenseI64ArrayAttr.get(list(cut.shape))
    wide = create("tensor.expand_shape", [value], cut, static_output_shape=sizes, reassociation=reassociation)
    return transpose(wide, [rank - 1, *range(rank - 1), rank])
