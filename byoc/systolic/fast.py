"""The fast simulator: values a block at a time, cycles by closed forms and one event per instruction.

It gives the step simulator's cycles, split, traffic and events exactly; values as `byoc.systolic.values` tells.
"""

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache

from byoc.systolic.legality import check
from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.program import (
    Activate,
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
)
from byoc.systolic.result import Event, Result, Traffic
from byoc.systolic.timing import ArrayWork, activate_cycles, beats, elements, matmul_work, preload_work
from byoc.systolic.values import Memories
from workbench.core.arrays import Arrays, numpy_dtype


def simulate(program: Program, machine: Machine, buffers: Arrays | None = None) -> Result:
    """Run `program`. With `buffers` (its `in` buffers by name) values too, else cycles and traffic only.

    Raises UsageError for buffers that do not fit, CompileError naming the instruction of an illegal program.
    """
    result = figures(program, machine)
    if buffers is None:
        return result
    memories = Memories(program, machine, buffers)
    for instruction in program.instructions:
        memories.execute(instruction)
    return replace(result, outputs=memories.outputs())


@lru_cache(maxsize=64)
def figures(program: Program, machine: Machine) -> Result:
    """What does not depend on values, worked out once for a program: whether it is legal, and when what happens."""
    check(program, machine)
    run = _Run(program, machine)
    for number, instruction in enumerate(program.instructions):
        run.dispatch(number, instruction)
    return run.result()


class _Run:
    """When each unit is free, and what has been counted so far."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.itemsize = numpy_dtype(program.dtype).itemsize
        self.dataflow = Dataflow.WS
        self.shifted = False
        self.now = self.array_free = self.vector_free = self.bus_free = 0
        self.channels = [0] * machine.dma_channels
        self.ends: defaultdict[int, int] = defaultdict(int)
        self.compute = self.fill_drain = self.macs = 0
        self.bytes: defaultdict[str, int] = defaultdict(int)
        self.events: list[Event] = []
        self.work: dict[tuple[int, int, int, bool, bool], ArrayWork] = {}

    def dispatch(self, number: int, instruction: Instruction) -> None:
        """Hand one instruction to its unit at `now`, or wait."""
        match instruction:
            case Fence():
                self.wait(instruction.tags)
            case Matmul():
                self.ended(instruction.tag, self.matmul(number, instruction))
            case DmaLoad():
                self.ended(instruction.tag, self.load(number, instruction))
            case Preload():
                self.preload(number, instruction)
            case DmaStore():
                self.ended(instruction.tag, self.store(number, instruction))
            case Activate():
                self.ended(instruction.tag, self.activate(number, instruction))
            case Config():
                self.dataflow, self.shifted = instruction.dataflow, False
                self.work.clear()

    def ended(self, tag: int, end: int) -> None:
        """Note when the last instruction of a tag ends."""
        if end > self.ends[tag]:
            self.ends[tag] = end

    def wait(self, tags: tuple[int, ...]) -> None:
        """Nothing more is handed out before the units reach these tags' ends."""
        if tags:
            self.now = max(self.now, *(self.ends[tag] for tag in tags))
        else:
            self.now = max(self.now, self.array_free, self.vector_free, self.bus_free)

    def dma(self, number: int, window: Dram, itemsize: int) -> tuple[int, int]:
        """Take the channel that is free first; the bus serves one transfer after another. Returns (end, bytes)."""
        free = min(self.channels)
        channel = self.channels.index(free)
        start = max(self.now, free)
        arrives = max(start + self.machine.dram_latency_cycles, self.bus_free)
        end = arrives + beats(self.machine, window, itemsize)
        self.channels[channel] = self.bus_free = end
        self.events.append(Event(number, f"dma{channel}", start, end))
        return end, elements(window) * itemsize

    def load(self, number: int, instruction: DmaLoad) -> int:
        """DRAM to chip."""
        memory, itemsize = self.memory(instruction.memory)
        end, size = self.dma(number, instruction.source, itemsize)
        self.bytes["dram_read"] += size
        self.bytes[f"{memory}_write"] += size
        return end

    def store(self, number: int, instruction: DmaStore) -> int:
        """Chip to DRAM."""
        memory, itemsize = self.memory(instruction.memory)
        end, size = self.dma(number, instruction.target, itemsize)
        self.bytes["dram_write"] += size
        self.bytes[f"{memory}_read"] += size
        return end

    def memory(self, memory: Memory) -> tuple[str, int]:
        """Name in `Traffic`, bytes of an element."""
        return ("scratchpad", self.itemsize) if memory is Memory.SCRATCHPAD else ("accumulator", 4)

    def preload(self, number: int, instruction: Preload) -> None:
        """Shift the first piece of the stationary operand in."""
        operand = instruction.operand
        deep, wide = operand.rows, operand.columns
        if self.dataflow is Dataflow.IS:
            deep, wide = wide, deep
        self.shifted = True
        self.array(number, preload_work(self.machine, deep, wide))

    def matmul(self, number: int, instruction: Matmul) -> int:
        """Stream through every piece; a stationary operand of one piece stays for the next Matmul."""
        m, k, n = instruction.a.rows, instruction.a.columns, instruction.b.columns
        key = m, k, n, instruction.accumulate, self.shifted
        if (work := self.work.get(key)) is None:
            work = self.work[key] = matmul_work(self.machine, self.dataflow, *key)
        if k > self.machine.rows or (m if self.dataflow is Dataflow.IS else n) > self.machine.columns:
            self.shifted = False
        self.macs += m * k * n
        return self.array(number, work)

    def array(self, number: int, work: ArrayWork) -> int:
        """Queue work on the array and count it."""
        start = max(self.now, self.array_free)
        self.array_free = start + work.compute + work.fill_drain
        self.compute += work.compute
        self.fill_drain += work.fill_drain
        self.bytes["scratchpad_read"] += work.scratchpad_reads * self.itemsize
        self.bytes["accumulator_read"] += work.sum_reads * 4
        self.bytes["accumulator_write"] += work.sum_writes * 4
        self.events.append(Event(number, "array", start, self.array_free))
        return self.array_free

    def activate(self, number: int, instruction: Activate) -> int:
        """Queue work on the vector unit and count it."""
        source = instruction.source
        start = max(self.now, self.vector_free)
        self.vector_free = start + activate_cycles(self.machine, instruction)
        vectors = (instruction.bias is not None) + (instruction.scales is not None)
        memory, itemsize = self.memory(instruction.memory)
        self.bytes["accumulator_read"] += (source.rows + vectors) * source.columns * 4
        self.bytes[f"{memory}_write"] += source.rows * source.columns * itemsize
        self.events.append(Event(number, "vector", start, self.vector_free))
        return self.vector_free

    def result(self) -> Result:
        """The figures once every unit has ended."""
        return Result(
            machine=self.machine,
            dtype=self.program.dtype,
            cycles=max(self.array_free, self.vector_free, self.bus_free),
            compute=self.compute,
            fill_drain=self.fill_drain,
            macs=self.macs,
            traffic=Traffic(**self.bytes),
            events=tuple(self.events),
        )
