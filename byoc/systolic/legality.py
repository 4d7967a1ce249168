"""Which programs are refused: what touches memory out of bounds, unwritten or in use; with the instruction's number.

Two instructions conflict when one writes what the other reads or writes. Conflicts are legal within the array and
within the vector unit, which work in order, and across a Fence that waits for the earlier one. Everything else is a
race, whatever the machine's speed, so legality does not depend on timing. Units finish in the order they were handed
work, so a Fence on a tag also settles what its unit was handed before.
Blocks of one stride are compared exactly; of different strides, and DRAM windows of more than two dimensions, by the
span of addresses they lie in.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.operands import Access, Region, accesses, overlap, shape_error
from byoc.systolic.program import Block, Config, Fence, Instruction, Matmul, Memory, Preload, Program
from workbench.core.errors import CompileError


def check(program: Program, machine: Machine) -> None:
    """Raise CompileError, naming the instruction by number, unless `program` is legal on `machine`."""
    if program.dtype not in machine.dtypes:
        known = ", ".join(machine.dtypes)
        raise CompileError(f"program '{program.name}' is {program.dtype}; {machine.name} multiplies {known}")
    checker = _Checker(program, machine)
    for number, instruction in enumerate(program.instructions):
        if (reason := checker.step(number, instruction)) is not None:
            kind = type(instruction).__name__.lower()
            raise CompileError(f"program '{program.name}', instruction {number} ({kind}): {reason}")


class _Use(NamedTuple):
    """A block that an instruction reads or writes."""

    block: Block
    number: int
    tag: int
    unit: str


class _Checker:
    """Walks a program in order; `step` gives the reason why an instruction is illegal, or None."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.reads: defaultdict[str, list[_Use]] = defaultdict(list)
        self.writes: defaultdict[str, list[_Use]] = defaultdict(list)
        self.handed: defaultdict[int, dict[str, int]] = defaultdict(dict)
        self.settled = {"array": -1, "vector": -1, "dma": -1}
        self.flags = {
            Memory.SCRATCHPAD: np.zeros(machine.scratchpad_elements(program.dtype), np.bool_),
            Memory.ACCUMULATOR: np.zeros(machine.accumulator_words, np.bool_),
        }
        self.written: set[Region] = set()
        self.inside: set[Region] = set()
        self.dataflow: Dataflow | None = None
        self.operand: Block | None = None

    def step(self, number: int, instruction: Instruction) -> str | None:
        """Check one instruction and take note of it."""
        if isinstance(instruction, Config):
            self.dataflow, self.operand = instruction.dataflow, None
            return None
        if self.dataflow is None:
            return "a program starts with a config"
        if isinstance(instruction, Fence):
            self.settle(instruction.tags, number)
            return None
        reason = shape_error(self.program, instruction) or self.stationary(instruction)
        if reason is not None:
            return reason
        access = accesses(self.program, instruction)
        reason = self.bounds(access) or self.race(access) or self.unwritten(access)
        self.note(access, number, -1 if isinstance(instruction, Preload) else instruction.tag)
        return reason

    def settle(self, tags: tuple[int, ...], number: int) -> None:
        """A Fence: what was handed to a unit up to the last of `tags` has ended."""
        if not tags:
            self.settled = dict.fromkeys(self.settled, number)
        for tag in tags:
            for unit, last in self.handed[tag].items():
                self.settled[unit] = max(self.settled[unit], last)

    def note(self, access: Access, number: int, tag: int) -> None:
        """Remember what is in use, and forget what no longer is."""
        self.handed[tag][access.unit] = number
        for uses, regions in ((self.reads, access.reads), (self.writes, access.writes)):
            for space, block in regions:
                mine = uses[space]
                mine.append(_Use(block, number, tag, access.unit))
                if len(mine) > 16:
                    uses[space] = [use for use in mine if use.number > self.settled[use.unit]]

    def stationary(self, instruction: Instruction) -> str | None:
        """The array must hold what a Matmul streams through."""
        if isinstance(instruction, Preload):
            self.operand = instruction.operand
            return "nothing is stationary before a matmul under os" if self.dataflow is Dataflow.OS else None
        if isinstance(instruction, Matmul) and self.dataflow is not Dataflow.OS:
            need = instruction.a if self.dataflow is Dataflow.IS else instruction.b
            if self.operand != need:
                held = "nothing" if self.operand is None else f"sp[{self.operand}]"
                return f"needs sp[{need}] in the array, which holds {held}; preload it first"
        return None

    def bounds(self, access: Access) -> str | None:
        """Every block inside its memory."""
        for region in (*access.reads, *access.writes):
            space, block = region
            if region in self.inside or not isinstance(space, Memory):
                continue
            size = self.flags[space].size
            if block.address < 0 or block.end > size:
                return f"{space}[{block}] ends at {block.end}; {self.machine.name} has {space}[0:{size}]"
            self.inside.add(region)
        return None

    def race(self, access: Access) -> str | None:
        """Nothing that another unit, or another DMA, may still be reading or writing."""
        for space, block in access.reads:
            if (other := self.conflict(access.unit, block, self.writes[space])) is not None:
                what = f"reads {space}[{block}]"
                return f"{what} before instruction {other.number}, which writes it, has ended{_remedy(other)}"
        for space, block in access.writes:
            what = f"overwrites {space}[{block}]"
            if (other := self.conflict(access.unit, block, self.writes[space])) is not None:
                return f"{what} before instruction {other.number}, which writes it, has ended{_remedy(other)}"
            if (other := self.conflict(access.unit, block, self.reads[space])) is not None:
                return f"{what} while instruction {other.number} still reads it{_remedy(other)}"
        return None

    def conflict(self, unit: str, block: Block, uses: list[_Use]) -> _Use | None:
        """The first of `uses` that overlaps, is not settled, and is not before it in one unit that works in order."""
        settled = self.settled
        for use in uses:
            if use.number > settled[use.unit] and (use.unit != unit or unit == "dma") and overlap(block, use.block):
                return use
        return None

    def unwritten(self, access: Access) -> str | None:
        """Reads only of what some instruction has written; an overwritten stationary operand is no longer held."""
        for region in access.reads:
            space, block = region
            if region in self.written or not isinstance(space, Memory):
                continue
            if not _bits(self.flags[space], block).all():
                return f"reads {space}[{block}], which nothing has written"
            self.written.add(region)
        for region in access.writes:
            space, block = region
            if not isinstance(space, Memory):
                continue
            if space is Memory.SCRATCHPAD and self.operand is not None and overlap(block, self.operand):
                self.operand = None
            if region not in self.written:
                _bits(self.flags[space], block)[...] = True
                self.written.add(region)
        return None


def _remedy(other: _Use) -> str:
    return f"; put a fence on tag {other.tag} between them" if other.tag >= 0 else "; put a fence between them"


Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


def _bits(bits: Flags, block: Block) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """A view (rows, columns) of a block of flags."""
    return np.ndarray((block.rows, block.columns), np.bool_, bits.data, block.address, (block.stride, 1))
