"""A region of linalg to tiled `npu` operations: loads run one tile ahead of the product, results are stored behind it.

The order of the operations and the slots that tiles take make the double buffering; `pipelines.npu.fences` finds out
what must wait for what.
"""

import math
from dataclasses import dataclass

from byoc.systolic.gemm import Tile, Tiling, Work
from byoc.systolic.layout import Layout
from byoc.systolic.lower import tiles
from byoc.systolic.machine import ACCUMULATOR_DTYPE, Dataflow, Machine
from byoc.systolic.program import Block, Dram
from dialects.npu.writer import Writer
from pipelines.npu.region import operand_shape

Key = tuple[int, ...]


def tiled(work: Work, machine: Machine, tiling: Tiling, name: str) -> str:
    """The function `name` of npu operations, without fences. Tiles must fit the machine."""
    return _Tiler(work, machine, tiling, name).run()


@dataclass
class _Slots:
    """The places of one kind of tile: which tile each holds, and the one used last."""

    held: list[Key | None]
    last: int = -1

    def find(self, key: Key) -> bool:
        """Whether a slot holds the tile; it is then the one used last."""
        if key in self.held:
            self.last = self.held.index(key)
        return key in self.held

    def take(self, key: Key) -> int:
        """The slot used longest ago, now for `key`."""
        self.last = (self.last + 1) % len(self.held)
        self.held[self.last] = key
        return self.last


