"""What a simulation reports: units that do one thing at a time, the timeline, the roofline, JSON."""

import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from byoc.systolic import fast
from byoc.systolic.assembly import parse_program
from byoc.systolic.gemm import Epilogue, Gemm
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Machine, load_machine
from byoc.systolic.result import Event
from byoc.systolic.timeline import Roofline, perfetto
from tests.byoc.systolic.drawn import gemms, machines
from workbench.core.errors import UsageError

LAB = load_machine("lab4")


@settings(max_examples=50, deadline=None)
@given(machine=machines(), work=gemms())
def test_a_unit_does_one_thing_at_a_time(machine: Machine, work: Gemm) -> None:
    program = gemm_program(machine, work)
    result = fast.simulate(program, machine)
    units: dict[str, list[Event]] = defaultdict(list)
    for event in result.events:
        units[event.unit].append(event)
    for events in units.values():
        events.sort(key=lambda e: e.start)
        assert all(a.end <= b.start for a, b in pairwise(events))
    assert max(e.end for e in result.events) == result.cycles
    assert sum(e.end - e.start for e in units["array"]) == result.array_cycles


def test_hand_counted_cycles() -> None:
    """One 4x4x4 product: two loads share the bus, then 4 + 4 + 4 + 4 - 2 cycles of the array, then a store."""
    text = """program p int8
    buffer a in int8[4x4]
    buffer b in int8[4x4]
    buffer c out int32[4x4]
    config ws
    load a[0: 4x4/4x1] -> sp[0: 4x4]
    load b[0: 4x4/4x1] -> sp[16: 4x4]
    fence
    preload sp[16: 4x4]
    matmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4]
    fence
    store acc[0: 4x4] -> c[0: 4x4/4x1]
    """
    result = fast.simulate(parse_program(text), LAB)
    load = 20 + 4  # latency, 16 bytes over a bus of 4; one channel: the second starts when the first has ended
    assert [(e.unit, e.start, e.end) for e in result.events] == [
        ("dma0", 0, load),
        ("dma0", load, 2 * load),
        ("array", 2 * load, 2 * load + 4),
        ("array", 2 * load + 4, 2 * load + 14),
        ("dma0", 2 * load + 14, 2 * load + 14 + 20 + 16),
    ]
    assert (result.compute, result.fill_drain, result.stall, result.macs) == (4, 10, 98 - 14, 64)
    traffic = result.traffic
    assert (traffic.dram_read, traffic.dram_write) == (32, 64)
    assert (traffic.scratchpad_write, traffic.scratchpad_read) == (32, 32)
    assert (traffic.accumulator_write, traffic.accumulator_read) == (64, 64)
    assert result.energy_pj == pytest.approx(64 * 0.3 + 64 * 1.25 + 128 * 1.25 + 96 * 162.0)
    overlapped = fast.simulate(parse_program(text), replace(LAB, dma_channels=2))
    assert overlapped.cycles == result.cycles - 20


def test_short_runs_waste_the_bus() -> None:
    text = "program p int8\nbuffer b in int8[8x8]\nconfig ws\nload b[0: {}] -> sp[0: 8x8]"
    cycles = {w: fast.simulate(parse_program(text.format(w)), LAB).cycles for w in ("8x8/8x1", "8x8/1x8")}
    assert cycles == {"8x8/8x1": 20 + 16, "8x8/1x8": 20 + 64}


def test_timeline() -> None:
    program = gemm_program(LAB, Gemm(9, 9, 9, epilogue=Epilogue(relu=True, narrow=True)))
    result = fast.simulate(program, LAB)
    trace = json.loads(json.dumps(perfetto(program, result)))
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert len(slices) == len(result.events)
    assert {e["name"] for e in slices} == {"load", "store", "preload", "matmul", "activate"}
    assert max(e["ts"] + e["dur"] for e in slices) == pytest.approx(result.seconds * 1e6)
    threads = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert {threads[e["tid"]] for e in slices if e["name"] in ("preload", "matmul")} == {"array"}


@settings(max_examples=50, deadline=None)
@given(machine=machines(), work=gemms())
def test_nothing_is_above_the_roof(machine: Machine, work: Gemm) -> None:
    point = Roofline.of(fast.simulate(gemm_program(machine, work), machine))
    assert 0 < point.attained <= point.roof <= point.peak
    assert (point.limit == "array") == (point.roof == point.peak)


def test_json() -> None:
    result = fast.simulate(gemm_program(LAB, Gemm(8, 8, 8)), LAB)
    data = json.loads(json.dumps(result.to_json()))
    assert data["cycles"] == data["compute"] + data["fill_drain"] + data["stall"]
    assert data["traffic"]["dram_read"] == result.traffic.dram_read


def test_inputs_that_do_not_fit_are_named() -> None:
    work = Gemm(4, 4, 4)
    program, a = gemm_program(LAB, work), np.zeros(work.a_shape, np.int8)
    with pytest.raises(UsageError, match=r"needs buffer 'b' as int8\[1, 4, 4\]; it was not given"):
        fast.simulate(program, LAB, {"a": a})
    with pytest.raises(UsageError, match=r"needs buffer 'b' as .* given as float64\[1, 4, 4\]"):
        fast.simulate(program, LAB, {"a": a, "b": np.zeros(work.b_shape)})
