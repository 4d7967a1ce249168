"""Closed forms of one instruction's time and on-chip traffic, for R x C processing elements.

The array's forms are those of SCALE-Sim 3 (Samajdar et al., ISPASS 2020) for a GEMM of M x K x N:
    os  ceil(M/R) ceil(N/C) (K + R + C - 2)
    ws  ceil(K/R) ceil(N/C) (M + 2R + C - 2)
    is  ceil(K/R) ceil(M/C) (N + 2R + C - 2)
A row entering skewed by one cycle a row and moving one column a cycle reaches the last element R + C - 2 cycles after
it entered the first; a stationary piece takes R cycles to shift in from the top.
"""

from math import prod
from typing import NamedTuple

from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.program import Activate, Dram


def ceil_div(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)


class ArrayWork(NamedTuple):
    """Of the array in one instruction: cycles, elements read from the scratchpad, sums read and written."""

    compute: int
    fill_drain: int
    scratchpad_reads: int
    sum_reads: int
    sum_writes: int


def matmul_work(
    machine: Machine, dataflow: Dataflow, m: int, k: int, n: int, accumulate: bool, shifted: bool
) -> ArrayWork:
    """Of Matmul. `shifted`: the array holds the first stationary piece already, as after a Preload.

    Under ws and is sums go through the accumulator memory once for every piece of K; under os once in all.
    """
    rows, columns = machine.rows, machine.columns
    if dataflow is Dataflow.OS:
        down, across = ceil_div(m, rows), ceil_div(n, columns)
        pieces = down * across
        reads = m * k * across + k * n * down
        return ArrayWork(pieces * k, pieces * (rows + columns - 2), reads, m * n * accumulate, m * n)
    stream, held = (m, n) if dataflow is Dataflow.WS else (n, m)
    deep, across = ceil_div(k, rows), ceil_div(held, columns)
    pieces = deep * across
    idle = pieces * (2 * rows + columns - 2) - rows * shifted
    first = min(k, rows) * min(held, columns) * shifted
    reads = k * held - first + stream * k * across
    return ArrayWork(pieces * stream, idle, reads, m * n * (deep - 1 + accumulate), m * n * deep)


def preload_work(machine: Machine, k: int, held: int) -> ArrayWork:
    """Of Preload of an operand that is `k` deep (along the array's rows) and `held` wide (along its columns)."""
    return ArrayWork(0, machine.rows, min(k, machine.rows) * min(held, machine.columns), 0, 0)


def activate_cycles(machine: Machine, instruction: Activate) -> int:
    """Of Activate: one row of up to C columns a cycle."""
    return instruction.source.rows * ceil_div(instruction.source.columns, machine.columns)


def elements(window: Dram) -> int:
    """How many a DRAM window has."""
    return prod(window.sizes)


def run_elements(window: Dram) -> int:
    """Elements of each contiguous run of a DRAM window: its trailing dimensions that follow without a gap."""
    run = 1
    for size, stride in zip(reversed(window.sizes), reversed(window.strides), strict=True):
        if size != 1 and stride != run:
            break
        run *= size
    return run


def beats(machine: Machine, window: Dram, itemsize: int) -> int:
    """Bus cycles of a DMA. Every contiguous run starts a beat of its own, so short and scattered runs waste the bus."""
    run = run_elements(window)
    return elements(window) // run * ceil_div(run * itemsize, machine.dram_bytes_per_cycle)
