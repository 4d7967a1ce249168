"""A chain of structured operations becomes one `gpu.launch` of full blocks."""

import itertools
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dialects.bindings import Operation, load
from pipelines.mlir.cuda.chain import Chain
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
def launch(before: Operation, grid: Grid, name: str, where: Any) -> Generator[Any]:
    """Open a kernel at location `where` in front of `before`; yields the thread's number, below `grid.threads`."""
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


def emit(chain: Chain, schedule: Schedule, name: str) -> None:
    """Replace a chain of structured operations by its kernel. An empty iteration space leaves nothing to launch."""
    core = chain.core
    points = core.points(core.parallel) // schedule.outputs_per_thread
    if points:
        with launch(chain.last.op, Grid(points * schedule.lanes, schedule.block), name, core.op.location) as number:
            lane = arith.remui(number, const(WARP)) if schedule.lanes > 1 else None
            work = arith.divui(number, const(WARP)) if schedule.lanes > 1 else number
            tiles = [core.extents[d] // schedule.tile.get(d, 1) for d in core.parallel]
            corner = delinearize(work, core.parallel, tiles)
            tile = list(_tile_points(core, schedule, corner))
            _by_warp(chain, tile, lane) if lane is not None else _by_thread(chain, tile)
    for view in chain.members:
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


def _by_thread(chain: Chain, tile: list[Point]) -> None:
    """Each thread runs the whole reduction of its outputs, keeping them in registers."""
    core = chain.core
    start = [_first(chain, o, point) for point in tile for o in core.outputs]
    done = _loops(core, list(core.reduction), tile, start, {})
    count = len(core.outputs)
    for i, point in enumerate(tile):
        _finish(chain, point, done[i * count : (i + 1) * count])


def _first(chain: Chain, output: int, point: Point) -> Any:
    """The value an output starts from at `point`; None when nothing reads it."""
    core = chain.core
    if chain.init is not None:
        source = chain.init
        return payload(source, _at(source, source.inputs, _indices(core, output, point)), {})[0]
    return element(core, output, point) if core.reduction or core.reads(output) else None


def _finish(chain: Chain, point: Point, values: Sequence[Any]) -> None:
    """Run the epilogue on the core's values at `point` and store what comes out."""
    view = chain.core
    for after in chain.epilogue:
        buffer = view.operands[view.inputs]
        taken = [i for i, operand in enumerate(after.operands) if operand == buffer]
        point = _at(after, taken[0], _indices(view, view.inputs, point))
        values = payload(after, point, dict.fromkeys(taken, values[0]))
        view = after
    for output, value in zip(view.outputs, values, strict=True):
        assign(view, output, point, value)


def _at(view: Structured, position: int, place: list[Any]) -> Point:
    """The point of `view` whose element of an operand is at the indices `place`."""
    point = {d: const(0) for d in view.parallel}
    dims = zip(view.maps[position].results, place, strict=True)
    return point | {e.position: index for e, index in dims if isinstance(e, ir.AffineDimExpr)}


def _loops(view: Structured, dims: list[int], tile: list[Point], values: list[Any], inner: Point) -> list[Any]:
    if not dims:
        n = len(view.outputs)
        given = [dict(zip(view.outputs, values[i * n : (i + 1) * n], strict=True)) for i in range(len(tile))]
        return [v for p, known in zip(tile, given, strict=True) for v in payload(view, p | inner, known)]
    loop = scf.ForOp(const(0), const(view.extents[dims[0]]), const(1), values)
    with ir.InsertionPoint(loop.body):
        step = inner | {dims[0]: loop.induction_variable}
        scf.YieldOp(_loops(view, dims[1:], tile, list(loop.inner_iter_args), step))
    return list(loop.results)


def _by_warp(chain: Chain, tile: list[Point], lane: Any) -> None:
    """The lanes of a warp take every 32nd term each, then fold their partial results by butterfly shuffles."""
    view = chain.core
    combiner = str(view.combiner())
    f32 = ir.F32Type.get()
    neutral = arith.ConstantOp(f32, ir.FloatAttr.get(f32, ASSOCIATIVE[combiner])).result
    terms = view.points(view.reduction)
    loop = scf.ForOp(lane, const(terms), const(WARP), [neutral] * len(tile))
    with ir.InsertionPoint(loop.body):
        inner = delinearize(loop.induction_variable, view.reduction, [view.extents[d] for d in view.reduction])
        partial = zip(tile, loop.inner_iter_args, strict=True)
        scf.YieldOp([payload(view, p | inner, {view.inputs: acc})[0] for p, acc in partial])
    totals = [_butterfly(combiner, value) for value in loop.results]
    first = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, lane, const(0)))
    with ir.InsertionPoint(first.then_block):
        for point, total in zip(tile, totals, strict=True):
            _finish(chain, point, [_combine(combiner, _first(chain, view.inputs, point), total)])
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


def payload(view: Structured, point: Point, given: Mapping[int, Any]) -> list[Any]:
    """Copy the payload at `point` and return what it yields. `given` holds operands' elements that are known already;
    the others are loaded."""
    known: dict[Any, Any] = {}
    for i, argument in enumerate(view.body.arguments):
        if i in given:
            known[argument] = given[i]
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
