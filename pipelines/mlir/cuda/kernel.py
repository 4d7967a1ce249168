"""One `linalg.generic` becomes one `gpu.launch` of full blocks."""

import itertools
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dialects.bindings import Operation, load
from pipelines.mlir.cuda.schedule import WARP, Schedule
from pipelines.mlir.cuda.structured import ASSOCIATIVE, Structured

ir = load("ir")
affine = load("dialects.affine")
arith = load("dialects.arith")
gpu = load("dialects.gpu")
memref = load("dialects.memref")
scf = load("dialects.scf")

MODULE = "kernels"


@dataclass(frozen=True)
class Grid:
    """A one-dimensional launch: `threads` useful threads in blocks of `block`."""

    threads: int
    block: int

    @property
    def blocks(self) -> int:
        """Blocks that cover the threads."""
        return -(-self.threads // self.block)


@contextmanager
def launch(before: Operation, grid: Grid, name: str) -> Generator[Any]:
    """Open a kernel in front of `before`; yields the thread's number, which is below `grid.threads`."""
    where = before.operation.location
    with ir.InsertionPoint(before), where:
        one, blocks, block = (const(v) for v in (1, grid.blocks, grid.block))
        op = gpu.LaunchOp((blocks, one, one), (block, one, one), loc=where)
        op.attributes["module"] = ir.FlatSymbolRefAttr.get(MODULE)
        op.attributes["function"] = ir.FlatSymbolRefAttr.get(name)
        body = op.regions[0].blocks[0]
        with ir.InsertionPoint(body):
            block_id, thread_id = body.arguments[0], body.arguments[3]
            number = arith.addi(arith.muli(block_id, const(grid.block)), thread_id)
            if grid.threads % grid.block:
                inside = arith.cmpi(arith.CmpIPredicate.ult, number, const(grid.threads))
                guarded = scf.IfOp(inside)
                with ir.InsertionPoint(guarded.then_block):
                    yield number
                    scf.YieldOp([])
            else:
                yield number
            gpu.TerminatorOp()


def emit(view: Structured, schedule: Schedule, name: str) -> None:
    """Replace a structured operation by its kernel. An empty iteration space leaves nothing to launch."""
    points = view.points(view.parallel) // schedule.outputs_per_thread
    if points:
        with launch(view.op, Grid(points * schedule.lanes, schedule.block), name) as number:
            work = number
            lane = None
            if schedule.lanes > 1:
                work = arith.divui(number, const(WARP))
                lane = arith.remui(number, const(WARP))
            tiles = [view.extents[d] // schedule.tile.get(d, 1) for d in view.parallel]
            corner = delinearize(work, view.parallel, tiles)
            tile = list(_tile_points(view, schedule, corner))
            _by_warp(view, tile, lane) if lane is not None else _by_thread(view, tile)
    view.op.erase()


Point = dict[int, Any]
"""A value of type index for each dimension of the iteration space that is known so far."""


def _tile_points(view: Structured, schedule: Schedule, corner: Point) -> Iterator[Point]:
    sizes = [schedule.tile.get(d, 1) for d in view.parallel]
    starts = {
        d: arith.muli(corner[d], const(t)) if t > 1 else corner[d] for d, t in zip(view.parallel, sizes, strict=True)
    }
    for steps in itertools.product(*(range(t) for t in sizes)):
        yield {
            d: arith.addi(starts[d], const(step)) if step else starts[d]
            for d, step in zip(view.parallel, steps, strict=True)
        }


def _by_thread(view: Structured, tile: list[Point]) -> None:
    """Each thread runs the whole reduction of its outputs, keeping them in registers."""
    start: list[Any] = [
        element(view, o, point) if view.reduction or view.reads(o) else None for point in tile for o in view.outputs
    ]
    done = _loops(view, list(view.reduction), tile, start, {})
    for i, point in enumerate(tile):
        for o, value in zip(view.outputs, done[i * len(view.outputs) :], strict=False):
            assign(view, o, point, value)


def _loops(view: Structured, dims: list[int], tile: list[Point], values: list[Any], inner: Point) -> list[Any]:
    if not dims:
        n = len(view.outputs)
        return [v for i, p in enumerate(tile) for v in payload(view, p | inner, values[i * n : (i + 1) * n])]
    loop = scf.ForOp(const(0), const(view.extents[dims[0]]), const(1), values)
    with ir.InsertionPoint(loop.body):
        step = inner | {dims[0]: loop.induction_variable}
        scf.YieldOp(_loops(view, dims[1:], tile, list(loop.inner_iter_args), step))
    return list(loop.results)


def _by_warp(view: Structured, tile: list[Point], lane: Any) -> None:
    """The lanes of a warp take every 32nd term each, then fold their partial results by butterfly shuffles."""
    combiner = str(view.combiner())
    f32 = ir.F32Type.get()
    neutral = arith.ConstantOp(f32, ir.FloatAttr.get(f32, ASSOCIATIVE[combiner])).result
    terms = view.points(view.reduction)
    loop = scf.ForOp(lane, const(terms), const(WARP), [neutral] * len(tile))
    with ir.InsertionPoint(loop.body):
        inner = delinearize(loop.induction_variable, view.reduction, [view.extents[d] for d in view.reduction])
        partial = zip(tile, loop.inner_iter_args, strict=True)
        scf.YieldOp([payload(view, p | inner, [acc])[0] for p, acc in partial])
    totals = [_butterfly(combiner, value) for value in loop.results]
    first = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, lane, const(0)))
    with ir.InsertionPoint(first.then_block):
        for point, total in zip(tile, totals, strict=True):
            assign(view, view.inputs, point, _combine(combiner, element(view, view.inputs, point), total))
        scf.YieldOp([])


