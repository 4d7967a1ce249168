"""Which tile sizes an operation gets: a pure function of its loop nest and the target's registers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.mlir.tiled.nest import LoopNest

MAX_VECTORS = 4
"""Most vectors side by side in a tile: wider ones leave too few rows to share each vector loaded."""


@dataclass(frozen=True)
class Registers:
    """Vector registers of the target: their width in bits and how many there are."""

    bits: int = 256
    count: int = 16

    @property
    def accumulators(self) -> int:
        """How many registers a tile of the output may fill; the rest hold operands, and more than that spills."""
        return self.count // 2


@dataclass(frozen=True)
class Tiling:
    """Tile sizes along the dimensions of the output; 0 leaves a dimension whole.

    `outer` are the pieces of work shared among threads, `inner` is one tile of registers: rows times lanes.
    """

    outer: tuple[int, ...]
    inner: tuple[int, ...]


@dataclass(frozen=True)
class Split:
    """Cut dimension `dim` of the output at `at`, so that each part has a tile that divides it."""

    dim: int
    at: int


@dataclass(frozen=True)
class Untiled:
    """Why an operation stays a plain loop nest."""

    reason: str


def choose(nest: LoopNest, registers: Registers, threads: int = 1) -> Tiling | Split | Untiled:
    """Tile sizes for an operation whose output dimensions are each walked by one loop."""
    output = nest.outputs[0]
    loops = tuple(index[0][0] for index in output.indices if len(index) == 1)
    if len(nest.outputs) != 1 or not loops or len(set(loops)) != len(output.indices):
        return Untiled("an output dimension is not walked by a loop of its own")
    if min(nest.sizes) == 0:
        return Untiled("it has no elements")
    sizes = tuple(nest.sizes[loop] for loop in loops)
    lane = len(sizes) - 1
    if any(not _contiguous(nest, loops[lane], number) for number in range(len(nest.inputs))):
        return Untiled("an operand is strided along the output's last dimension")
    if sizes[lane] == 1:
        return Untiled("the output's last dimension is 1")
    row = next((d for d in reversed(range(lane)) if sizes[d] > 1), None)
    width = max(1, registers.bits // nest.bits)
    if sizes[lane] > width and sizes[lane] % width:
        return Split(lane, sizes[lane] - sizes[lane] % width)
    rows, lanes = register_tile(sizes[row] if row is not None else 1, sizes[lane], width, registers.accumulators)
    if row is not None and sizes[row] > 4 and sizes[row] % 4 and rows < 4 and rows * lanes < 8 * width:
        return Split(row, sizes[row] - sizes[row] % 4)
    inner = [1] * len(sizes)
    inner[lane] = lanes
    if row is not None:
        inner[row] = rows
    return Tiling(_shares(sizes, inner, row, threads), tuple(inner))


def register_tile(rows: int, lanes: int, width: int, accumulators: int) -> tuple[int, int]:
    """The largest tile (rows, lanes) of an output of `rows` x `lanes` that fits in `accumulators` registers.

    Both divide the output. Among the tiles that fit, the one with the fewest loads for each multiply-add wins: a step
    of the reduction loads one broadcast a row and one vector for each `width` lanes.
    """
    if lanes <= width:
        return _largest_divisor(rows, accumulators), lanes
    best, best_cost = (1, width), math.inf
    for vectors in _divisors(lanes // width, MAX_VECTORS):
        tall = _largest_divisor(rows, accumulators // vectors)
        cost = (tall + vectors) / (tall * vectors)
        if cost < best_cost:
            best, best_cost = (tall, vectors * width), cost
    return best


def _contiguous(nest: LoopNest, lane: int, number: int) -> bool:
    """Whether an input is either the same for all lanes or holds them side by side."""
    access = nest.inputs[number]
    return lane not in access.loops or access.position(lane) == len(access.indices) - 1


def _shares(sizes: tuple[int, ...], inner: list[int], row: int | None, threads: int) -> tuple[int, ...]:
    """Pieces of work: a panel of lanes by one of each dimension outside the image; finer when threads would idle."""
    lane = len(sizes) - 1
    outer = [0] * len(sizes)
    outer[lane] = inner[lane]
    if len(sizes) > 2:
        outer[0] = 1
    for dim in range(lane):
        if _pieces(sizes, outer) >= threads:
            break
        if not outer[dim] and sizes[dim] > inner[dim]:
            outer[dim] = inner[dim] if dim == row else 1
    return tuple(outer)


def _pieces(sizes: tuple[int, ...], outer: list[int]) -> int:
    return math.prod(size // tile for size, tile in zip(sizes, outer, strict=True) if tile)


def _divisors(number: int, limit: int) -> Iterator[int]:
    return (d for d in range(1, min(number, limit) + 1) if number % d == 0)


def _largest_divisor(number: int, limit: int) -> int:
    return max(_divisors(number, limit))
