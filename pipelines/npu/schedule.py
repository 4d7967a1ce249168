"""The order of a tiled product: loads run one step ahead of the array, results are stored behind it.

The order of the operations and the slots that tiles take make the double buffering; `pipelines.npu.fences` finds out
what must wait for what.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from byoc.systolic.gemm import Work
from byoc.systolic.layout import Layout
from byoc.systolic.machine import ACCUMULATOR_DTYPE, Machine
from byoc.systolic.program import Block, Dram
from dialects.npu.writer import Writer
from pipelines.npu.region import operand_shape

Key = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One product on chip: the tiles it reads, by key, and the rows x n sums, from column n0, that it adds to.

    `first` and `last` say whether it starts and completes them; `result` is where in DRAM they belong.
    """

    a: Key
    b: Key
    sums: Key
    rows: int
    n0: int
    n: int
    first: bool
    last: bool
    result: Dram


S = TypeVar("S", bound=Step)


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


class Schedule(ABC, Generic[S]):
    """Writes one piece of work as npu operations. Subclasses say how a step's operands are filled and multiplied."""

    def __init__(self, work: Work, machine: Machine, layout: Layout, steps: Sequence[S], name: str) -> None:
        self.work, self.machine, self.layout, self.steps = work, machine, layout, steps
        self.sums_dtype = ACCUMULATOR_DTYPE[work.dtype]
        columns, epilogue = (work.matrix.n,), work.epilogue
        vectors = [("bias", columns, self.sums_dtype)] * epilogue.bias + [
            ("scale", columns, "float32")
        ] * epilogue.per_column
        self.vector_names = [v[0] for v in vectors]
        a, b, c = (operand_shape(work, shape) for shape in (work.a_shape, work.b_shape, work.c_shape))
        out = work.dtype if epilogue.narrow else self.sums_dtype
        self.writer = Writer(name, [("a", a, work.dtype), ("b", b, work.dtype), *vectors, ("c", c, out)])
        slots = [_Slots([None] * layout.slots) for _ in range(5)]
        self.a, self.b, self.vectors, self.sums, self.out = slots

    @abstractmethod
    def fill_a(self, step: S, slot: int) -> None:
        """Load the step's first operand into a slot."""

    @abstractmethod
    def fill_b(self, step: S, slot: int) -> None:
        """Load the step's second operand into a slot."""

    @abstractmethod
    def product(self, step: S, a: int, b: int) -> None:
        """The step's product, of the operands in these slots."""

    def text(self) -> str:
        """All steps in order, as the text of a function."""
        self.writer.emit("config", (), f'dataflow = "{self.machine.dataflow}"', tagged=False)
        ahead = self.layout.slots > 1
        done: S | None = None
        if ahead:
            self.load(self.steps[0])
        for i, step in enumerate(self.steps):
            finished, result = done, self.finish(done)
            if not ahead:
                # The sums have one place: they must be out of it before the next product starts.
                self.store(finished, result)
                self.load(step)
            elif i + 1 < len(self.steps):
                self.load(self.steps[i + 1])
            self.multiply(step)
            if ahead:
                self.store(finished, result)
            done = step if step.last else None
        self.store(done, self.finish(done))
        return self.writer.text()

    def load(self, step: S) -> None:
        """Those of a step's operands that are not on chip."""
        if not self.a.find(step.a):
            self.fill_a(step, self.a.take(step.a))
        if not self.b.find(step.b):
            self.fill_b(step, self.b.take(step.b))
        if self.vector_names and not self.vectors.find((step.n0,)):
            self.vectors.take((step.n0,))
            for name in self.vector_names:
                source = self.dram(Dram(name, step.n0, (1, step.n), (step.n, 1)))
                self.writer.emit("dma_load", (source, self.vector(name, step)))

    def multiply(self, step: S) -> None:
        """The product, into a new place when it starts its sums."""
        if step.first:
            self.sums.take(step.sums)
        self.product(step, self.a.held.index(step.a), self.b.held.index(step.b))

    def finish(self, step: S | None) -> str:
        """What becomes of complete sums; the view that is to be stored."""
        if step is None or self.work.epilogue.plain:
            return "" if step is None else self.sum_view(step)
        sums = target = self.sum_view(step)
        epilogue = self.work.epilogue
        if epilogue.narrow:
            target = self.scratchpad(self.layout.out_block(self.out.take(step.sums), step.rows, step.n))
        operands = [sums, target, *(self.vector(name, step) for name in self.vector_names)]
        attributes = [f"relu = {'true' if epilogue.relu else 'false'}"]
        if epilogue.clip is not None:
            attributes.append(f"clip = array<f64: {', '.join(_f64(v) for v in epilogue.clip)}>")
        rescales = epilogue.per_column or epilogue.scale is not None
        segments = [1, 1, int(epilogue.bias), *[int(epilogue.per_column)] * rescales]
        attributes.append(f"operandSegmentSizes = array<i32: {', '.join(map(str, segments))}>")
        if rescales:
            attributes.append(f"zero_point = {epilogue.zero_point} : i64")
        if epilogue.scale is not None:
            attributes.append(f"scale = {_f64(epilogue.scale)} : f64")
        self.writer.emit("requantize" if rescales else "activate", operands, ", ".join(attributes))
        return target

    def store(self, step: S | None, source: str) -> None:
        """Finished sums to DRAM."""
        if step is not None:
            self.writer.emit("dma_store", (source, self.dram(step.result)))

    def dram(self, window: Dram) -> str:
        """A view of a DRAM buffer."""
        return self.writer.view(f"%{window.buffer}", window.offset, window.sizes, window.strides)

    def scratchpad(self, block: Block) -> str:
        """A view of the scratchpad as a matrix."""
        return self.scratchpad_view(block.address, (block.rows, block.columns), (block.stride, 1))

    def scratchpad_view(self, address: int, sizes: Sequence[int], strides: Sequence[int]) -> str:
        """A view of the scratchpad."""
        elements = self.machine.scratchpad_elements(self.work.dtype)
        return self.writer.view(self.writer.memory("scratchpad", self.work.dtype, elements), address, sizes, strides)

    def accumulator(self, block: Block, dtype: str) -> str:
        """A view of the accumulator memory."""
        memory = self.writer.memory("accumulator", dtype, self.machine.accumulator_words)
        return self.writer.view(memory, block.address, (block.rows, block.columns), (block.stride, 1))

    def sum_view(self, step: S) -> str:
        """Where a step's sums are."""
        slot = self.sums.held.index(step.sums)
        return self.accumulator(self.layout.sum_block(slot, step.rows, step.n), self.sums_dtype)

    def vector(self, name: str, step: S) -> str:
        """Where a step's bias or scales are."""
        slot, row = self.vectors.held.index((step.n0,)), self.vector_names.index(name)
        dtype = "float32" if name == "scale" else self.sums_dtype
        return self.accumulator(self.layout.vector_block(slot, row, step.n), dtype)


def _f64(value: float) -> str:
    """A number in MLIR's text, exactly; infinities by their bits."""
    if math.isinf(value):
        return "0x7FF0000000000000" if value > 0 else "0xFFF0000000000000"
    return f"{value:.17e}"
