"""Where the tiles of a tiled product live on chip, and what does not fit."""

from dataclasses import dataclass

from byoc.systolic.gemm import Tiling, Work
from byoc.systolic.machine import Machine
from byoc.systolic.program import Block, packed
from workbench.core.arrays import numpy_dtype
from workbench.core.errors import CompileError


@dataclass(frozen=True)
class Layout:
    """Sizes of what one tile needs, `slots` times each. Scratchpad in elements, accumulator memory in words.

    Scratchpad: A tiles, then B tiles, then narrow results. Accumulator memory: sums, then vectors (bias, scale).
    """

    a: int
    b: int
    out: int
    sums: int
    vector: int
    vectors: int
    slots: int

    @staticmethod
    def of(machine: Machine, work: Work, tiling: Tiling) -> "Layout":
        """Of a tiling on a machine; whether it fits is another question."""
        epilogue = work.epilogue
        return Layout(
            a=tiling.m * tiling.k,
            b=tiling.k * tiling.n,
            out=tiling.m * tiling.n * epilogue.narrow,
            sums=tiling.m * tiling.n,
            vector=tiling.n,
            vectors=epilogue.bias + epilogue.per_column,
            slots=machine.buffers,
        )

    @property
    def scratchpad(self) -> int:
        """Elements in all."""
        return self.slots * (self.a + self.b + self.out)

    @property
    def accumulator(self) -> int:
        """Words in all."""
        return self.slots * (self.sums + self.vectors * self.vector)

    def fits(self, machine: Machine, dtype: str) -> bool:
        """Whether both memories hold it."""
        return self.scratchpad <= machine.scratchpad_elements(dtype) and self.accumulator <= machine.accumulator_words

    def require(self, machine: Machine, work: Work, tiling: Tiling) -> None:
        """Raise CompileError with the numbers unless it fits."""
        times = " twice" if self.slots == 2 else ""
        tile = f"{work.name}: tile m={tiling.m} k={tiling.k} n={tiling.n}"
        size, have = numpy_dtype(work.dtype).itemsize * self.scratchpad, machine.scratchpad_bytes
        if size > have:
            raise CompileError(
                f"{tile} needs {size} bytes of scratchpad (A {self.a}, B {self.b}, C {self.out} elements of "
                f"{work.dtype}{times}); {machine.name} has {have}; take a smaller tile or a larger scratchpad_bytes"
            )
        size, have = 4 * self.accumulator, machine.accumulator_bytes
        if size > have:
            raise CompileError(
                f"{tile} needs {size} bytes of accumulator memory ({self.sums} sums and {self.vectors} rows of "
                f"{self.vector}{times}); {machine.name} has {have}; take a smaller tile or a larger accumulator_bytes"
            )

    def a_block(self, slot: int, m: int, k: int) -> Block:
        """An A tile."""
        return packed(slot * self.a, m, k)

    def b_block(self, slot: int, k: int, n: int) -> Block:
        """A B tile."""
        return packed(self.slots * self.a + slot * self.b, k, n)

    def out_block(self, slot: int, m: int, n: int) -> Block:
        """A narrow result."""
        return packed(self.slots * (self.a + self.b) + slot * self.out, m, n)

    def sum_block(self, slot: int, m: int, n: int) -> Block:
        """A tile of sums."""
        return packed(slot * self.sums, m, n)

    def vector_block(self, slot: int, row: int, n: int) -> Block:
        """A row of bias (row 0) or scale (the last row)."""
        return packed(self.slots * self.sums + (slot * self.vectors + row) * self.vector, 1, n)
