"""The instruction stream: what each instruction moves or computes, which unit runs it, and for how long.

Memories. DRAM is a set of named buffers, addressed in elements. The scratchpad is a flat array of elements of the
program's dtype; the accumulator memory a flat array of 32-bit words (sums; bias rows; float32 scales). A `Block` is a
2-D window into one of the two. Programs never allocate: every address is explicit.

Units. A sequencer hands out instructions in order, any number in a cycle, and stops only at a `Fence`. Three units run
what they were handed in order, beside each other: the array (Preload, Matmul), the vector unit (Activate) and the DMA
engine (DmaLoad, DmaStore; up to `dma_channels` at a time, finished in order). Nothing waits for data by itself: an
instruction that touches what another unit (or another DMA) is still reading or writing must stand behind a `Fence`,
or the program is refused by `byoc.systolic.legality`.

Time, in cycles, on an R x C array (`byoc.systolic.timing` has the forms):
    DmaLoad, DmaStore  latency, then one bus beat for every `dram_bytes_per_cycle` of each contiguous run in DRAM
    Preload            R
    Matmul             ws: ceil(K/R) ceil(N/C) (M + 2R + C - 2), less the R of a Preload just before
                       is: ceil(K/R) ceil(M/C) (N + 2R + C - 2), less the same
                       os: ceil(M/R) ceil(N/C) (K + R + C - 2)
    Activate           rows x ceil(columns / C)
    Config, Fence      0
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import prod
from typing import NamedTuple

from byoc.systolic.machine import ACCUMULATOR_DTYPE, Dataflow


class Memory(StrEnum):
    """The two memories beside the array."""

    SCRATCHPAD = "sp"
    ACCUMULATOR = "acc"


class Block(NamedTuple):
    """`rows` x `columns` in an on-chip memory: element (i, j) is at `address + i * stride + j`."""

    address: int
    rows: int
    columns: int
    stride: int

    @property
    def end(self) -> int:
        """One past the last address."""
        return self.address + (self.rows - 1) * self.stride + self.columns

    def __str__(self) -> str:
        gap = "" if self.stride == self.columns else f"/{self.stride}"
        return f"{self.address}: {self.rows}x{self.columns}{gap}"


def packed(address: int, rows: int, columns: int) -> Block:
    """A block without gaps between its rows."""
    return Block(address, rows, columns, columns)


class Dram(NamedTuple):
    """A strided window into a DRAM buffer: element (i0, i1, ...) is at `offset + sum(i * stride)`, in elements.

    Its elements in row-major order of `sizes` are those of the on-chip block in row-major order. Two dimensions are a
    matrix tile; more make im2col one transfer; a stride of 0 repeats.
    """

    buffer: str
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def __str__(self) -> str:
        sizes, strides = ("x".join(map(str, numbers)) for numbers in (self.sizes, self.strides))
        return f"{self.offset}: {sizes}/{strides}"


@dataclass(frozen=True, slots=True)
class Config:
    """Set the dataflow of the Matmuls that follow. The first instruction of every program."""

    dataflow: Dataflow


@dataclass(frozen=True, slots=True)
class DmaLoad:
    """target <- source. Scratchpad: the program's dtype. Accumulator: the accumulator's dtype, or float32 scales."""

    source: Dram
    memory: Memory
    target: Block
    tag: int = 0


@dataclass(frozen=True, slots=True)
class DmaStore:
    """target <- source. From the scratchpad: the program's dtype. From the accumulator: its own."""

    memory: Memory
    source: Block
    target: Dram
    tag: int = 0


@dataclass(frozen=True, slots=True)
class Preload:
    """Name the stationary operand (ws: a Matmul's `b`; is: its `a`) and shift its first R x C piece into the array.

    The array keeps the operand until the next Preload or until its block is overwritten. Refused under os, where
    nothing is stationary before the Matmul.
    """

    operand: Block


@dataclass(frozen=True, slots=True)
class Matmul:
    """c[M,N] = a[M,K] b[K,N], or c += a b with `accumulate`; a, b in the scratchpad, c in the accumulator memory.

    Any sizes: the sequencer of the array walks the pieces that fit it, shifting in those after the first by itself.
    int8 is summed in int32 with wrap-around; float16, bfloat16 and float32 are multiplied and summed in float32.
    """

    a: Block
    b: Block
    c: Block
    accumulate: bool = False
    tag: int = 0


@dataclass(frozen=True, slots=True)
class Activate:
    """target <- f(source), row by row. `source` is in the accumulator memory; `target` there or in the scratchpad.

    In this order, x being the sums: x += bias[j]; relu: x = max(x, 0); scaled: x *= scale (float32);
    integers: x = round half to even(x) + zero_point; clip: low <= x <= high; then the target's dtype, saturating.
    `bias` and `scales` are addresses of rows of `source.columns` words in the accumulator memory (bias in the
    accumulator's dtype, scales in float32); `scale` is one float32 for all columns. At most one of the last two.
    """

    source: Block
    memory: Memory
    target: Block
    bias: int | None = None
    relu: bool = False
    scale: float | None = None
    scales: int | None = None
    zero_point: int = 0
    clip: tuple[float, float] | None = None
    tag: int = 0


@dataclass(frozen=True, slots=True)
class Fence:
    """Hand out nothing more until every earlier instruction with one of `tags` has ended; no tags: until all have."""

    tags: tuple[int, ...] = ()


Instruction = Config | DmaLoad | DmaStore | Preload | Matmul | Activate | Fence


class Role(StrEnum):
    """Who fills a DRAM buffer."""

    IN = "in"
    OUT = "out"


@dataclass(frozen=True)
class Buffer:
    """A DRAM buffer, row-major. `in` is given by the caller; `out` starts as zeros and is a result."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: Role

    @property
    def size(self) -> int:
        """Elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class Program:
    """Instructions over named buffers; `dtype` is the scratchpad's element dtype. Instruction numbers count from 0."""

    name: str
    dtype: str
    buffers: tuple[Buffer, ...]
    instructions: tuple[Instruction, ...]

    @property
    def accumulator_dtype(self) -> str:
        """What sums are kept in: int32 for int8, else float32."""
        return ACCUMULATOR_DTYPE[self.dtype]

    @cached_property
    def by_name(self) -> dict[str, Buffer]:
        """The buffers by name."""
        return {b.name: b for b in self.buffers}

    def buffer(self, name: str) -> Buffer | None:
        """The buffer called `name`, or None."""
        return self.by_name.get(name)

    @cached_property
    def extents(self) -> dict[Memory, int]:
        """One past the last address that is written in each memory; a legal program reads nothing else."""
        ends = dict.fromkeys(Memory, 0)
        for instruction in self.instructions:
            match instruction:
                case DmaLoad(_, memory, block) | Activate(_, memory, block):
                    ends[memory] = max(ends[memory], block.end)
                case Matmul(_, _, block):
                    ends[Memory.ACCUMULATOR] = max(ends[Memory.ACCUMULATOR], block.end)
                case _:
                    pass
        return ends

    def __hash__(self) -> int:
        """Cheap, so that what depends on a program alone can be kept beside it; equality compares everything."""
        return hash((self.name, self.dtype, len(self.instructions)))
