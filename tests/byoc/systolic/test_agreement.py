"""The step simulator, the fast simulator and numpy agree: values, cycles, traffic and every unit's events."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byoc.systolic import fast, step
from byoc.systolic.gemm import Conv2d, Epilogue, Gemm, Tiling, Work
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Dataflow, Machine, load_machine
from byoc.systolic.result import Result
from tests.byoc.systolic.drawn import convs, expected, gemms, machines, tilings, values


def figures(result: Result) -> Result:
    """A result without its values, its events in order."""
    return replace(result, outputs={}, events=tuple(sorted(result.events)))


def agree(machine: Machine, work: Work, tiling: Tiling | None, seed: int = 0) -> Result:
    program, given_values = gemm_program(machine, work, tiling), values(work, seed)
    stepped, quick = step.simulate(program, machine, given_values), fast.simulate(program, machine, given_values)
    assert figures(stepped) == figures(quick)
    assert figures(fast.simulate(program, machine)) == figures(quick)
    reference, tolerance = expected(work, given_values)
    for result in (stepped, quick):
        found = result.outputs["c"].astype(np.float64)
        assert np.all(np.abs(found - reference) <= tolerance), np.abs(found - reference).max()
    return quick


@settings(max_examples=200, deadline=None)
@given(data=st.data(), machine=machines(), work=gemms(), seed=st.integers(0, 99))
def test_gemm(data: st.DataObject, machine: Machine, work: Gemm, seed: int) -> None:
    result = agree(machine, work, data.draw(tilings(machine, work)), seed)
    assert result.macs == work.macs
    assert result.cycles == result.compute + result.fill_drain + result.stall
    assert result.stall >= 0 and 0 < result.utilisation <= 1


@settings(max_examples=100, deadline=None)
@given(data=st.data(), machine=machines(), work=convs(), seed=st.integers(0, 99))
def test_conv2d(data: st.DataObject, machine: Machine, work: Conv2d, seed: int) -> None:
    agree(machine, work, data.draw(tilings(machine, work)), seed)


@pytest.mark.parametrize("dataflow", list(Dataflow))
def test_on_the_lab_preset(dataflow: Dataflow) -> None:
    machine = replace(load_machine("lab4"), dataflow=dataflow)
    epilogue = Epilogue(bias=True, relu=True, per_column=True, zero_point=-3, narrow=True)
    agree(machine, Gemm(21, 37, 18, epilogue=epilogue), None)


def test_saturation_and_halves() -> None:
    """Sums that are exact halves round to even; beyond int8 they saturate."""
    work = Gemm(1, 1, 4, epilogue=Epilogue(scale=0.5, narrow=True))
    machine = load_machine("lab4")
    given_values = {"a": np.array([[[1]]], np.int8), "b": np.array([[[1, 3, -1, 127]]], np.int8)}
    result = fast.simulate(gemm_program(machine, work), machine, given_values)
    assert result.outputs["c"].tolist() == [[[0, 2, 0, 64]]]
    wide = Gemm(1, 1, 2, epilogue=Epilogue(scale=100.0, narrow=True))
    given_values = {"a": np.array([[[2]]], np.int8), "b": np.array([[[127, -128]]], np.int8)}
    assert fast.simulate(gemm_program(machine, wide), machine, given_values).outputs["c"].tolist() == [[[127, -128]]]


def test_long_int8_sums_are_exact() -> None:
    """Beyond 1024 products float32 alone could not hold the sum."""
    machine = load_machine("gemmini16")
    work = Gemm(2, 5000, 2)
    given_values = {"a": np.full(work.a_shape, -128, np.int8), "b": np.full(work.b_shape, -128, np.int8)}
    given_values["b"][0, 1, 0] = -127
    program = gemm_program(machine, work, Tiling(2, 5000, 2))
    assert fast.simulate(program, machine, given_values).outputs["c"].tolist() == [[[81919872, 81920000]] * 2]
