"""A simulation as a timeline for Perfetto (ui.perfetto.dev) and as a point under the array's roofline."""

from dataclasses import dataclass
from typing import Any

from byoc.systolic.assembly import print_instruction
from byoc.systolic.program import Program
from byoc.systolic.result import Figures, Result


def perfetto(program: Program, result: Result) -> dict[str, Any]:
    """Trace Event JSON: a thread for each unit, a slice for each instruction; times in microseconds of the clock.

    A slice's name is the instruction's kind; its arguments are the instruction's number, text and cycles. A DMA's slice
    holds its channel, latency and waiting for the bus included.
    """
    units = sorted({event.unit for event in result.events})
    names = [_metadata("process_name", 0, f"{program.name} on {result.machine.name}")]
    names += [_metadata("thread_name", 1 + i, unit) for i, unit in enumerate(units)]
    slices: list[dict[str, Any]] = []
    for event in result.events:
        text = print_instruction(program.instructions[event.number])
        start, end = event.start / result.machine.clock_mhz, event.end / result.machine.clock_mhz
        slices.append(
            {
                "ph": "X",
                "name": text.split()[0],
                "pid": 0,
                "tid": 1 + units.index(event.unit),
                "ts": start,
                "dur": end - start,
                "args": {"number": event.number, "text": text, "start": event.start, "end": event.end},
            }
        )
    return {"displayTimeUnit": "ns", "traceEvents": names + slices}


def _metadata(kind: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": 0, "tid": thread, "args": {"name": name}}


@dataclass(frozen=True)
class Roofline:
    """Multiply-accumulates a cycle against multiply-accumulates a DRAM byte (Williams et al., CACM 2009)."""

    peak: int
    """Of the array, R x C a cycle."""
    bandwidth: int
    """DRAM bytes a cycle."""
    intensity: float
    """Multiply-accumulates for each DRAM byte moved."""
    attained: float
    """Multiply-accumulates a cycle that were reached."""

    @staticmethod
    def of(figures: Figures) -> "Roofline":
        """Where simulated or predicted figures lie; they have moved something."""
        machine = figures.machine
        return Roofline(
            peak=machine.rows * machine.columns,
            bandwidth=machine.dram_bytes_per_cycle,
            intensity=figures.macs / figures.traffic.dram,
            attained=figures.macs / figures.cycles,
        )

    @property
    def ridge(self) -> float:
        """The intensity from which on the array and not DRAM is the limit."""
        return self.peak / self.bandwidth

    @property
    def roof(self) -> float:
        """The most that is possible at this intensity, multiply-accumulates a cycle."""
        return min(float(self.peak), self.bandwidth * self.intensity)

    @property
    def limit(self) -> str:
        """What the roof is made of: "array" or "dram"."""
        return "array" if self.intensity >= self.ridge else "dram"
