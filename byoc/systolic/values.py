"""The values of instructions on whole blocks: memories as numpy arrays and what each instruction does to them."""

from typing import Any

import numpy as np

from byoc.systolic.machine import Machine
from byoc.systolic.program import (
    Activate,
    Block,
    DmaLoad,
    DmaStore,
    Dram,
    Instruction,
    Matmul,
    Memory,
    Program,
    Role,
)
from workbench.core.arrays import Array, Arrays, numpy_dtype
from workbench.core.errors import UsageError

EXACT_K = 1024
"""Products of int8 that float32 sums exactly: 1024 x 128 x 128 is 2^24."""


def windowed(memory: Array, block: Block) -> Array:
    """A view (rows, columns) of a block."""
    size = memory.itemsize
    shape, strides = (block.rows, block.columns), (block.stride * size, size)
    return np.ndarray(shape, memory.dtype, memory.view(np.uint8), block.address * size, strides)


def dram_view(memory: Array, window: Dram) -> Array:
    """A view of a DRAM window, of its `sizes`."""
    size = memory.itemsize
    strides = tuple(stride * size for stride in window.strides)
    return np.ndarray(window.sizes, memory.dtype, memory.view(np.uint8), window.offset * size, strides)


def take_inputs(program: Program, given: Arrays) -> Arrays:
    """Every DRAM buffer, flat: copies of none of the inputs, zeros for the outputs.

    Raises UsageError naming the buffer that is missing or has another shape or dtype.
    """
    dram: Arrays = {}
    for buffer in program.buffers:
        dtype = numpy_dtype(buffer.dtype)
        if buffer.role is Role.OUT:
            dram[buffer.name] = np.zeros(buffer.size, dtype)
            continue
        array = given.get(buffer.name)
        need = f"program '{program.name}' needs buffer '{buffer.name}' as {buffer.dtype}{list(buffer.shape)}"
        if array is None:
            raise UsageError(f"{need}; it was not given")
        if array.shape != buffer.shape or array.dtype != dtype:
            raise UsageError(f"{need}; it was given as {array.dtype}{list(array.shape)}")
        dram[buffer.name] = np.ascontiguousarray(array).reshape(-1)
    return dram


def activated(
    instruction: Activate, sums: Array, bias: Array | None, scale: Array | None, dtype: np.dtype[Any]
) -> Array:
    """`Activate`'s formula on sums (rows, columns) of int32 or float32; `bias`, `scale` broadcast against them.

    Integers that are not scaled stay int32, with wrap-around; scaled ones are float32 until they are cast.
    """
    integer = sums.dtype == np.int32
    x = sums if bias is None else sums + bias
    if instruction.relu:
        x = np.maximum(x, 0)
    if scale is not None:
        x = x.astype(np.float32) * scale
        x = np.rint(x) if integer else x
    if not integer:
        return (x if instruction.clip is None else np.clip(x, *instruction.clip)).astype(dtype)
    limits = np.iinfo(dtype)
    low, high = instruction.clip or (limits.min, limits.max)
    x = x.astype(np.float64) + instruction.zero_point
    return np.clip(x, max(low, limits.min), min(high, limits.max)).astype(dtype)


class Memories:
    """DRAM, scratchpad and accumulator memory of one run, as far as it uses them, and what instructions do to them."""

    def __init__(self, program: Program, machine: Machine, given: Arrays) -> None:
        self.program = program
        self.dram = take_inputs(program, given)
        used, have = program.extents, (machine.scratchpad_elements(program.dtype), machine.accumulator_words)
        self.scratchpad = np.zeros(min(used[Memory.SCRATCHPAD], have[0]), numpy_dtype(program.dtype))
        self.sums = np.zeros(min(used[Memory.ACCUMULATOR], have[1]), numpy_dtype(program.accumulator_dtype))
        self.views: dict[tuple[Memory, Block], Array] = {}

    def on_chip(self, memory: Memory, dtype: np.dtype[Any] | None = None) -> Array:
        """A memory as its own dtype, or the accumulator's words as another 32-bit one."""
        if memory is Memory.SCRATCHPAD:
            return self.scratchpad
        return self.sums if dtype is None else self.sums.view(dtype)

    def view(self, memory: Memory, block: Block) -> Array:
        """A block of a memory in its own dtype; programs name the same blocks over and over."""
        key = memory, block
        if (view := self.views.get(key)) is None:
            view = self.views[key] = windowed(self.on_chip(memory), block)
        return view

    def outputs(self) -> Arrays:
        """What the program left in its output buffers, by name."""
        return {b.name: self.dram[b.name].reshape(b.shape) for b in self.program.buffers if b.role is Role.OUT}

    def execute(self, instruction: Instruction) -> None:
        """All of one instruction's effect on the memories."""
        match instruction:
            case DmaLoad():
                self.load(instruction)
            case DmaStore():
                self.store(instruction)
            case Matmul():
                self.matmul(instruction)
            case Activate():
                self.activate(instruction)
            case _:
                pass

    def load(self, instruction: DmaLoad) -> None:
        """DRAM to chip."""
        buffer = self.dram[instruction.source.buffer]
        target = self.view(instruction.memory, instruction.target)
        _copy(target.view(buffer.dtype), dram_view(buffer, instruction.source))

    def store(self, instruction: DmaStore) -> None:
        """Chip to DRAM."""
        source = self.view(instruction.memory, instruction.source)
        target = dram_view(self.dram[instruction.target.buffer], instruction.target)
        if target.ndim == 2 and target.shape == source.shape:
            target[...] = source
        else:
            target[...] = source.reshape(target.shape)

    def matmul(self, instruction: Matmul) -> None:
        """c = a b or c += a b, through BLAS; integers exactly (see EXACT_K)."""
        a, b = self.view(Memory.SCRATCHPAD, instruction.a), self.view(Memory.SCRATCHPAD, instruction.b)
        c = self.view(Memory.ACCUMULATOR, instruction.c)
        if a.dtype == np.float32 and not instruction.accumulate:
            np.matmul(a, b, out=c)
            return
        a, b = a.astype(np.float32, copy=False), b.astype(np.float32, copy=False)
        step = EXACT_K if c.dtype == np.int32 else a.shape[1]
        for k in range(0, a.shape[1], step):
            product = np.matmul(a[:, k : k + step], b[k : k + step])
            if k or instruction.accumulate:
                np.add(c, product.astype(c.dtype, copy=False), out=c)
            else:
                c[...] = product

    def activate(self, instruction: Activate) -> None:
        """The vector unit's formula on a whole block."""
        columns = instruction.source.columns

        def row(address: int | None, dtype: Any) -> Array | None:
            return None if address is None else self.sums.view(dtype)[address : address + columns]

        fixed = None if instruction.scale is None else np.asarray(instruction.scale, np.float32)
        scale = fixed if instruction.scales is None else row(instruction.scales, np.float32)
        target = self.view(instruction.memory, instruction.target)
        sums = self.view(Memory.ACCUMULATOR, instruction.source)
        target[...] = activated(instruction, sums, row(instruction.bias, self.sums.dtype), scale, target.dtype)


def _copy(target: Array, source: Array) -> None:
    """target (rows, columns) <- source's elements in row-major order."""
    if source.shape == target.shape:
        target[...] = source
    elif target.flags.c_contiguous:
        target.reshape(source.shape)[...] = source
    else:
        target[...] = source.reshape(target.shape)
