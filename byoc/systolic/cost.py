"""The figures of a tiled product without simulating it, from the tile counts alone.

Exact, and tested against the simulators: array cycles, multiply-accumulates and every byte of traffic, so energy too.
Estimated: cycles with stalls, as the sum over kinds of steps of max(array, DMA) when double-buffered, else of their
sum. A step is one tile product; its kind is whether it loads an A tile, a B tile, and stores a C tile.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from byoc.systolic.gemm import Gemm, Tile, Tiling, Work
from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.result import Figures, Traffic
from byoc.systolic.timing import beats, ceil_div, matmul_work
from workbench.core.arrays import numpy_dtype


def cost(machine: Machine, work: Work, tiling: Tiling, dataflow: Dataflow | None = None) -> Figures:
    """Figures of `work` in tiles of `tiling`, under the machine's dataflow or another. The tiles need not fit."""
    machine = replace(machine, dataflow=dataflow or machine.dataflow)
    tiling = tiling.within(work.matrix)
    plan = _Plan(machine, work, tiling)
    array = plan.array()
    traffic = plan.traffic(array)
    return Figures(
        machine=machine,
        dtype=work.dtype,
        cycles=plan.cycles(array.compute + array.fill_drain),
        compute=array.compute,
        fill_drain=array.fill_drain,
        macs=work.macs,
        traffic=traffic,
    )


class _Array(NamedTuple):
    """Sums over all tile products, as `byoc.systolic.timing.ArrayWork`."""

    compute: int
    fill_drain: int
    scratchpad_reads: int
    sum_reads: int
    sum_writes: int


