"""A region as products of matrices; a convolution becomes one by what its DMA transfers gather (im2col)."""

from dataclasses import dataclass

from byoc.systolic.gemm import Tile, Tiling, Work
from byoc.systolic.layout import Layout
from byoc.systolic.lower import tiles
from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.program import Block
from pipelines.npu.schedule import Schedule, Step


@dataclass(frozen=True)
class MatrixStep(Step):
    """A product of two tiles."""

    tile: Tile


def tiled(work: Work, machine: Machine, tiling: Tiling, name: str) -> str:
    """The function `name` of npu operations, without fences. Raises CompileError when the tiles do not fit."""
    layout = Layout.of(machine, work, tiling)
    layout.require(machine, work, tiling)
    return _Matrices(work, machine, layout, [_step(work, t) for t in tiles(work, tiling)], name).text()


def _step(work: Work, t: Tile) -> MatrixStep:
    sums, last = (t.batch, t.m0, t.n0), t.k0 + t.k == work.matrix.k
    a, b = (t.batch, t.m0, t.k0), (t.batch, t.k0, t.n0)
    return MatrixStep(a, b, sums, t.m, t.n0, t.n, t.k0 == 0, last, work.c_window(t), t)


class _Matrices(Schedule[MatrixStep]):
    """Loads tiles of A and B, A in as many pieces as its windows need."""

    def fill_a(self, step: MatrixStep, slot: int) -> None:
        t = step.tile
        block = self.layout.a_block(slot, t.m, t.k)
        for piece in self.work.a_pieces(t):
            start = block.address + piece.row * t.k + piece.column
            part = self.scratchpad(Block(start, piece.rows, piece.columns, t.k))
            self.writer.emit("dma_load", (self.dram(piece.window), part))

    def fill_b(self, step: MatrixStep, slot: int) -> None:
        block = self.layout.b_block(slot, step.tile.k, step.tile.n)
        self.writer.emit("dma_load", (self.dram(self.work.b_window(step.tile)), self.scratchpad(block)))

    def product(self, step: MatrixStep, a: int, b: int) -> None:
        t = step.tile
        left, right = (
            self.scratchpad(self.layout.a_block(a, t.m, t.k)),
            self.scratchpad(self.layout.b_block(b, t.k, t.n)),
        )
        if self.machine.dataflow is not Dataflow.OS:
            self.writer.emit("preload", (right if self.machine.dataflow is Dataflow.WS else left,), tagged=False)
        accumulate = f"accumulate = {'false' if step.first else 'true'}"
        self.writer.emit("matmul", (left, right, self.sum_view(step)), accumulate)
