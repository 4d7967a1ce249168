"""Rewrites around vectorization that upstream patterns leave in a slow form."""

from collections.abc import Callable
from typing import Any

from dialects.bindings import Module, Operation
from pipelines.mlir.tiled.edit import DYNAMIC, create, defining, ir, maps_of, ops_named, set_maps, users
from pipelines.mlir.tiled.group import ANCHOR, INIT
from pipelines.mlir.tiled.nest import LoopNest, read_nest
from pipelines.mlir.tiled.split import strided

MAX_TILE = 1024
"""Most elements a vectorized tile may have: beyond that the code grows faster than it gains."""


def relax_reductions(module: Module) -> None:
    """Let floating-point sums be computed as fast code computes them.

    A tiled contraction may fuse its multiply-adds; a reduction that stays a loop may also be summed in another order,
    or LLVM could not vectorize it.
    """
    for op in ops_named(module, "linalg.generic"):
        nest = read_nest(op)
        if nest is None or nest.elementwise:
            continue
        flags = "contract" if ANCHOR in op.attributes else "reassoc,contract"
        for inner in op.regions[0].blocks[0].operations:
            if inner.operation.name in ("arith.mulf", "arith.addf"):
                inner.operation.attributes["fastmath"] = ir.Attribute.parse(f"#arith.fastmath<{flags}>")


def fill_tiles_apart(module: Module) -> None:
    """Let a tile that is only written start from an empty tensor, not from a slice of the result.

    The tile is kept in registers later; until then a slice would make bufferization copy the result.
    """
    for part in ops_named(module, "tensor.extract_slice"):
        readers = users(part.results[0])
        if len(readers) == 1 and readers[0].name == "linalg.generic" and _only_fills(readers[0], part.results[0]):
            with ir.InsertionPoint(part), part.location:
                part.results[0].replace_all_uses_with(create("tensor.empty", [], part.results[0].type))


def _only_fills(op: Operation, value: Any) -> bool:
    nest = read_nest(op)
    last = len(op.operands) - 1
    if nest is None or not nest.elementwise or op.operands[last] != value or INIT not in op.attributes:
        return False
    return not list(list(op.regions[0].blocks[0].arguments)[-1].uses)


def slice_strides(module: Module) -> None:
    """Where a loop walks an operand with a step, read the operand through a slice with that step.

    Afterwards every index is a plain loop, which is what the vectorizer takes.
    """
    for op in ops_named(module, "linalg.generic"):
        nest = read_nest(op) if _in_loop(op) else None
        if nest is None:
            continue
        maps = maps_of(op)
        for number, access in enumerate(nest.accesses):
            steps = [index[0][1] if len(index) == 1 else 1 for index in access.indices]
            if max(steps, default=1) > 1 and all(len(index) == 1 for index in access.indices):
                sizes = [nest.sizes[index[0][0]] for index in access.indices]
                with ir.InsertionPoint(op), op.location:
                    op.operands[number] = strided(op.operands[number], sizes, steps)
                loops = [ir.AffineExpr.get_dim(index[0][0]) for index in access.indices]
                maps[number] = ir.AffineMap.get(len(nest.sizes), 0, loops)
        set_maps(op, maps)


def mark_tiles(module: Module) -> None:
    """Mark the operations inside loops that are small enough to become vectors with `tiled.vectorize`."""
    for op in ops_named(module, "linalg.generic"):
        nest = read_nest(op)
        if nest is not None and _in_loop(op) and 1 < nest.iterations <= MAX_TILE and _vectorizable(nest):
            op.attributes["tiled.vectorize"] = ir.UnitAttr.get()


def _in_loop(op: Operation) -> bool:
    parent = op.parent
    return parent is not None and parent.operation.name in ("scf.for", "scf.forall")


def _vectorizable(nest: LoopNest) -> bool:
    return nest.elementwise and len(nest.sizes) <= 2


def write_in_place(module: Module) -> None:
    """Write a finished tile straight into the result, not into a tile of its own that is then inserted."""
    for op in ops_named(module, "tensor.insert_slice"):
        write = defining(op.operands[0], "vector.transfer_write")
        if write is None or not _fills_new_tile(write) or len(op.results[0].type.shape) != op.operands[0].type.rank:
            continue
        offsets = _offsets(op)
        if offsets is None or any(s != 1 for s in ir.DenseI64ArrayAttr(op.attributes["static_strides"])):
            continue
        vector, rank = write.operands[0], op.operands[1].type.rank
        with ir.InsertionPoint(op), op.location:
            fresh = ir.Operation.create(
                "vector.transfer_write",
                operands=[vector, op.operands[1], *offsets()],
                results=[op.results[0].type],
                attributes={
                    "permutation_map": ir.AffineMapAttr.get(ir.AffineMap.get_minor_identity(rank, vector.type.rank)),
                    "in_bounds": write.attributes["in_bounds"],
                    "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, rank, 0]),
                },
            )
        op.results[0].replace_all_uses_with(fresh.results[0])
        op.erase()


def _fills_new_tile(write: Operation) -> bool:
    """Whether the vector is all of a fresh tensor, leading dimensions of size 1 aside."""
    vector, tile = write.operands[0].type, write.operands[1]
    shape = list(tile.type.shape)
    lead = len(shape) - vector.rank
    minor = ir.AffineMap.get_minor_identity(len(shape), vector.rank)
    return (
        defining(tile, "tensor.empty") is not None
        and shape == [1] * lead + list(vector.shape)
        and write.attributes["permutation_map"].value == minor
    )


def _offsets(op: Operation) -> Callable[[], list[Any]] | None:
    """Builds the offsets of an insert_slice as values; None when sizes are not static."""
    static = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    if segments[3] or segments[4]:
        return None
    moving = list(op.operands)[2 : 2 + segments[2]]
    index = ir.IndexType.get()

    def build() -> list[Any]:
        left = iter(moving)
        return [
            next(left) if s == DYNAMIC else create("arith.constant", [], index, value=ir.IntegerAttr.get(index, s))
            for s in static
        ]

    return build


def broadcast_columns(module: Module) -> None:
    """Read a column that is repeated along the lanes as one scalar and one broadcast a row.

    The vectorizer reads the column as a vector, repeats it and transposes; a transpose of registers costs more than
    the multiply-adds it feeds.
    """
    for op in ops_named(module, "vector.transpose"):
        repeat = defining(op.operands[0], "vector.broadcast")
        column = defining(repeat.operands[0], "vector.transfer_read") if repeat is not None else None
        result = op.results[0].type
        if column is not None and column.results[0].type.rank == 1 and result.rank == 2:
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_rows_of_scalars(column, result))
            op.erase()


def _rows_of_scalars(column: Operation, result: Any) -> Any:
    access = column.attributes["permutation_map"].value
    walked = access.results[0].position
    source, indices = column.operands[0], list(column.operands)[1 : 1 + access.n_dims]
    index = ir.IndexType.get()
    lanes = ir.VectorType.get([result.shape[1]], result.element_type)
    rows = create("ub.poison", [], result, value=ir.Attribute.parse("#ub.poison"))
    for number in range(result.shape[0]):
        step = create("arith.constant", [], index, value=ir.IntegerAttr.get(index, number))
        where = list(indices)
        where[walked] = create("arith.addi", [indices[walked], step], index)
        scalar = create("memref.load", [source, *where], result.element_type)
        row = create("vector.broadcast", [scalar], lanes)
        rows = create("vector.insert", [row, rows], result, static_position=ir.DenseI64ArrayAttr.get([number]))
    return rows
