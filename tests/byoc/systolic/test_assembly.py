"""The assembler reads what the disassembler prints, and refuses what it cannot read by line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byoc.systolic.assembly import parse_program, print_program
from byoc.systolic.gemm import Work
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import ACCUMULATOR_DTYPE, Dataflow, Machine
from byoc.systolic.program import (
    Activate,
    Block,
    Buffer,
    Config,
    DmaLoad,
    DmaStore,
    Dram,
    Fence,
    Matmul,
    Memory,
    Preload,
    Program,
    Role,
)
from tests.byoc.systolic.drawn import convs, gemms, machines
from workbench.core.errors import UsageError

NUMBER, TAG = st.integers(-(2**40), 2**40), st.integers(0, 99)
SIZE = st.integers(1, 2**31)
NAME = st.text(min_size=1, max_size=8)
REAL = st.floats(allow_nan=False)
BLOCK = st.builds(Block, NUMBER, SIZE, SIZE, SIZE)
DIMENSIONS = st.lists(st.tuples(SIZE, st.integers(0, 2**31)), min_size=1, max_size=5)
DRAM = st.builds(lambda n, o, d: Dram(n, o, tuple(s for s, _ in d), tuple(t for _, t in d)), NAME, NUMBER, DIMENSIONS)
MEMORY = st.sampled_from(Memory)
INSTRUCTION = st.one_of(
    st.builds(Config, st.sampled_from(Dataflow)),
    st.builds(DmaLoad, DRAM, MEMORY, BLOCK, TAG),
    st.builds(DmaStore, MEMORY, BLOCK, DRAM, TAG),
    st.builds(Preload, BLOCK),
    st.builds(Matmul, BLOCK, BLOCK, BLOCK, st.booleans(), TAG),
    st.builds(
        Activate,
        BLOCK,
        MEMORY,
        BLOCK,
        bias=st.none() | NUMBER,
        relu=st.booleans(),
        scale=st.none() | REAL,
        scales=st.none() | NUMBER,
        zero_point=NUMBER,
        clip=st.none() | st.tuples(REAL, REAL),
        tag=TAG,
    ),
    st.builds(Fence, st.lists(TAG, max_size=4).map(tuple)),
)
SHAPE = st.lists(SIZE, min_size=1, max_size=4).map(tuple)
BUFFER = st.builds(Buffer, NAME, SHAPE, st.sampled_from(["int8", "int32", "float32"]), st.sampled_from(Role))
PROGRAM = st.builds(
    Program,
    NAME,
    st.sampled_from(list(ACCUMULATOR_DTYPE)),
    st.lists(BUFFER, max_size=3).map(tuple),
    st.lists(INSTRUCTION, max_size=8).map(tuple),
)


@settings(max_examples=300, deadline=None)
@given(PROGRAM)
def test_any_instruction_round_trips(program: Program) -> None:
    assert parse_program(print_program(program)) == program


@settings(max_examples=50, deadline=None)
@given(machine=machines(), work=st.one_of(gemms(), convs()))
def test_lowered_programs_round_trip(machine: Machine, work: Work) -> None:
    program = gemm_program(machine, work)
    assert parse_program(print_program(program)) == program


def test_comments_and_numbers_are_not_read() -> None:
    text = "program p int8 ; a comment\n\n  0: config os\nconfig os ; another\n7: fence #3"
    assert parse_program(text).instructions == (Config(Dataflow.OS), Config(Dataflow.OS), Fence((3,)))


@pytest.mark.parametrize(
    "text,message",
    {
        "": "line 1: a program starts with",
        "config ws": "line 1: expected 'program', found 'config'",
        "program p int4": "line 1: expected one of int8, float16, bfloat16, float32, found 'int4'",
        "program p int8\nconfig up": "line 2: expected one of ws, os, is, found 'up'",
        "program p int8\nmultiply": "line 2: expected one of config, load, .*, found 'multiply'",
        "program p int8\n\npreload acc[0: 4x4]": r"line 3: expected one of sp, found 'acc'",
        "program p int8\npreload sp[0: 4]": "line 2: a block has rows and columns, not 1 sizes",
        "program p int8\npreload sp[x: 4x4]": "line 2: expected an integer, found 'x'",
        "program p int8\nload a[0: 4x4/8x1] -> sp[0: 4x4] #1 #2": "line 2: '#2' is one word too many",
        "program p int8\nload a[0: 4x4/8x1] sp[0: 4x4]": "line 2: expected '->', found 'sp'",
        "program p int8\nload a[0: 4x4/8x1]": "line 2: expected '->' at the end",
        "program p int8\nfence @": "line 2: cannot read '@'",
        "program p int8\nbuffer a in int8[4xy]": "line 2: expected sizes such as 4x4, found '4xy'",
        'program p int8\nbuffer "\\q" in int8[4]': "line 2: expected a name, found",
    }.items(),
)
def test_what_cannot_be_read_is_named_by_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_program(text)
