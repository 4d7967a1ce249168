"""Choosing tiles and dataflow by cost: the cheapest, and the front of those that nothing beats in every figure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from byoc.systolic.cost import cost
from byoc.systolic.gemm import Conv2d, Tiling, Work
from byoc.systolic.layout import Layout
from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.result import Figures


@dataclass(frozen=True)
class Candidate:
    """A way to do the work, and what it costs."""

    dataflow: Dataflow
    tiling: Tiling
    figures: Figures

    @property
    def objectives(self) -> tuple[int, int, float]:
        """What is to be small: cycles, DRAM bytes, energy."""
        return self.figures.cycles, self.figures.traffic.dram, self.figures.energy_pj


def choose_tiling(machine: Machine, work: Work) -> Tiling:
    """Least energy among the tilings within 1% of the fewest cycles, by cost, under the machine's dataflow.

    The machine's own `tile` where its file fixes one. Raises CompileError when not even single elements fit.
    """
    if machine.tile:
        m, k, n = machine.tile
        return Tiling(m, k, n)
    found = list(candidates(machine, work))
    if not found:
        smallest = Tiling(1, 1, 1)
        Layout.of(machine, work, smallest).require(machine, work, smallest)
    bound = 1.01 * min(c.figures.cycles for c in found)
    return min((c for c in found if c.figures.cycles <= bound), key=lambda c: c.objectives[::-1]).tiling


def front(machine: Machine, work: Work, dataflows: Iterable[Dataflow] = tuple(Dataflow)) -> list[Candidate]:
    """Candidates that no other beats in cycles, DRAM bytes and energy at once, fewest cycles first."""
    found = [c for flow in dataflows for c in candidates(replace(machine, dataflow=flow), work)]
    found.sort(key=lambda c: c.objectives)
    kept: list[Candidate] = []
    for candidate in found:
        if not any(_as_good(k.objectives, candidate.objectives) for k in kept):
            kept.append(candidate)
    return kept


def candidates(machine: Machine, work: Work) -> Iterator[Candidate]:
    """Tilings that fit: for every size of M and K the widest N, in both orders."""
    gemm = work.matrix
    inner = work.out[1] if isinstance(work, Conv2d) else 1
    for m in _sizes(gemm.m, machine.rows, inner):
        for k in _sizes(gemm.k, machine.rows, work.kw * work.c if isinstance(work, Conv2d) else 1):
            for n in reversed(_sizes(gemm.n, machine.columns, 1)):
                if Layout.of(machine, work, Tiling(m, k, n)).fits(machine, work.dtype):
                    for order in ("mn", "nm"):
                        tiling = Tiling(m, k, n, order)
                        yield Candidate(machine.dataflow, tiling, cost(machine, work, tiling))
                    break


def _sizes(whole: int, unit: int, natural: int) -> list[int]:
    """1 and doublings of the array's size and of the natural size (an image row, a kernel row), up to the whole."""
    sizes = {whole}
    for start in {1, unit, natural}:
        size = start
        while size < whole:
            sizes.add(size)
            size = size * 2 if start > 1 else whole
    return sorted(sizes)


def _as_good(a: tuple[int, int, float], b: tuple[int, int, float]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))
