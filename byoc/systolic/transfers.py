"""The DMA engine, a cycle at a time: channels that wait out the latency, and one bus that they share."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from byoc.systolic.machine import Machine
from byoc.systolic.program import Block, DmaLoad, DmaStore, Dram, Memory
from byoc.systolic.result import Event
from byoc.systolic.timing import run_elements
from byoc.systolic.values import Memories
from workbench.core.arrays import Array


@dataclass
class _Transfer:
    """A DMA on a channel since cycle `start`; each `next` of `beats` is one cycle of the bus."""

    number: int
    channel: int
    start: int
    beats: Iterator[bool]


class DmaEngine:
    """Starts transfers in order, each on the channel that has been free longest; serves them on the bus in order."""

    def __init__(self, machine: Machine, memories: Memories, counts: Counter[str]) -> None:
        self.machine, self.memories, self.counts = machine, memories, counts
        self.queue = deque[tuple[int, DmaLoad | DmaStore]]()
        self.active = deque[_Transfer]()
        self.free_since: dict[int, int] = dict.fromkeys(range(machine.dma_channels), 0)
        self.events: list[Event] = []

    def hand(self, number: int, instruction: DmaLoad | DmaStore) -> None:
        """Queue a transfer."""
        self.queue.append((number, instruction))

    def cycle(self, now: int) -> int | None:
        """Start what has a channel, then move one beat of the oldest transfer once its latency is over.

        Gives the transfer's number in its last cycle.
        """
        while self.queue and self.free_since:
            channel = min(self.free_since, key=lambda c: (self.free_since[c], c))
            del self.free_since[channel]
            number, instruction = self.queue.popleft()
            self.active.append(_Transfer(number, channel, now, self.beats(instruction)))
        if not self.active or now < self.active[0].start + self.machine.dram_latency_cycles:
            return None
        head = self.active[0]
        if next(head.beats):
            return None
        self.active.popleft()
        self.free_since[head.channel] = now + 1
        self.events.append(Event(head.number, f"dma{head.channel}", head.start, now + 1))
        return head.number

    def beats(self, instruction: DmaLoad | DmaStore) -> Iterator[bool]:
        """Move an instruction's elements: up to a bus width of one contiguous run a cycle."""
        loading = isinstance(instruction, DmaLoad)
        window = instruction.source if loading else instruction.target
        block = instruction.target if loading else instruction.source
        dram = self.memories.dram[window.buffer]
        chip = self.memories.on_chip(instruction.memory, dram.dtype)
        there, here = dram_addresses(window), chip_addresses(block)
        name = "scratchpad" if instruction.memory is Memory.SCRATCHPAD else "accumulator"
        for moved in beat_slices(len(there), run_elements(window), dram.itemsize, self.machine.dram_bytes_per_cycle):
            size = (moved.stop - moved.start) * dram.itemsize
            if loading:
                chip[here[moved]] = dram[there[moved]]
            else:
                dram[there[moved]] = chip[here[moved]]
            self.counts["dram_read" if loading else "dram_write"] += size
            self.counts[f"{name}_{'write' if loading else 'read'}"] += size
            yield moved.stop < len(there)


def beat_slices(total: int, run: int, itemsize: int, width: int) -> Iterator[slice]:
    """The elements that arrive whole in each beat, as positions in the transfer; a run starts a beat of its own."""
    for start in range(0, total, run):
        arrived = 0
        while arrived < run * itemsize:
            before, arrived = arrived, min(arrived + width, run * itemsize)
            yield slice(start + before // itemsize, start + arrived // itemsize)


def dram_addresses(window: Dram) -> Array:
    """Flat positions of a window's elements in row-major order."""
    strides = np.array(window.strides).reshape(-1, *[1] * len(window.sizes))
    return (window.offset + (np.indices(window.sizes) * strides).sum(0)).reshape(-1)


def chip_addresses(block: Block) -> Array:
    """Flat positions of a block's elements in row-major order."""
    rows, columns = np.indices((block.rows, block.columns))
    return (block.address + rows * block.stride + columns).reshape(-1)
