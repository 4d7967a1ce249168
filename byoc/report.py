"""Simulated figures in the form that traces keep (`workbench.core.offload`)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from byoc.systolic import result
from byoc.systolic.fast import simulate
from byoc.systolic.gemm import Work
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Dataflow, Machine
from workbench.core.errors import CompileError
from workbench.core.offload import Figures


def describe(machine: Machine) -> dict[str, Any]:
    """The machine as reports show it."""
    names = ("name", "rows", "columns", "clock_mhz", "scratchpad_bytes", "accumulator_bytes", "dram_bytes_per_cycle")
    return {n: getattr(machine, n) for n in names} | {"dataflow": str(machine.dataflow)}


def figures_of(found: result.Figures) -> Figures:
    """A simulation's figures."""
    return Figures(
        cycles=found.cycles,
        compute=found.compute,
        fill_drain=found.fill_drain,
        stall=found.stall,
        utilisation=found.utilisation,
        dram_bytes=found.traffic.dram,
        scratchpad_bytes=found.traffic.scratchpad,
        accumulator_bytes=found.traffic.accumulator,
        energy_pj=found.energy_pj,
    )


def by_dataflow(machine: Machine, work: Work) -> Mapping[str, Figures]:
    """Figures under each dataflow, each with tiles of its own; a dataflow under which nothing fits is left out."""
    found: dict[str, Figures] = {}
    for dataflow in Dataflow:
        other = replace(machine, dataflow=dataflow)
        try:
            found[str(dataflow)] = figures_of(simulate(gemm_program(other, work), other))
        except CompileError:
            continue
    return found
