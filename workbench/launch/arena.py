"""Places buffers in one block of memory so that buffers that are never needed at the same time share bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 256
"""Bytes: the alignment that cudaMalloc gives, and more than any vector load or TMA copy asks for."""


@dataclass(frozen=True)
class Lifetime:
    """A buffer of `size` bytes that is needed from step `first` to step `last`, both included."""

    size: int
    first: int
    last: int

    def meets(self, other: "Lifetime") -> bool:
        """Whether both are needed during some step."""
        return self.first <= other.last and other.first <= self.last


def place(buffers: Sequence[Lifetime], alignment: int = ALIGNMENT) -> tuple[list[int], int]:
    """Byte offset of every buffer, and the size of the arena.

    Greedy by size, each into the lowest gap that fits among the buffers it meets: Pisarchyk and Lee, "Efficient Memory
    Management for Deep Neural Net Inference" (2020), section 5.1.
    """
    offsets = [0] * len(buffers)
    placed: list[int] = []
    for i in sorted(range(len(buffers)), key=lambda i: (-buffers[i].size, buffers[i].first)):
        taken = sorted(
            (offsets[j], _padded(buffers[j].size, alignment)) for j in placed if buffers[i].meets(buffers[j])
        )
        offset = 0
        for start, size in taken:
            if offset + buffers[i].size <= start:
                break
            offset = max(offset, start + size)
        offsets[i] = offset
        placed.append(i)
    end = max((o + _padded(b.size, alignment) for o, b in zip(offsets, buffers, strict=True)), default=0)
    return offsets, end


def _padded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
