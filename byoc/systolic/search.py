"""Choosing tiles."""

from dataclasses import replace

from byoc.systolic.gemm import Tiling, Work
from byoc.systolic.layout import Layout
from byoc.systolic.machine import Machine


def choose_tiling(machine: Machine, work: Work) -> Tiling:
    """Tiles that fit: array-sized ones, then doubled a dimension at a time."""
    gemm = work.matrix
    best = Tiling(machine.rows, machine.rows, machine.columns).within(gemm)
    while (larger := _grown(machine, work, best)) is not None:
        best = larger
    return best


def _grown(machine: Machine, work: Work, t: Tiling) -> Tiling | None:
    """Twice as large in the smallest dimension that can still grow."""
    larger = (replace(t, m=t.m * 2), replace(t, n=t.n * 2), replace(t, k=t.k * 2))
    fitting = [
        c
        for c in (x.within(work.matrix) for x in larger)
        if c != t and Layout.of(machine, work, c).fits(machine, work.dtype)
    ]
    return min(fitting, key=lambda c: c.m * c.k * c.n, default=None)
