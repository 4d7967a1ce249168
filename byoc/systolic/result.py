"""What a simulation found."""

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from byoc.systolic.machine import Machine
from workbench.core.arrays import Arrays


@dataclass(frozen=True)
class Traffic:
    """Bytes moved, by memory."""

    dram_read: int = 0
    dram_write: int = 0
    scratchpad_read: int = 0
    scratchpad_write: int = 0
    accumulator_read: int = 0
    accumulator_write: int = 0

    @property
    def dram(self) -> int:
        """Read and written."""
        return self.dram_read + self.dram_write

    @property
    def scratchpad(self) -> int:
        """Read and written."""
        return self.scratchpad_read + self.scratchpad_write

    @property
    def accumulator(self) -> int:
        """Read and written."""
        return self.accumulator_read + self.accumulator_write


class Event(NamedTuple):
    """Instruction `number` held `unit` ("array", "vector", "dma0" ...) in cycles start <= t < end."""

    number: int
    unit: str
    start: int
    end: int


@dataclass(frozen=True)
class Figures:
    """Cycles, work and bytes, simulated or predicted.

    cycles = compute + fill_drain + stall. compute: the array takes in a row (os: a step of K) every cycle.
    fill_drain: it fills, drains or shifts a stationary piece in. stall: the array waits for DMA or the vector unit.
    """

    machine: Machine
    dtype: str
    cycles: int
    compute: int
    fill_drain: int
    macs: int
    traffic: Traffic

    @property
    def stall(self) -> int:
        """Cycles in which the array does nothing."""
        return self.cycles - self.compute - self.fill_drain

    @property
    def array_cycles(self) -> int:
        """Cycles of the array alone, as if no memory ever made it wait.

        SCALE-Sim reports the index of the last of them, counted from 0: one less.
        """
        return self.compute + self.fill_drain

    @property
    def utilisation(self) -> float:
        """Multiply-accumulates done / those that all elements could have done in `cycles`; 0 to 1."""
        return self.macs / (self.machine.rows * self.machine.columns * self.cycles) if self.cycles else 0.0

    @property
    def seconds(self) -> float:
        """Time at the machine's clock."""
        return self.cycles / (self.machine.clock_mhz * 1e6)

    @property
    def energy_pj(self) -> float:
        """Picojoules of the multiply-accumulates and of every byte moved; no leakage."""
        energy, traffic = self.machine.energy_pj, self.traffic
        return (
            self.macs * energy.mac[self.dtype]
            + traffic.scratchpad * energy.scratchpad_byte
            + traffic.accumulator * energy.accumulator_byte
            + traffic.dram * energy.dram_byte
        )

    def to_json(self) -> dict[str, Any]:
        """The figures, JSON-ready."""
        return {
            "machine": self.machine.name,
            "dtype": self.dtype,
            "cycles": self.cycles,
            "compute": self.compute,
            "fill_drain": self.fill_drain,
            "stall": self.stall,
            "utilisation": self.utilisation,
            "seconds": self.seconds,
            "macs": self.macs,
            "traffic": asdict(self.traffic),
            "energy_pj": self.energy_pj,
        }


@dataclass(frozen=True)
class Result(Figures):
    """A simulation: `outputs` by buffer name (empty without input values) and what each unit did when."""

    outputs: Arrays = field(default_factory=dict[str, Any])
    events: tuple[Event, ...] = ()
