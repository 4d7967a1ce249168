"""Programs as text, and back.

    program "gemm 4x4x4 int8" int8          name and element dtype
    buffer a in int8[1x4x4]                 name, role, dtype, shape
        0: config ws
        1: load a[0: 4x4/4x1] -> sp[0: 4x4] #2
        2: fence #2 #4
        3: preload sp[32: 4x4]
        4: matmul sp[0: 4x4] sp[32: 4x4] -> acc[0: 4x4/8] accumulate #12
        5: activate acc[0: 4x4] -> sp[64: 4x4] bias=acc[32] scale=0.5 relu zero=3 clip=-8.0:7.0 #6
        6: store sp[64: 4x4] -> c[0: 4x4/4x1] #10

A block is `address: rows x columns / stride`, the stride left out where rows follow each other; a DRAM window is
`offset: sizes / strides`; `#tag` is what fences wait for, left out where 0. Numbers before a colon are not read, `;`
starts a comment, a name that is no identifier is quoted as in JSON.
"""

import json
import re
from collections.abc import Callable

from byoc.systolic.machine import ACCUMULATOR_DTYPE, Dataflow
from byoc.systolic.program import (
    Activate,
    Block,
    Buffer,
    Config,
    DmaLoad,
    DmaStore,
    Dram,
    Fence,
    Instruction,
    Matmul,
    Memory,
    Preload,
    Program,
    Role,
)
from byoc.systolic.words import Line
from workbench.core.errors import UsageError


def print_program(program: Program) -> str:
    """The program's text; `parse_program` reads it back to an equal program."""
    lines = [f"program {json.dumps(program.name)} {program.dtype}"]
    for b in program.buffers:
        lines.append(f"buffer {_name(b.name)} {b.role} {b.dtype}[{'x'.join(map(str, b.shape))}]")
    lines += [f"{number:5}: {print_instruction(i)}" for number, i in enumerate(program.instructions)]
    return "\n".join(lines) + "\n"


def print_instruction(instruction: Instruction) -> str:
    """One instruction's text, without its number."""
    match instruction:
        case Config(dataflow):
            return f"config {dataflow}"
        case DmaLoad(source, memory, target, tag):
            return f"load {_window(source)} -> {memory}[{target}]{_tag(tag)}"
        case DmaStore(memory, source, target, tag):
            return f"store {memory}[{source}] -> {_window(target)}{_tag(tag)}"
        case Preload(operand):
            return f"preload sp[{operand}]"
        case Matmul(a, b, c, accumulate, tag):
            return f"matmul sp[{a}] sp[{b}] -> acc[{c}]{' accumulate' * accumulate}{_tag(tag)}"
        case Activate(source, memory, target):
            return f"activate acc[{source}] -> {memory}[{target}]{_options(instruction)}{_tag(instruction.tag)}"
        case Fence(tags):
            return "fence" + "".join(f" #{tag}" for tag in tags)


def _options(a: Activate) -> str:
    texts = [
        "" if a.bias is None else f" bias=acc[{a.bias}]",
        "" if a.scale is None else f" scale={float(a.scale)!r}",
        "" if a.scales is None else f" scales=acc[{a.scales}]",
        " relu" * a.relu,
        f" zero={a.zero_point}" * (a.zero_point != 0),
        "" if a.clip is None else f" clip={float(a.clip[0])!r}:{float(a.clip[1])!r}",
    ]
    return "".join(texts)


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else json.dumps(name)


def _window(window: Dram) -> str:
    return f"{_name(window.buffer)}[{window}]"


def _tag(tag: int) -> str:
    return f" #{tag}" if tag else ""


def parse_program(text: str) -> Program:
    """A program from its text. Raises UsageError naming the line and what was expected there."""
    name, dtype = "", ""
    buffers: list[Buffer] = []
    instructions: list[Instruction] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = Line(number, line)
        if words.done():
            continue
        if not dtype:
            words.expect("program")
            name, dtype = words.name(), words.choice(tuple(ACCUMULATOR_DTYPE))
        elif words.peek() == "buffer":
            words.expect("buffer")
            buffers.append(_buffer(words))
        else:
            instructions.append(_instruction(words))
        words.end()
    if not dtype:
        raise UsageError("line 1: a program starts with: program NAME DTYPE")
    return Program(name, dtype, tuple(buffers), tuple(instructions))


def _buffer(words: Line) -> Buffer:
    name, role = words.name(), Role(words.choice(tuple(Role)))
    dtype = words.name()
    words.expect("[")
    shape = words.sizes()
    words.expect("]")
    return Buffer(name, shape, dtype, role)


def _block(words: Line, *memories: Memory) -> tuple[Memory, Block]:
    memory = Memory(words.choice(memories or tuple(Memory)))
    words.expect("[")
    address = words.integer()
    words.expect(":")
    if len(sizes := words.sizes()) != 2:
        words.fail(f"a block has rows and columns, not {len(sizes)} sizes")
    stride = words.integer() if words.accept("/") else sizes[1]
    words.expect("]")
    return memory, Block(address, *sizes, stride)


def _dram(words: Line) -> Dram:
    name = words.name()
    words.expect("[")
    offset = words.integer()
    words.expect(":")
    sizes = words.sizes()
    words.expect("/")
    strides = words.sizes()
    words.expect("]")
    return Dram(name, offset, sizes, strides)


def _load(words: Line) -> DmaLoad:
    source = _dram(words)
    words.expect("->")
    return DmaLoad(source, *_block(words), words.tag())


def _store(words: Line) -> DmaStore:
    memory, source = _block(words)
    words.expect("->")
    return DmaStore(memory, source, _dram(words), words.tag())


def _matmul(words: Line) -> Matmul:
    (_, a), (_, b) = _block(words, Memory.SCRATCHPAD), _block(words, Memory.SCRATCHPAD)
    words.expect("->")
    _, c = _block(words, Memory.ACCUMULATOR)
    return Matmul(a, b, c, words.accept("accumulate"), words.tag())


def _activate(words: Line) -> Activate:
    _, source = _block(words, Memory.ACCUMULATOR)
    words.expect("->")
    memory, target = _block(words)
    bias = _address(words) if _option(words, "bias") else None
    scale = words.number() if _option(words, "scale") else None
    scales = _address(words) if _option(words, "scales") else None
    relu = words.accept("relu")
    zero = words.integer() if _option(words, "zero") else 0
    clip = _bounds(words) if _option(words, "clip") else None
    return Activate(source, memory, target, bias, relu, scale, scales, zero, clip, words.tag())


def _option(words: Line, name: str) -> bool:
    if found := words.accept(name):
        words.expect("=")
    return found


def _address(words: Line) -> int:
    words.expect("acc")
    words.expect("[")
    address = words.integer()
    words.expect("]")
    return address


def _bounds(words: Line) -> tuple[float, float]:
    low = words.number()
    words.expect(":")
    return low, words.number()


def _fence(words: Line) -> Fence:
    tags: list[int] = []
    while words.peek().startswith("#"):
        tags.append(words.tag())
    return Fence(tuple(tags))


_READERS: dict[str, Callable[[Line], Instruction]] = {
    "config": lambda words: Config(Dataflow(words.choice(tuple(Dataflow)))),
    "load": _load,
    "store": _store,
    "preload": lambda words: Preload(_block(words, Memory.SCRATCHPAD)[1]),
    "matmul": _matmul,
    "activate": _activate,
    "fence": _fence,
}


def _instruction(words: Line) -> Instruction:
    return _READERS[words.choice(tuple(_READERS))](words)