class _Tiler:
    """Writes one product."""

    def __init__(self, work: Work, machine: Machine, tiling: Tiling, name: str) -> None:
        self.work, self.machine = work, machine
        self.layout = Layout.of(machine, work, tiling)
        self.steps = list(tiles(work, tiling))
        sums = ACCUMULATOR_DTYPE[work.dtype]
        vectors = [("bias", (work.matrix.n,), sums)] * work.epilogue.bias
        vectors += [("scale", (work.matrix.n,), "float32")] * work.epilogue.per_column
        shapes = (operand_shape(work, s) for s in (work.a_shape, work.b_shape, work.c_shape))
        a, b, c = shapes
        out = work.dtype if work.epilogue.narrow else sums
        self.writer = Writer(name, [("a", a, work.dtype), ("b", b, work.dtype), *vectors, ("c", c, out)])
        self.a, self.b, self.vectors, self.sums, self.out = (
            _Slots([None] * self.layout.slots) for _ in range(5)
        )  # fmt: skip

    def run(self) -> str:
        """All steps in order."""
        self.writer.emit("config", (), f'dataflow = "{self.machine.dataflow}"', tagged=False)
        ahead = self.layout.slots > 1
        done: Tile | None = None
        if ahead:
            self.load(self.steps[0])
        for i, tile in enumerate(self.steps):
            finished, result = done, self.finish(done)
            if not ahead:
                # The sums have one place: they must be out of it before the next product starts.
                self.store(finished, result)
                self.load(tile)
            elif i + 1 < len(self.steps):
                self.load(self.steps[i + 1])
            self.multiply(tile)
            if ahead:
                self.store(finished, result)
            done = tile if tile.k0 + tile.k == self.work.matrix.k else None
        self.store(done, self.finish(done))
        return self.writer.text()

    def load(self, t: Tile) -> None:
        """Those of a step's operands that are not on chip."""
        if not self.a.find(key := (t.batch, t.m0, t.k0)):
            block = self.layout.a_block(self.a.take(key), t.m, t.k)
            for piece in self.work.a_pieces(t):
                start = block.address + piece.row * t.k + piece.column
                part = self.scratchpad(Block(start, piece.rows, piece.columns, t.k))
                self.writer.emit("dma_load", (self.dram(piece.window), part))
        if not self.b.find(key := (t.batch, t.k0, t.n0)):
            block = self.layout.b_block(self.b.take(key), t.k, t.n)
            self.writer.emit("dma_load", (self.dram(self.work.b_window(t)), self.scratchpad(block)))
        if self.layout.vectors and not self.vectors.find((t.n0,)):
            self.vectors.take((t.n0,))
            for name in self.vector_names():
                self.writer.emit("dma_load", (self.dram(Dram(name, t.n0, (1, t.n), (t.n, 1))), self.vector(name, t)))

    def multiply(self, t: Tile) -> None:
        """Preload what stays in the array, then the product of one step."""
        a = self.scratchpad(self.layout.a_block(self.a.held.index((t.batch, t.m0, t.k0)), t.m, t.k))
        b = self.scratchpad(self.layout.b_block(self.b.held.index((t.batch, t.k0, t.n0)), t.k, t.n))
        if t.k0 == 0:
            self.sums.take((t.batch, t.m0, t.n0))
        if self.machine.dataflow is not Dataflow.OS:
            self.writer.emit("preload", (b if self.machine.dataflow is Dataflow.WS else a,), tagged=False)
        accumulate = f"accumulate = {'true' if t.k0 else 'false'}"
        self.writer.emit("matmul", (a, b, self.sum_view(t)), accumulate)

    def finish(self, t: Tile | None) -> str:
        """What becomes of a complete tile of sums; the view that is to be stored."""
        if t is None or self.work.epilogue.plain:
            return "" if t is None else self.sum_view(t)
        epilogue, sums = self.work.epilogue, self.sum_view(t)
        target = sums
        if epilogue.narrow:
            target = self.scratchpad(self.layout.out_block(self.out.take((t.batch, t.m0, t.n0)), t.m, t.n))
        attributes = [f"relu = {'true' if epilogue.relu else 'false'}"]
        if epilogue.clip is not None:
            attributes.append(f"clip = array<f64: {', '.join(_f64(v) for v in epilogue.clip)}>")
        operands = [sums, target, *(self.vector(name, t) for name in self.vector_names())]
        if epilogue.per_column or epilogue.scale is not None:
            segments = f"1, 1, {int(epilogue.bias)}, {int(epilogue.per_column)}"
            attributes.append(f"operandSegmentSizes = array<i32: {segments}>, zero_point = {epilogue.zero_point} : i64")
            if epilogue.scale is not None:
                attributes.append(f"scale = {_f64(epilogue.scale)} : f64")
            self.writer.emit("requantize", operands, ", ".join(attributes))
        else:
            attributes.append(f"operandSegmentSizes = array<i32: 1, 1, {int(epilogue.bias)}>")
            self.writer.emit("activate", operands, ", ".join(attributes))
        return target

    def store(self, t: Tile | None, source: str) -> None:
        """A finished tile to DRAM."""
        if t is not None:
            self.writer.emit("dma_store", (source, self.dram(self.work.c_window(t))))

    def vector_names(self) -> list[str]:
        """The rows that a tile's columns have."""
        return ["bias"] * self.work.epilogue.bias + ["scale"] * self.work.epilogue.per_column

    def dram(self, window: Dram) -> str:
        """A view of a DRAM buffer."""
        return self.writer.view(f"%{window.buffer}", window.offset, window.sizes, window.strides)

    def scratchpad(self, block: Block) -> str:
        """A view of the scratchpad."""
        elements = self.machine.scratchpad_elements(self.work.dtype)
        return self._on_chip(self.writer.memory("scratchpad", self.work.dtype, elements), block)

    def accumulator(self, block: Block, dtype: str) -> str:
        """A view of the accumulator memory."""
        return self._on_chip(self.writer.memory("accumulator", dtype, self.machine.accumulator_words), block)

    def sum_view(self, t: Tile) -> str:
        """Where a tile's sums are."""
        slot = self.sums.held.index((t.batch, t.m0, t.n0))
        return self.accumulator(self.layout.sum_block(slot, t.m, t.n), ACCUMULATOR_DTYPE[self.work.dtype])

    def vector(self, name: str, t: Tile) -> str:
        """Where a tile's bias or scales are."""
        slot = self.vectors.held.index((t.n0,))
        dtype = "float32" if name == "scale" else ACCUMULATOR_DTYPE[self.work.dtype]
        return self.accumulator(self.layout.vector_block(slot, self.vector_names().index(name), t.n), dtype)

    def _on_chip(self, memory: str, block: Block) -> str:
        return self.writer.view(memory, block.address, (block.rows, block.columns), (block.stride, 1))


def _f64(value: float) -> str:
    """A number in MLIR's text, exactly; infinities by their bits."""
    if math.isinf(value):
        return "0x7FF0000000000000" if value > 0 else "0xFFF0000000000000"
    return f"{value:.17e}"
