"""Cost against simulation, the search, and SCALE-Sim's table."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byoc.systolic import fast
from byoc.systolic.cost import cost
from byoc.systolic.gemm import Conv2d, Epilogue, Gemm, Tiling, Work
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Dataflow, Machine, load_machine
from byoc.systolic.search import candidates, choose_tiling, front
from tests.byoc.systolic.drawn import convs, gemms, machines, tilings
from workbench.core.errors import CompileError

TABLE = Path(__file__).parents[3] / "traces" / "golden" / "scalesim" / "cycles.csv"
CONV = Conv2d(1, 30, 30, 128, 128, 3, 3, epilogue=Epilogue(bias=True, scale=0.1, narrow=True))


@settings(max_examples=150, deadline=None)
@given(data=st.data(), machine=machines(), work=st.one_of(gemms(), convs()))
def test_cost_is_exact_but_for_stalls(data: st.DataObject, machine: Machine, work: Work) -> None:
    tiling = data.draw(tilings(machine, work)) or choose_tiling(machine, work)
    found, predicted = fast.simulate(gemm_program(machine, work, tiling), machine), cost(machine, work, tiling)
    assert (predicted.compute, predicted.fill_drain, predicted.macs) == (found.compute, found.fill_drain, found.macs)
    assert predicted.traffic == found.traffic
    assert predicted.energy_pj == pytest.approx(found.energy_pj)


@pytest.mark.parametrize("dataflow", list(Dataflow))
@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("work", [Gemm(512, 512, 512), Gemm(128, 768, 768, "float32"), CONV], ids=lambda w: w.name)
def test_cost_estimates_stalls(work: Work, buffered: bool, dataflow: Dataflow) -> None:
    machine = replace(load_machine("gemmini16"), dataflow=dataflow, double_buffered=buffered)
    tiling = choose_tiling(machine, work)
    found, predicted = fast.simulate(gemm_program(machine, work, tiling), machine), cost(machine, work, tiling)
    assert predicted.cycles == pytest.approx(found.cycles, rel=0.15)


def test_search_finds_what_simulation_finds() -> None:
    """The tiling that cost chooses is, simulated, within 5% of the best of all candidates."""
    machine, work = load_machine("gemmini16"), Gemm(64, 96, 64)
    simulated = {
        c.tiling: fast.simulate(gemm_program(machine, work, c.tiling), machine).cycles
        for c in candidates(machine, work)
    }
    assert simulated[choose_tiling(machine, work)] <= 1.05 * min(simulated.values())


def test_front_has_no_dominated_candidate() -> None:
    found = front(load_machine("gemmini16"), CONV)
    assert len(found) > 1
    for a in found:
        assert not any(
            all(x <= y for x, y in zip(b.objectives, a.objectives, strict=True)) for b in found if b is not a
        )


def test_tile_larger_than_the_scratchpad() -> None:
    with pytest.raises(
        CompileError, match="gemm 512x512x512 int8: tile m=512 k=512 n=512 needs 1048576 bytes of scratch"
    ) as e:
        gemm_program(load_machine("gemmini16"), Gemm(512, 512, 512), Tiling(512, 512, 512))
    assert "gemmini16 has 262144" in str(e.value)


def test_tile_larger_than_the_accumulators() -> None:
    with pytest.raises(CompileError, match=r"needs 524288 bytes of accumulator memory .* gemmini16 has 65536"):
        gemm_program(load_machine("gemmini16"), Gemm(256, 64, 256), Tiling(256, 64, 256))


def test_dtype_that_the_machine_lacks() -> None:
    machine = load_machine("lab4")
    machine = replace(machine, energy_pj=replace(machine.energy_pj, mac={"int8": 0.3}))
    with pytest.raises(CompileError, match="lab4 multiplies int8, not float32"):
        gemm_program(machine, Gemm(4, 4, 4, "float32"))


def boundless(rows: int, columns: int, dataflow: str) -> Machine:
    """No tile is too large, no memory makes the array wait: SCALE-Sim's machine."""
    return replace(
        load_machine("tpu128"),
        rows=rows,
        columns=columns,
        dataflow=Dataflow(dataflow),
        scratchpad_bytes=2**27,
        accumulator_bytes=2**27,
        dram_bytes_per_cycle=2**30,
        dram_latency_cycles=0,
    )


def test_cycles_are_scale_sims() -> None:
    """On every row of the committed table, simulated and by cost, the product being one tile."""
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    gemms = {(r["model"], r["layer"]) for r in rows}
    found = Counter(r["rows"] for r in rows)
    assert len(gemms) == 18 and sum(n == len(gemms) * len(Dataflow) for n in found.values()) >= 3
    for row in rows:
        m, k, n, height, width, cycles = (int(row[x]) for x in ("m", "k", "n", "rows", "columns", "cycles"))
        machine, work, tiling = boundless(height, width, row["dataflow"]), Gemm(m, k, n), Tiling(m, k, n)
        simulated = fast.simulate(gemm_program(machine, work, tiling), machine)
        assert simulated.array_cycles - 1 == cycles, row
        assert cost(machine, work, tiling).array_cycles - 1 == cycles, row