@dataclass(frozen=True)
class _Plan:
    """Which tiles are loaded how often: an operand whose tiles cycle within its slots is not loaded again."""

    machine: Machine
    work: Work
    tiling: Tiling

    @property
    def gemm(self) -> Gemm:
        """The product."""
        return self.work.matrix

    @property
    def counts(self) -> tuple[int, int, int]:
        """Tiles along M, K, N."""
        return self.tiling.counts(self.gemm)

    @property
    def repeats_a(self) -> bool:
        """Whether A is loaded anew for every column of C tiles."""
        mt, kt, _ = self.counts
        return (kt if self.tiling.order == "mn" else mt * kt) > self.machine.buffers

    @property
    def repeats_b(self) -> bool:
        """Whether B is loaded anew for every row of C tiles."""
        _, kt, nt = self.counts
        return (nt * kt if self.tiling.order == "mn" else kt) > self.machine.buffers

    @property
    def vector_loads(self) -> int:
        """How often a whole vector (bias, scale) is loaded."""
        mt, _, nt = self.counts
        if nt <= self.machine.buffers:
            return 1
        return self.gemm.batch * (mt if self.tiling.order == "mn" else 1)

    def array(self) -> _Array:
        """Sum of the closed forms over full and edge tiles."""
        gemm, tiling = self.gemm, self.tiling
        total = [0] * 5
        for m, ms in _tiles(gemm.m, tiling.m):
            for k, ks in _tiles(gemm.k, tiling.k):
                for n, ns in _tiles(gemm.n, tiling.n):
                    work = matmul_work(self.machine, self.machine.dataflow, m, k, n, accumulate=False, shifted=False)
                    total = [t + gemm.batch * ms * ks * ns * w for t, w in zip(total, work, strict=True)]
        total[3] += gemm.batch * gemm.m * gemm.n * (self.counts[1] - 1)
        cycles, reads = self.kept()
        return _Array(total[0], total[1] - cycles, total[2] - reads, total[3], total[4])

    def kept(self) -> tuple[int, int]:
        """Cycles and reads saved where a stationary tile of one piece serves consecutive products."""
        (mt, kt, nt), gemm, tiling, machine = self.counts, self.gemm, self.tiling, self.machine
        if machine.dataflow is Dataflow.OS or kt > 1 or gemm.k > machine.rows:
            return 0, 0
        if machine.dataflow is Dataflow.WS:
            held, inner = _tiles(gemm.n, tiling.n), mt if tiling.order == "nm" or nt == 1 else 1
        else:
            held, inner = _tiles(gemm.m, tiling.m), nt if tiling.order == "mn" or mt == 1 else 1
        times = [(width, count * (inner - 1) * gemm.batch) for width, count in held if width <= machine.columns]
        return machine.rows * sum(t for _, t in times), sum(gemm.k * width * t for width, t in times)

    def traffic(self, array: _Array) -> Traffic:
        """Bytes by memory."""
        (mt, _, nt), gemm, epilogue = self.counts, self.gemm, self.work.epilogue
        size, vectors = numpy_dtype(gemm.dtype).itemsize, epilogue.bias + epilogue.per_column
        a = size * gemm.batch * gemm.m * gemm.k * (nt if self.repeats_a else 1)
        b = size * gemm.batch * gemm.k * gemm.n * (mt if self.repeats_b else 1)
        vector = 4 * vectors * gemm.n * self.vector_loads
        c = gemm.batch * gemm.m * gemm.n
        activated = 0 if epilogue.plain else 4 * (c + vectors * gemm.batch * mt * gemm.n)
        narrow = size * c * epilogue.narrow
        wide = 4 * c * (not epilogue.narrow)
        return Traffic(
            dram_read=a + b + vector,
            dram_write=narrow + wide,
            scratchpad_read=size * array.scratchpad_reads + narrow,
            scratchpad_write=a + b + narrow,
            accumulator_read=4 * array.sum_reads + activated + wide,
            accumulator_write=4 * array.sum_writes + vector + wide * (not epilogue.plain),
        )

    def cycles(self, array: int) -> int:
        """The estimate: a first load, every step beside the transfers around it, the last tile's way out.

        The first step of K is the one that a C tile is stored beside; the very first has nothing to store or load.
        """
        (mt, kt, nt), machine, latency = self.counts, self.machine, self.machine.dram_latency_cycles
        step = array / (mt * kt * nt * self.gemm.batch)
        load_a, load_b, store = self.transfers()

        def spent(new_column: bool, new_row: bool, stores: bool) -> float:
            a, b = load_a if new_column or self.repeats_a else 0.0, load_b if new_row or self.repeats_b else 0.0
            transfers = (a > 0) + (b > 0) + (machine.double_buffered and stores)
            moved = latency * ceil_div(transfers, machine.dma_channels) + a + b + store * stores
            if machine.double_buffered:
                return max(step, moved)
            return step + moved + (latency + self.activate()) * stores

        kinds = product(((True, 1), (False, nt - 1)), ((True, 1), (False, mt - 1)), ((True, 1), (False, kt - 1)))
        total = sum(i * j * k * spent(column, row, first) for (column, i), (row, j), (first, k) in kinds if i * j * k)
        total *= self.gemm.batch
        if machine.double_buffered:
            total += step - spent(True, True, True) + 2 * latency + load_a + load_b + self.activate() + store
        return max(round(total), array)

    def transfers(self) -> tuple[float, float, float]:
        """Bus cycles of an average A load, B load and C store."""
        (mt, kt, nt), gemm = self.counts, self.gemm
        tile = Tile(0, 0, self.tiling.m, 0, self.tiling.k, 0, self.tiling.n)
        size = numpy_dtype(gemm.dtype).itemsize
        full = gemm.m / mt / tile.m, gemm.k / kt / tile.k, gemm.n / nt / tile.n
        a = sum(beats(self.machine, piece.window, size) for piece in self.work.a_pieces(tile))
        b = beats(self.machine, self.work.b_window(tile), size)
        c = beats(self.machine, self.work.c_window(tile), size if self.work.epilogue.narrow else 4)
        return a * full[0] * full[1], b * full[1] * full[2], c * full[0] * full[2]

    def activate(self) -> int:
        """Cycles of the vector unit on one C tile."""
        return 0 if self.work.epilogue.plain else self.tiling.m * ceil_div(self.tiling.n, self.machine.columns)


def _tiles(size: int, tile: int) -> list[tuple[int, int]]:
    """(size, count) of the full tiles and of the edge."""
    full, edge = divmod(size, tile)
    return [(s, n) for s, n in ((tile, full), (edge, 1)) if s and n]
