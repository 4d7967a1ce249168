"""What an instruction reads and writes, where, and whether its operands' shapes and dtypes agree."""

from typing import NamedTuple

from byoc.systolic.program import (
    Activate,
    Block,
    DmaLoad,
    DmaStore,
    Dram,
    Instruction,
    Matmul,
    Memory,
    Preload,
    Program,
    Role,
    packed,
)
from byoc.systolic.timing import elements

Region = tuple[str, Block]
"""A memory ("sp", "acc", or a DRAM buffer's name after "dram ") and a block of it."""


class Access(NamedTuple):
    """The unit that runs an instruction and the regions it touches. DRAM that nothing writes is left out."""

    unit: str
    reads: tuple[Region, ...]
    writes: tuple[Region, ...]


def accesses(program: Program, instruction: Instruction) -> Access:
    """Of an instruction other than Config and Fence."""
    match instruction:
        case DmaLoad(source, memory, target):
            buffer = program.buffer(source.buffer)
            written = buffer is not None and buffer.role is Role.OUT
            return Access("dma", (_dram(source),) if written else (), ((memory, target),))
        case DmaStore(memory, source, target):
            return Access("dma", ((memory, source),), (_dram(target),))
        case Preload(operand):
            return Access("array", ((Memory.SCRATCHPAD, operand),), ())
        case Matmul(a, b, c, accumulate):
            reads = ((Memory.SCRATCHPAD, a), (Memory.SCRATCHPAD, b))
            sums = (Memory.ACCUMULATOR, c)
            return Access("array", (*reads, sums) if accumulate else reads, (sums,))
        case Activate(source, memory, target):
            rows = (instruction.bias, instruction.scales)
            vectors = tuple((Memory.ACCUMULATOR, packed(r, 1, source.columns)) for r in rows if r is not None)
            return Access("vector", ((Memory.ACCUMULATOR, source), *vectors), ((memory, target),))
        case _:
            raise ValueError(f"{instruction} touches no memory")


def overlap(a: Block, b: Block) -> bool:
    """Whether two blocks of one memory share an element; exact when their strides agree, else by their spans."""
    if a.end <= b.address or b.end <= a.address:
        return False
    stride = b.stride if a.rows == 1 else a.stride
    if stride != (a.stride if b.rows == 1 else b.stride) or stride < max(a.columns, b.columns):
        return True
    row, column = divmod(b.address - a.address, stride)
    straight = column < a.columns and -b.rows < row < a.rows
    wrapped = column + b.columns > stride and -b.rows < row + 1 < a.rows
    return straight or wrapped


def shape_error(program: Program, instruction: Instruction) -> str | None:
    """Why an instruction's operands do not go together, or None."""
    match instruction:
        case DmaLoad(source, memory, target):
            dtypes = _dtypes(program, memory) + ("float32",) * (memory is Memory.ACCUMULATOR)
            return _transfer(program, source, target, dtypes)
        case DmaStore(memory, source, target):
            buffer = program.buffer(target.buffer)
            if buffer is not None and buffer.role is not Role.OUT:
                return f"writes '{buffer.name}', an input"
            return _transfer(program, target, source, _dtypes(program, memory)) or _repeats(target)
        case Preload(operand):
            return _block(operand)
        case Matmul(a, b, c):
            if a.columns != b.rows or (c.rows, c.columns) != (a.rows, b.columns):
                return f"sp[{a}] times sp[{b}] does not give acc[{c}]"
            return _block(a) or _block(b) or _block(c)
        case Activate(source, _, target):
            if (source.rows, source.columns) != (target.rows, target.columns):
                return f"acc[{source}] does not fill {instruction.memory}[{target}]"
            if instruction.scale is not None and instruction.scales is not None:
                return "has one scale and a row of scales; give one of them"
            return _block(source) or _block(target)
        case _:
            return None


def _dtypes(program: Program, memory: Memory) -> tuple[str, ...]:
    return (program.dtype if memory is Memory.SCRATCHPAD else program.accumulator_dtype,)


def _block(block: Block) -> str | None:
    if block.rows < 1 or block.columns < 1 or block.stride < block.columns:
        return f"block [{block}] needs rows and columns of at least 1 and a stride of at least its columns"
    return None


def _transfer(program: Program, window: Dram, block: Block, dtypes: tuple[str, ...]) -> str | None:
    buffer = program.buffer(window.buffer)
    if buffer is None:
        return f"no buffer '{window.buffer}'; the program has {', '.join(b.name for b in program.buffers)}"
    if buffer.dtype not in dtypes:
        return f"'{buffer.name}' is {buffer.dtype}; this memory takes {' or '.join(sorted(set(dtypes)))}"
    if len(window.sizes) != len(window.strides) or min(window.sizes, default=0) < 1 or min(window.strides) < 0:
        return f"window [{window}] needs as many strides as sizes, sizes of at least 1 and no negative stride"
    last = _last(window)
    if window.offset < 0 or last >= buffer.size:
        return f"{buffer.name}[{window}] reaches element {last}; '{buffer.name}' has {buffer.size}"
    if elements(window) != block.rows * block.columns:
        return f"{buffer.name}[{window}] has {elements(window)} elements, the block [{block}] another number"
    return _block(block)


def _repeats(window: Dram) -> str | None:
    """A store must not write an element twice: each stride steps over all that the dimensions inside it span."""
    inside = 1
    for stride, size in sorted(zip(window.strides, window.sizes, strict=True)):
        if size > 1 and stride < inside:
            return f"window [{window}] writes an element twice"
        inside = max(inside, stride * (size - 1) + inside)
    return None


def _dram(window: Dram) -> Region:
    """A matrix tile exactly; any other window by its span."""
    space = f"dram {window.buffer}"
    if len(window.sizes) == 2 and window.strides[1] == 1 and window.strides[0] >= window.sizes[1]:
        return space, Block(window.offset, *window.sizes, window.strides[0])
    return space, packed(window.offset, 1, 1 + _last(window) - window.offset)


def _last(window: Dram) -> int:
    """Address of a window's last element."""
    last = window.offset
    for size, stride in zip(window.sizes, window.strides, strict=True):
        last += (size - 1) * stride
    return last