def _butterfly(combiner: str, value: Any) -> Any:
    i32 = ir.IntegerType.get_signless(32)
    width = arith.ConstantOp(i32, WARP).result
    distance = WARP // 2
    while distance:
        other = gpu.ShuffleOp(value, arith.ConstantOp(i32, distance).result, width, gpu.ShuffleMode.XOR)
        value = _combine(combiner, value, other.shuffleResult)
        distance //= 2
    return value


def _combine(combiner: str, left: Any, right: Any) -> Any:
    return ir.Operation.create(combiner, results=[left.type], operands=[left, right]).result


def payload(view: Structured, point: Point, accumulators: Sequence[Any]) -> list[Any]:
    """Copy the payload at `point`, with the outputs' elements given; returns the yielded values."""
    known: dict[Any, Any] = {}
    for i, argument in enumerate(view.body.arguments):
        if i >= view.inputs:
            known[argument] = accumulators[i - view.inputs]
        elif view.reads(i):
            known[argument] = element(view, i, point)
    for op in view.payload:
        if op.operation.name == "linalg.index":
            known[op.operation.result] = point[ir.IntegerAttr(op.attributes["dim"]).value]
            continue
        copy = op.operation.clone()
        _substitute(copy, known)
        known.update(zip(op.operation.results, copy.operation.results, strict=True))
    return [known.get(value, value) for value in view.yields]


def _substitute(op: Operation, known: dict[Any, Any]) -> None:
    for i, operand in enumerate(op.operation.operands):
        if operand in known:
            op.operation.operands[i] = known[operand]
    for region in op.operation.regions:
        for block in region.blocks:
            for nested in block.operations:
                _substitute(nested, known)


def element(view: Structured, position: int, point: Point) -> Any:
    """The element of an operand at `point`; a scalar operand is its own element."""
    operand = view.operands[position]
    if not isinstance(operand.type, ir.MemRefType):
        return operand
    return memref.LoadOp(operand, _indices(view, position, point)).result


def assign(view: Structured, position: int, point: Point, value: Any) -> None:
    """Write the element of an output at `point`."""
    memref.StoreOp(value, view.operands[position], _indices(view, position, point))


def _indices(view: Structured, position: int, point: Point) -> list[Any]:
    indexing = view.maps[position]
    return [_index(expr, indexing.n_dims, point) for expr in indexing.results]


def _index(expr: Any, rank: int, point: Point) -> Any:
    if isinstance(expr, ir.AffineDimExpr):
        return point[expr.position]
    if isinstance(expr, ir.AffineConstantExpr):
        return const(expr.value)
    zero = const(0)
    return affine.AffineApplyOp(ir.AffineMap.get(rank, 0, [expr]), [point.get(d, zero) for d in range(rank)]).result


def delinearize(number: Any, dims: Sequence[int], extents: Sequence[int]) -> Point:
    """Split a number below the product of `extents` into one index a dimension, the last running fastest."""
    point: Point = {}
    wide = [d for d, extent in zip(dims, extents, strict=True) if extent > 1]
    for d, extent in reversed(list(zip(dims, extents, strict=True))):
        if extent <= 1:
            point[d] = const(0)
        elif d == wide[0]:
            point[d] = number
        else:
            point[d] = arith.remui(number, const(extent))
            number = arith.divui(number, const(extent))
    return point


def const(value: int) -> Any:
    """An index constant at the insertion point."""
    return arith.ConstantOp(ir.IndexType.get(), value).result
