"""The step simulator: every unit advanced a cycle at a time. It is what the machine is; for small sizes.

In each cycle the sequencer first hands out all it may, then every unit does one cycle's work on the memories.
"""

from collections import Counter, deque
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from byoc.systolic.elements import Elements
from byoc.systolic.legality import check
from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.program import Activate, Block, Config, DmaLoad, DmaStore, Fence, Matmul, Memory, Preload, Program
from byoc.systolic.result import Event, Result, Traffic
from byoc.systolic.transfers import DmaEngine
from byoc.systolic.values import Memories, activated, windowed
from workbench.core.arrays import Array, Arrays


def simulate(program: Program, machine: Machine, buffers: Arrays) -> Result:
    """Run `program` on its `in` buffers by name, stepping every cycle.

    Raises UsageError for buffers that do not fit, CompileError naming the instruction of an illegal program.
    """
    check(program, machine)
    return _Chip(program, machine, Memories(program, machine, buffers)).run()


class _Unit:
    """Works in order on what it was handed; a job is a generator of cycles (see `byoc.systolic.elements`)."""

    def __init__(self, name: str) -> None:
        self.name, self.queue = name, deque[tuple[int, Iterator[bool]]]()
        self.started = 0
        self.events: list[Event] = []

    def cycle(self, now: int) -> int | None:
        """Advance the job at the head by one cycle; gives its number in its last one."""
        if not self.queue:
            return None
        number, job = self.queue[0]
        if next(job):
            return None
        self.events.append(Event(number, self.name, self.started, now + 1))
        self.queue.popleft()
        self.started = now + 1
        return number

    def hand(self, now: int, number: int, job: Iterator[bool]) -> None:
        """Queue a job; it starts in this cycle when the unit is idle."""
        if not self.queue:
            self.started = now
        self.queue.append((number, job))


