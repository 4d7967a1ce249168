"""The processing elements, a cycle at a time: what moves between neighbours and what each multiplies.

Each function is a generator: every `next` is one cycle of the array, and yields True while more follow. Operands are
views of the memories, read in the very cycle in which a value enters the array.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from byoc.systolic.machine import Machine
from workbench.core.arrays import Array


class Elements:
    """R x C processing elements: the stationary value, the value moving right, the value moving down."""

    def __init__(self, machine: Machine, wide: type[np.int32] | type[np.float32], counts: Counter[str]) -> None:
        shape = machine.rows, machine.columns
        self.rows, self.columns = shape
        self.stationary, self.right, self.down = (np.zeros(shape, wide) for _ in range(3))
        self.valid = np.zeros(shape, np.bool_)
        self.counts = counts

    def enter_right(self, values: Array, valid: Array) -> None:
        """Everything moves one column to the right; `values` (R) enter the first, `valid` says which are operands."""
        self.right[:, 1:], self.valid[:, 1:] = self.right[:, :-1].copy(), self.valid[:, :-1].copy()
        self.right[:, 0], self.valid[:, 0] = values, valid
        self.counts["scratchpad_reads"] += int(valid.sum())

    def shift_in(self, piece: Array) -> Iterator[bool]:
        """Push a stationary piece (deep <= R, wide <= C) in from the top, last row first: R cycles."""
        deep, wide = piece.shape
        for row in reversed(range(self.rows)):
            self.stationary[1:] = self.stationary[:-1].copy()
            self.stationary[0] = 0
            if row < deep:
                self.stationary[0, :wide] = piece[row]
                self.counts["scratchpad_reads"] += wide
            self.counts["fill_drain"] += 1
            yield row > 0

    def stream(self, moving: Array, sums: Array, accumulate: bool) -> Iterator[bool]:
        """sums (M, wide) = or += moving (M, deep) times the stationary piece: M + R + C - 2 cycles.

        Row m enters array row r in cycle m + r; partial sums move down and leave column c in cycle m + R - 1 + c.
        """
        (length, deep), wide, rows = moving.shape, sums.shape[1], self.rows
        for t in range(cycles := length + rows + self.columns - 2):
            entering = t - np.arange(rows)
            valid = (entering >= 0) & (entering < length) & (np.arange(rows) < deep)
            values = np.zeros(rows, self.right.dtype)
            values[valid] = moving[entering[valid], np.flatnonzero(valid)]
            self.enter_right(values, valid)
            above = np.vstack([np.zeros((1, self.columns), self.down.dtype), self.down[:-1]])
            self.down = above + self.right * self.stationary
            self.counts["macs"] += int(self.valid[:, :wide].sum())
            self.counts["compute" if t < length else "fill_drain"] += 1
            for column in range(wide):
                if 0 <= (m := t - (rows - 1) - column) < length:
                    self.leave(sums, m, column, self.down[-1, column], accumulate)
            yield t + 1 < cycles

    def sum_in_place(self, a: Array, b: Array, sums: Array, accumulate: bool) -> Iterator[bool]:
        """sums (m <= R, n <= C) = or += a (m, K) b (K, n): K + R + C - 2 cycles.

        a's step k enters row r in cycle k + r, b's enters column c in cycle k + c; element (r, c) multiplies them in
        cycle k + r + c and gives its sum away, down a bus of its column, in the cycle of its last product.
        """
        (high, depth), wide = a.shape, b.shape[1]
        row, column = np.arange(self.rows), np.arange(self.columns)
        self.down[:] = 0
        partial = np.zeros_like(self.down)
        for t in range(cycles := depth + self.rows + self.columns - 2):
            valid = (t - row >= 0) & (t - row < depth) & (row < high)
            values = np.zeros(self.rows, self.right.dtype)
            values[valid] = a[row[valid], (t - row)[valid]]
            self.enter_right(values, valid)
            self.down[1:] = self.down[:-1].copy()
            below = (t - column >= 0) & (t - column < depth) & (column < wide)
            self.down[0] = 0
            self.down[0, below] = b[(t - column)[below], column[below]]
            self.counts["scratchpad_reads"] += int(below.sum())
            partial += self.right * self.down
            self.counts["macs"] += int(self.valid[:, :wide].sum())
            self.counts["compute" if t < depth else "fill_drain"] += 1
            for r in range(high):
                if 0 <= (c := t - (depth - 1) - r) < wide:
                    self.leave(sums, r, c, partial[r, c], accumulate)
            yield t + 1 < cycles

    def leave(self, sums: Array, row: int, column: int, value: np.generic, accumulate: bool) -> None:
        """A sum reaches the accumulator memory, which adds what it has when told to."""
        sums[row : row + 1, column] = sums[row : row + 1, column] + value if accumulate else value
        self.counts["sum_reads"] += accumulate
        self.counts["sum_writes"] += 1
