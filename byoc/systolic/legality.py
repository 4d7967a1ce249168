"""Which programs are refused: what touches memory out of bounds, unwritten or in use; with the instruction's number.

Two instructions conflict when one writes what the other reads or writes. Conflicts are legal within the array and
within the vector unit, which work in order, and across a Fence that waits for the earlier one. Everything else is a
race, whatever the machine's speed, so legality does not depend on timing. Units finish in the order they were handed
work, so a Fence on a tag also settles what its unit was handed before.
Blocks of one stride are compared exactly; of different strides, and DRAM windows of more than two dimensions, by the
span of addresses they lie in.
"""

from dataclasses import dataclass

import numpy as np

from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.operands import Access, accesses, overlap, shape_error
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


@dataclass(frozen=True, slots=True)
class _Pending:
    """An instruction that no Fence has settled."""

    number: int
    tag: int
    access: Access


class _Checker:
    """Walks a program in order; `step` gives the reason why an instruction is illegal, or None."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.pending: dict[str, list[_Pending]] = {"array": [], "vector": [], "dma": []}
        self.written = {
            Memory.SCRATCHPAD: np.zeros(machine.scratchpad_elements(program.dtype), np.bool_),
            Memory.ACCUMULATOR: np.zeros(machine.accumulator_words, np.bool_),
        }
        self.known: set[tuple[str, Block]] = set()
        self.fits: set[tuple[str, Block]] = set()
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
            self.settle(instruction.tags)
            return None
        reason = shape_error(self.program, instruction) or self.stationary(instruction)
        if reason is not None:
            return reason
        access = accesses(self.program, instruction)
        reason = self.bounds(access) or self.race(access) or self.unwritten(access)
        tag = -1 if isinstance(instruction, Preload) else instruction.tag
        self.pending[access.unit].append(_Pending(number, tag, access))
        return reason

    def settle(self, tags: tuple[int, ...]) -> None:
        """A Fence: drop what has ended."""
        for unit, pending in self.pending.items():
            ended = [i for i, p in enumerate(pending) if not tags or p.tag in tags]
            if ended:
                self.pending[unit] = pending[ended[-1] + 1 :]

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
        for space, block in (*access.reads, *access.writes):
            if (space, block) in self.fits or not isinstance(space, Memory):
                continue
            size = self.written[space].size
            if block.address < 0 or block.end > size:
                return f"{space}[{block}] ends at {block.end}; {self.machine.name} has {space}[0:{size}]"
            self.fits.add((space, block))
        return None

    def race(self, access: Access) -> str | None:
        """Nothing that another unit, or another DMA, may still be reading or writing."""
        for unit, pending in self.pending.items():
            if unit == access.unit != "dma":
                continue
            for earlier in pending:
                if (reason := _conflict(access, earlier)) is not None:
                    return f"{reason}; put a fence on tag {earlier.tag} between them"
        return None

    def unwritten(self, access: Access) -> str | None:
        """Reads only of what some instruction has written; an overwritten stationary operand is no longer held."""
        for space, block in access.reads:
            if not isinstance(space, Memory) or (space, block) in self.known:
                continue
            if not _bits(self.written[space], block).all():
                return f"reads {space}[{block}], which nothing has written"
            self.known.add((space, block))
        for space, block in access.writes:
            if not isinstance(space, Memory):
                continue
            if space is Memory.SCRATCHPAD and self.operand is not None and overlap(block, self.operand):
                self.operand = None
            if (space, block) not in self.known:
                _bits(self.written[space], block)[...] = True
                self.known.add((space, block))
        return None


def _conflict(access: Access, earlier: _Pending) -> str | None:
    """Why `access` may not run beside `earlier`."""
    for space, block in access.reads:
        if any(space == s and overlap(block, b) for s, b in earlier.access.writes):
            return f"reads {space}[{block}] before instruction {earlier.number}, which writes it, has ended"
    for space, block in access.writes:
        if any(space == s and overlap(block, b) for s, b in earlier.access.writes):
            return f"overwrites {space}[{block}] before instruction {earlier.number}, which writes it, has ended"
        if any(space == s and overlap(block, b) for s, b in earlier.access.reads):
            return f"overwrites {space}[{block}] while instruction {earlier.number} still reads it"
    return None


Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


def _bits(bits: Flags, block: Block) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """A view (rows, columns) of a block of flags."""
    return np.ndarray((block.rows, block.columns), np.bool_, bits.data, block.address, (block.stride, 1))