class _Chip:
    """Sequencer, array, vector unit and DMA engine around the memories."""

    def __init__(self, program: Program, machine: Machine, memories: Memories) -> None:
        self.program, self.machine, self.memories = program, machine, memories
        self.counts = Counter[str]()
        self.elements = Elements(machine, memories.sums.dtype.type, self.counts)
        self.array, self.vector = _Unit("array"), _Unit("vector")
        self.dma = DmaEngine(machine, memories, self.counts)
        self.working: dict[int, int | None] = {}
        self.dataflow, self.shifted = Dataflow.WS, False
        self.next = self.now = 0

    def run(self) -> Result:
        """Cycle until everything has been handed out and has ended."""
        while True:
            self.hand_out()
            if self.next == len(self.program.instructions) and not self.working:
                return self.result()
            for unit in (self.array, self.vector, self.dma):
                if (ended := unit.cycle(self.now)) is not None:
                    del self.working[ended]
            self.now += 1

    def hand_out(self) -> None:
        """All that may be handed out in this cycle: up to a Fence whose tags are still at work."""
        for instruction in self.program.instructions[self.next :]:
            if isinstance(instruction, Fence):
                if any(not instruction.tags or tag in instruction.tags for tag in self.working.values()):
                    return
            elif isinstance(instruction, Config):
                self.dataflow = instruction.dataflow
            else:
                self.working[self.next] = None if isinstance(instruction, Preload) else instruction.tag
                self.hand(self.next, instruction)
            self.next += 1

    def hand(self, number: int, instruction: DmaLoad | DmaStore | Preload | Matmul | Activate) -> None:
        """Give an instruction to its unit."""
        match instruction:
            case DmaLoad() | DmaStore():
                self.dma.hand(number, instruction)
            case Activate():
                self.vector.hand(self.now, number, self.activate(instruction))
            case Preload(operand):
                self.array.hand(self.now, number, self.preload(operand, self.dataflow))
            case Matmul():
                self.array.hand(self.now, number, self.matmul(instruction, self.dataflow))

    def preload(self, operand: Block, dataflow: Dataflow) -> Iterator[bool]:
        """R cycles: the first piece of the stationary operand."""
        held = windowed(self.memories.scratchpad, operand)
        held = held.T if dataflow is Dataflow.IS else held
        self.shifted = True
        yield from self.elements.shift_in(held[: self.machine.rows, : self.machine.columns])

    def matmul(self, instruction: Matmul, dataflow: Dataflow) -> Iterator[bool]:
        """Piece after piece; True until the last cycle of the last one."""
        a, b = (windowed(self.memories.scratchpad, x) for x in (instruction.a, instruction.b))
        c = windowed(self.memories.sums, instruction.c)
        jobs = deque(self.pieces(a, b, c, instruction.accumulate, dataflow))
        while jobs:
            job = jobs.popleft()
            more = True
            while more:
                more = next(job)
                yield more or bool(jobs)

    def pieces(self, a: Array, b: Array, c: Array, accumulate: bool, dataflow: Dataflow) -> list[Iterator[bool]]:
        """The jobs of one Matmul: shift a stationary piece in, stream through it, and so on; or sums in place."""
        rows, columns, elements = self.machine.rows, self.machine.columns, self.elements
        if dataflow is Dataflow.OS:
            corners = product(range(0, c.shape[0], rows), range(0, c.shape[1], columns))
            return [
                elements.sum_in_place(
                    a[i : i + rows], b[:, j : j + columns], c[i : i + rows, j : j + columns], accumulate
                )
                for i, j in corners
            ]
        moving, held, sums = (a, b, c) if dataflow is Dataflow.WS else (b.T, a.T, c.T)
        jobs: list[Iterator[bool]] = []
        for j, i in product(range(0, held.shape[1], columns), range(0, held.shape[0], rows)):
            jobs.append(elements.shift_in(held[i : i + rows, j : j + columns]))
            jobs.append(elements.stream(moving[:, i : i + rows], sums[:, j : j + columns], accumulate or i > 0))
        skipped = self.shifted
        self.shifted = self.shifted and len(jobs) == 2
        return jobs[skipped:]

    def activate(self, instruction: Activate) -> Iterator[bool]:
        """One row of up to C columns a cycle; a bias or scale is read with the first row."""
        sums = windowed(self.memories.sums, instruction.source)
        target = windowed(self.memories.on_chip(instruction.memory), instruction.target)
        vectors = (instruction.bias is not None) + (instruction.scales is not None)
        name = "scratchpad" if instruction.memory is Memory.SCRATCHPAD else "accumulator"
        (rows, width), lanes = sums.shape, self.machine.columns
        for i, j in product(range(rows), range(0, width, lanes)):
            part = slice(j, min(j + lanes, width))
            bias = self.vector_of(instruction.bias, part, self.memories.sums.dtype)
            scale = self.vector_of(instruction.scales, part, np.float32)
            if instruction.scale is not None:
                scale = np.asarray(instruction.scale, np.float32)
            target[i, part] = activated(instruction, sums[i, part], bias, scale, target.dtype)
            self.counts["accumulator_read"] += 4 * (part.stop - part.start) * (1 + vectors * (i == 0))
            self.counts[f"{name}_write"] += (part.stop - part.start) * target.itemsize
            yield i + 1 < rows or part.stop < width

    def vector_of(self, address: int | None, part: slice, dtype: Any) -> Array | None:
        """Some columns of a row of bias or scales."""
        if address is None:
            return None
        return self.memories.sums.view(dtype)[address + part.start : address + part.stop]

    def result(self) -> Result:
        """What was counted."""
        counts, itemsize = self.counts, self.memories.scratchpad.itemsize
        traffic = {name: counts[name] for name in ("dram_read", "dram_write", "scratchpad_write")}
        return Result(
            machine=self.machine,
            dtype=self.program.dtype,
            cycles=self.now,
            compute=counts["compute"],
            fill_drain=counts["fill_drain"],
            macs=counts["macs"],
            traffic=Traffic(
                scratchpad_read=counts["scratchpad_read"] + counts["scratchpad_reads"] * itemsize,
                accumulator_read=counts["accumulator_read"] + counts["sum_reads"] * 4,
                accumulator_write=counts["accumulator_write"] + counts["sum_writes"] * 4,
                **traffic,
            ),
            outputs=self.memories.outputs(),
            events=tuple(sorted(self.array.events + self.vector.events + self.dma.events)),
        )
