"""What of a model went to an accelerator, at what cost, and what stayed on the host and why: the file `regions.json`.

Routes that reach an accelerator write it beside their instruction streams; `workbench accel report` reads it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

REGIONS = "regions.json"
"""The companion's file name."""


@dataclass(frozen=True)
class Figures:
    """Cost of one run of a region on a machine.

    `cycles` = `compute` + `fill_drain` + `stall`. `utilisation` is MACs done over those the array could do in `cycles`.
    Bytes are moved to or from each memory; energy is in picojoules.
    """

    cycles: int
    compute: int
    fill_drain: int
    stall: int
    utilisation: float
    dram_bytes: int
    scratchpad_bytes: int
    accumulator_bytes: int
    energy_pj: float


@dataclass(frozen=True)
class Region:
    """One part of the model that the accelerator runs: `batch` products of [m, k] by [k, n].

    `node` is the name of the node in the user's model, `kind` what it computes (dense, batch_matmul, conv2d,
    conv2d_1x1 ...), `fused` what is computed on the way out (bias, relu, requantise), `figures` the cost by dataflow
    ("ws", "os", "is"); the machine's own is what ran.
    """

    name: str
    node: str
    kind: str
    fused: tuple[str, ...]
    dtype: str
    batch: int
    m: int
    k: int
    n: int
    figures: Mapping[str, Figures]

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.batch * self.m * self.k * self.n


@dataclass(frozen=True)
class LeftBehind:
    """An operation that the host runs: the node it comes from, its multiply-accumulates, and why it stayed."""

    node: str
    op: str
    macs: int
    reason: str


@dataclass(frozen=True)
class Offload:
    """All of a model's operations, on one side or the other.

    `machine` describes the accelerator: name, rows, columns, dataflow, clock_mhz and whatever else its file says.
    """

    machine: Mapping[str, Any]
    regions: tuple[Region, ...]
    left: tuple[LeftBehind, ...] = field(default=())

    @property
    def share(self) -> float:
        """Part of the model's multiply-accumulates that the accelerator does; 0 for a model without any."""
        there = sum(r.macs for r in self.regions)
        here = sum(o.macs for o in self.left)
        return there / (there + here) if there else 0.0

    def to_json(self) -> str:
        """The file's text; `from_json` reads it back."""
        data = asdict(self)
        for row, region in zip(data["regions"], self.regions, strict=True):
            row["macs"] = region.macs
        return json.dumps(data, indent=1)

    @staticmethod
    def from_json(text: str) -> "Offload":
        """Read what `to_json` wrote. Raises ValueError, KeyError or TypeError on anything else."""
        data = json.loads(text)
        regions = tuple(_region(row) for row in data["regions"])
        return Offload(data["machine"], regions, tuple(LeftBehind(**row) for row in data["left"]))


def _region(row: dict[str, Any]) -> Region:
    fields = {name: value for name, value in row.items() if name not in ("macs", "fused", "figures")}
    figures = {dataflow: Figures(**cost) for dataflow, cost in row["figures"].items()}
    return Region(**fields, fused=tuple(row["fused"]), figures=figures)
