"""Illegal programs: both simulators refuse them and name the instruction."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from byoc.systolic import fast, step
from byoc.systolic.assembly import parse_program
from byoc.systolic.gemm import Gemm
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Machine, load_machine
from byoc.systolic.operands import overlap
from byoc.systolic.program import Block, Fence, Program
from byoc.systolic.result import Result
from tests.byoc.systolic.drawn import expected, gemms, machines, values
from workbench.core.errors import CompileError

LAB = load_machine("lab4")
HEADER = """program "planted" int8
buffer a in int8[8x8]
buffer b in int8[8x8]
buffer c out int32[8x8]
buffer s in float32[8]
"""
LOADED = "config ws\nload a[0: 4x4/8x1] -> sp[0: 4x4] #1\nload b[0: 4x4/8x1] -> sp[16: 4x4] #2\n"
READY = LOADED + "fence #1 #2\npreload sp[16: 4x4]\n"
SIMULATORS: list[Callable[[Program, Machine, dict[str, np.ndarray]], Result]] = [step.simulate, fast.simulate]

REFUSED = {
    "read before its DMA ends": (
        LOADED + "fence #1\npreload sp[16: 4x4]",
        r"instruction 4 \(preload\): reads sp\[16: 4x4\] before instruction 2, which writes it, has ended; "
        r"put a fence on tag 2",
    ),
    "part of it read before its DMA ends": (
        "config ws\nload b[0: 4x4/8x1] -> sp[16: 4x4] #2\nload a[0: 4x4/8x1] -> sp[0: 4x4] #1\nfence #2\n"
        "preload sp[16: 4x4]\nmatmul sp[4: 1x4] sp[16: 4x4] -> acc[0: 1x4]",
        r"instruction 5 \(matmul\): reads sp\[4: 1x4\] before instruction 2,",
    ),
    "overwritten while it is read": (
        READY + "matmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4] #3\nload a[0: 4x4/8x1] -> sp[0: 4x4] #1",
        r"instruction 6 \(dmaload\): overwrites sp\[0: 4x4\] while instruction 5 still reads it",
    ),
    "overwritten while it is loaded": (
        LOADED + "load a[4: 4x4/8x1] -> sp[8: 4x4] #1",
        r"instruction 3 \(dmaload\): overwrites sp\[8: 4x4\] before instruction 1, which writes it, has ended",
    ),
    "sums stored before the product ends": (
        READY + "matmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4] #3\nstore acc[0: 4x4] -> c[0: 4x4/8x1]",
        r"instruction 6 \(dmastore\): reads acc\[0: 4x4\] before instruction 5",
    ),
    "read back from DRAM before it is stored": (
        READY + "matmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4] #3\nfence\nstore acc[0: 4x4] -> c[0: 4x4/8x1]\n"
        "load c[9: 1x2/8x1] -> acc[64: 1x2]",
        r"instruction 8 \(dmaload\): reads dram c\[9: 1x2/8\] before instruction 7",
    ),
    "never written": (
        READY + "matmul sp[64: 4x4] sp[16: 4x4] -> acc[0: 4x4]",
        r"instruction 5 \(matmul\): reads sp\[64: 4x4\], which nothing has written",
    ),
    "accumulates on nothing": (
        READY + "matmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4] accumulate",
        r"instruction 5 \(matmul\): reads acc\[0: 4x4\], which nothing has written",
    ),
    "beyond the scratchpad": (
        "config ws\nload a[0: 4x4/8x1] -> sp[4081: 4x4]",
        r"instruction 1 \(dmaload\): sp\[4081: 4x4\] ends at 4097; lab4 has sp\[0:4096\]",
    ),
    "before the scratchpad": (
        "config ws\nload a[0: 4x4/8x1] -> sp[-1: 4x4]",
        r"instruction 1 \(dmaload\): sp\[-1: 4x4\]",
    ),
    "beyond the accumulators": (
        READY + "matmul sp[0: 4x4] sp[16: 4x4] -> acc[500: 4x4]",
        r"instruction 5 \(matmul\): acc\[500: 4x4\] ends at 516; lab4 has acc\[0:512\]",
    ),
    "beyond a buffer": (
        "config ws\nload a[0: 9x8/8x1] -> sp[0: 9x8]",
        r"instruction 1 \(dmaload\): a\[0: 9x8/8x1\] reaches element 71; 'a' has 64",
    ),
    "no such buffer": ("config ws\nload z[0: 4x4/8x1] -> sp[0: 4x4]", "no buffer 'z'; the program has a, b, c, s"),
    "into an input": (READY + "store sp[0: 4x4] -> a[0: 4x4/8x1]", r"instruction 5 \(dmastore\): writes 'a', an input"),
    "wrong dtype": ("config ws\nload s[0: 1x8/8x1] -> sp[0: 1x8]", "'s' is float32; this memory takes int8"),
    "wrong number of elements": (
        "config ws\nload a[0: 4x4/8x1] -> sp[0: 4x5]",
        "has 16 elements, the block .* another",
    ),
    "stored as another dtype": (READY + "store sp[0: 4x4] -> c[0: 4x4/8x1]", "'c' is int32; this memory takes int8"),
    "element stored twice": (
        READY + "matmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4]\nfence\nstore acc[0: 4x4] -> c[0: 4x4/2x1]",
        r"instruction 7 \(dmastore\): window \[0: 4x4/2x1\] writes an element twice",
    ),
    "shapes": (READY + "matmul sp[0: 4x3] sp[16: 4x4] -> acc[0: 4x4]", "does not give acc"),
    "overlapping rows": (READY + "matmul sp[0: 4x4/2] sp[16: 4x4] -> acc[0: 4x4]", "a stride of at least its columns"),
    "nothing preloaded": (
        LOADED + "fence\nmatmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4]",
        r"instruction 4 \(matmul\): needs sp\[16: 4x4\] in the array, which holds nothing; preload it first",
    ),
    "preloaded, then overwritten": (
        READY + "fence\nload b[4: 4x4/8x1] -> sp[16: 4x4]\nfence\nmatmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4]",
        r"instruction 8 \(matmul\): needs sp\[16: 4x4\] in the array, which holds nothing",
    ),
    "preload under os": (LOADED.replace("ws", "os") + "fence\npreload sp[16: 4x4]", "nothing is stationary"),
    "no config": ("load a[0: 4x4/8x1] -> sp[0: 4x4]", r"instruction 0 \(dmaload\): a program starts with a config"),
    "two scales": (
        READY + "matmul sp[0: 4x4] sp[16: 4x4] -> acc[0: 4x4]\nfence\n"
        "activate acc[0: 4x4] -> sp[64: 4x4] scale=0.5 scales=acc[0]",
        "one scale and a row of scales",
    ),
}


@pytest.mark.parametrize("simulate", SIMULATORS, ids=["step", "fast"])
@pytest.mark.parametrize("text,message", REFUSED.values(), ids=REFUSED)
def test_refused(text: str, message: str, simulate: Callable[..., Result]) -> None:
    program = parse_program(HEADER + text)
    zeros = {"a": np.zeros((8, 8), np.int8), "b": np.zeros((8, 8), np.int8), "s": np.zeros(8, np.float32)}
    with pytest.raises(CompileError, match=message):
        simulate(program, LAB, zeros)


def test_dtype_that_the_machine_lacks() -> None:
    machine = replace(LAB, energy_pj=replace(LAB.energy_pj, mac={"float32": 1.0}))
    with pytest.raises(CompileError, match="program 'planted' is int8; lab4 multiplies float32"):
        fast.simulate(parse_program(HEADER), machine)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), machine=machines(), work=gemms())
def test_a_fence_taken_out_is_noticed_or_not_needed(data: st.DataObject, machine: Machine, work: Gemm) -> None:
    """Without one of its fences a program is refused by both simulators with one message, or it is still right."""
    program = gemm_program(machine, work)
    fences = [i for i, instruction in enumerate(program.instructions) if isinstance(instruction, Fence)]
    out, given_values = data.draw(st.sampled_from(fences)), values(work, 0)
    rest = replace(program, instructions=program.instructions[:out] + program.instructions[out + 1 :])
    try:
        quick = fast.simulate(rest, machine, given_values)
    except CompileError as refused:
        with pytest.raises(CompileError) as error:
            step.simulate(rest, machine, given_values)
        assert str(error.value) == str(refused) and "instruction" in str(refused)
        return
    reference, tolerance = expected(work, given_values)
    for result in (quick, step.simulate(rest, machine, given_values)):
        assert np.all(np.abs(result.outputs["c"].astype(np.float64) - reference) <= tolerance)


def cells(block: Block) -> set[int]:
    return {block.address + i * block.stride + j for i in range(block.rows) for j in range(block.columns)}


@st.composite
def blocks(draw: st.DrawFn, stride: int) -> Block:
    columns = draw(st.integers(1, stride))
    return Block(draw(st.integers(0, 60)), draw(st.integers(1, 5)), columns, stride)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), stride=st.integers(1, 9))
def test_overlap_of_one_stride_is_exact(data: st.DataObject, stride: int) -> None:
    a, b = data.draw(blocks(stride)), data.draw(blocks(stride))
    assert overlap(a, b) == overlap(b, a) == bool(cells(a) & cells(b))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_overlap_is_never_missed(data: st.DataObject) -> None:
    a, b = (data.draw(blocks(data.draw(st.integers(1, 9)))) for _ in range(2))
    assume(cells(a) & cells(b))
    assert overlap(a, b) and overlap(b, a)
