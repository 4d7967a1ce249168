"""Fences where they are needed: an operation waits for those on other units that touch what it touches."""

from collections.abc import Sequence

from byoc.systolic.machine import Machine
from byoc.systolic.operands import Access, Region, accesses, overlap
from byoc.systolic.program import Config, Fence, Preload
from dialects.bindings import Operation
from pipelines.mlir.tiled.edit import ir
from pipelines.npu.instructions import Translator

Pending = list[tuple[int, Access]]
"""Operations of one unit that no fence has settled yet, by tag, oldest first."""


def insert_fences(function: Operation, machine: Machine) -> None:
    """Put an `npu.fence` before every operation that must wait, on the latest of each unit that it waits for.

    Units work in order, so a fence on one operation settles what its unit was given before; those of the array and
    those of the vector unit need no fence among themselves. Fences that are there already count.
    """
    translator = Translator(function, machine)
    header = translator.header()
    pending: dict[str, Pending] = {"array": [], "vector": [], "dma": []}
    for op in list(translator.block.operations):
        code = translator.instructions(op)
        if code and isinstance(code[0], Fence):
            _settle(pending, code[0].tags)
            continue
        touched = [(i, accesses(header, i)) for i in code if not isinstance(i, Config | Fence)]
        waits = [
            t for unit, earlier in pending.items() if (t := _latest([a for _, a in touched], unit, earlier)) is not None
        ]
        if waits:
            _fence(op, waits)
            _settle(pending, tuple(waits))
        for instruction, access in touched:
            # A preload has no tag: the product it is for reads the same block after it.
            if not isinstance(instruction, Preload):
                pending[access.unit].append((instruction.tag, access))


def _settle(pending: dict[str, Pending], tags: tuple[int, ...]) -> None:
    """Drop what has ended behind a fence: of each unit, all up to the last with one of the tags."""
    for unit, earlier in pending.items():
        ended = [i for i, (tag, _) in enumerate(earlier) if not tags or tag in tags]
        if ended:
            pending[unit] = earlier[ended[-1] + 1 :]


def _latest(touched: Sequence[Access], unit: str, earlier: Pending) -> int | None:
    """The tag of the last unsettled operation of `unit` that conflicts with what an operation touches."""
    others = [access for access in touched if unit != access.unit or unit == "dma"]
    return next((tag for tag, held in reversed(earlier) if any(_conflict(a, held) for a in others)), None)


def _conflict(one: Access, other: Access) -> bool:
    """Whether one writes what the other reads or writes."""
    return _meet(one.writes, other.writes) or _meet(one.writes, other.reads) or _meet(one.reads, other.writes)


def _meet(some: tuple[Region, ...], others: tuple[Region, ...]) -> bool:
    return any(space == s and overlap(block, b) for space, block in some for s, b in others)


def _fence(op: Operation, tags: list[int]) -> None:
    with ir.InsertionPoint(op), op.operation.location:
        ir.Operation.create("npu.fence", attributes={"tags": ir.DenseI64ArrayAttr.get(sorted(tags))})
