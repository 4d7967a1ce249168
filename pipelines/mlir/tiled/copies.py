"""Copies between strided buffers, row by row; the runtime library's own copy goes element by element."""

from collections.abc import Sequence
from typing import Any

from dialects.bindings import Module
from pipelines.mlir.tiled.edit import DYNAMIC, create, ir, ops_named


def copy_by_rows(module: Module) -> None:
    """Loop over the leading dimensions of a copy, so that what is left is contiguous and LLVM copies it as one."""
    for op in ops_named(module, "memref.copy"):
        source, target = op.operands
        rows = max(contiguous_from(source.type.shape, _strides(v.type)) for v in (source, target))
        if 0 < rows < source.type.rank:
            with ir.InsertionPoint(op), op.location:
                _copy_rows(source, target, rows, [])
            op.erase()


def contiguous_from(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The first dimension from which on elements follow each other: 0 when all do, the rank when even the last don't.

    >>> contiguous_from((56, 56, 64), (3712, 64, 1))
    1
    """
    dim, step = len(shape), 1
    while dim > 0 and strides[dim - 1] == step and shape[dim - 1] > 0:
        step *= shape[dim - 1]
        dim -= 1
    return dim


def _strides(kind: Any) -> list[int]:
    return list(kind.get_strides_and_offset()[0])


def _copy_rows(source: Any, target: Any, rows: int, at: list[Any]) -> None:
    """Loops over the dimensions from len(at) to rows; `at` are the counters of the loops around."""
    if len(at) == rows:
        ir.Operation.create("memref.copy", operands=[_row(source, at), _row(target, at)])
        return
    index = ir.IndexType.get()
    first, last, step = (
        create("arith.constant", [], index, value=ir.IntegerAttr.get(index, n))
        for n in (0, source.type.shape[len(at)], 1)
    )
    loop = ir.Operation.create("scf.for", operands=[first, last, step], regions=1)
    body = loop.regions[0].blocks.append(index, arg_locs=[loop.location])
    with ir.InsertionPoint(body):
        _copy_rows(source, target, rows, [*at, body.arguments[0]])
        ir.Operation.create("scf.yield")


def _row(buffer: Any, at: Sequence[Any]) -> Any:
    """What is left of a buffer when its first dimensions are fixed."""
    kind, fixed = buffer.type, len(at)
    shape, rank = list(kind.shape), kind.rank
    layout = ir.StridedLayoutAttr.get(ir.ShapedType.get_dynamic_stride_or_offset(), _strides(kind)[fixed:])
    return create(
        "memref.subview",
        [buffer, *at],
        ir.MemRefType.get(shape[fixed:], kind.element_type, layout, kind.memory_space),
        static_offsets=ir.DenseI64ArrayAttr.get([DYNAMIC] * fixed + [0] * (rank - fixed)),
        static_sizes=ir.DenseI64ArrayAttr.get([1] * fixed + shape[fixed:]),
        static_strides=ir.DenseI64ArrayAttr.get([1] * rank),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, fixed, 0, 0]),
    )
