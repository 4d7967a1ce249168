"""npu functions compute what numpy says, interpreted and on the array, with the fences they need and no others."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byoc.systolic import fast, step
from byoc.systolic.gemm import Conv2d, Epilogue, Gemm, Tiling, Work
from byoc.systolic.machine import Dataflow, Machine, load_machine
from byoc.systolic.program import Fence
from dialects.bindings import inside, parse
from pipelines.npu.lowering import regions
from pipelines.npu.region import region_name, region_text
from tests.byoc.systolic.drawn import convs, expected, gemms, machines, tilings, values
from tests.npu.build import interpreted, npu_module, plain, program_of, reference_program, shaped
from workbench.core.errors import CompileError

WORK = gemms().map(plain) | convs().map(plain)


def agree(machine: Machine, work: Work, tiling: Tiling | None = None, direct: bool = False) -> None:
    """Interpreter and simulators against numpy; the other compiler's program of the same tiles, bit for bit."""
    module, held = npu_module(work, machine, tiling, direct), values(work, 0)
    program = program_of(module, machine)
    reference, tolerance = expected(work, held)
    result = fast.simulate(program, machine, shaped(held, program))
    assert step.simulate(program, machine, shaped(held, program)).cycles == result.cycles
    for found in (result.outputs["c"], interpreted(module, machine, held)["c"]):
        error = np.abs(found.astype(np.float64).reshape(reference.shape) - reference)
        assert np.all(error <= tolerance), error.max()
    if not direct:
        other = fast.simulate(reference_program(work, machine, tiling), machine, held)
        np.testing.assert_array_equal(result.outputs["c"].reshape(work.c_shape), other.outputs["c"])


@settings(max_examples=60, deadline=None)
@given(data=st.data(), machine=machines(), work=WORK)
def test_any_machine_and_shape(data: st.DataObject, machine: Machine, work: Work) -> None:
    agree(machine, work, data.draw(tilings(machine, work)))


@settings(max_examples=30, deadline=None)
@given(machine=machines(), work=convs().map(plain))
def test_direct_convolutions(machine: Machine, work: Conv2d) -> None:
    agree(replace(machine, scratchpad_bytes=16384, accumulator_bytes=8192), work, direct=True)


@settings(max_examples=20, deadline=None)
@given(machine=machines(), work=WORK, direct=st.booleans())
def test_no_fence_can_be_left_out(machine: Machine, work: Work, direct: bool) -> None:
    machine = replace(machine, scratchpad_bytes=16384, accumulator_bytes=8192)
    program = program_of(npu_module(work, machine, Tiling(4, 4, 4), direct), machine)
    fences = [i for i, instruction in enumerate(program.instructions) if isinstance(instruction, Fence)]
    for i in fences[:: max(1, len(fences) // 8)]:
        without = (*program.instructions[:i], *program.instructions[i + 1 :])
        with pytest.raises(CompileError, match="put a fence"):
            fast.simulate(replace(program, instructions=without), machine)


@settings(max_examples=60, deadline=None)
@given(machine=machines(), work=WORK)
def test_a_region_reads_back(machine: Machine, work: Work) -> None:
    """The linalg that stands for a piece of work says all of it."""
    clip = work.epilogue.clip
    if clip is not None and work.dtype != "int8" and (work.epilogue.relu or clip[0] == 0):
        work = replace(work, epilogue=replace(work.epilogue, relu=True, clip=(0, clip[1])))
    module = parse(region_text(work))
    with inside(module):
        assert regions(module, machine) == {region_name(work): work}


@pytest.mark.parametrize("dataflow", list(Dataflow))
@pytest.mark.parametrize("name", ["gemmini16", "tpu128"])
def test_cycles_are_those_of_the_other_way(name: str, dataflow: Dataflow) -> None:
    """From linalg and from Relay, on layers of ResNet-18: the same bytes, and cycles within 1%.

    Under is, where every step here has a preload of its own that overlaps with waiting for data, up to 3% fewer.
    """
    machine = replace(load_machine(name), dataflow=dataflow)
    for work in (
        Conv2d(1, 58, 58, 64, 64, 3, 3, (1, 1), "float32", Epilogue(bias=True, relu=True)),
        Conv2d(1, 16, 16, 256, 512, 3, 3, (2, 2), "int8", Epilogue(bias=True, relu=True)),
        Gemm(1, 512, 1000, "float32", epilogue=Epilogue(bias=True)),
    ):
        here = fast.simulate(program_of(npu_module(work, machine), machine), machine)
        there = fast.simulate(reference_program(work, machine, None), machine)
        least = 0.97 if dataflow is Dataflow.IS else 0.99
        assert least * there.cycles <= here.cycles <= 1.01 * there.cycles
        assert here.traffic.dram == there.traffic.dram
