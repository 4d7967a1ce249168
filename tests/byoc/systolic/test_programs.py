"""Programs that no lowering would write: step and fast still agree on whatever is legal."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from byoc.systolic import fast, step
from byoc.systolic.legality import check
from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.program import (
    Activate,
    Block,
    Buffer,
    Config,
    DmaLoad,
    DmaStore,
    Dram,
    Fence,
    Instruction,
    Matmul,
    Memory,
    Preload,
    Program,
    Role,
)
from tests.byoc.systolic.drawn import machines
from workbench.core.errors import CompileError

BUFFERS = (
    Buffer("a", (512,), "int8", Role.IN),
    Buffer("scale", (256,), "float32", Role.IN),
    Buffer("out", (512,), "int8", Role.OUT),
    Buffer("sums", (256,), "int32", Role.OUT),
)
FILLED: list[Instruction] = [
    DmaLoad(Dram("a", 0, (1, 512), (512, 1)), Memory.SCRATCHPAD, Block(0, 1, 512, 512)),
    DmaLoad(Dram("sums", 0, (1, 256), (256, 1)), Memory.ACCUMULATOR, Block(0, 1, 256, 256)),
    Fence(),
]
SIZE, TAG = st.integers(1, 9), st.integers(0, 3)


@st.composite
def block(draw: st.DrawFn, room: int, rows: int, columns: int) -> Block:
    stride = columns + draw(st.sampled_from([0, 0, 1, 3]))
    span = (rows - 1) * stride + columns
    return Block(draw(st.sampled_from(range(0, room - span + 1, 16))), rows, columns, stride)


@st.composite
def products(draw: st.DrawFn, dataflow: Dataflow) -> list[Instruction]:
    """A Matmul, often with its Preload, sometimes two that share it."""
    m, k, n = draw(SIZE), draw(SIZE), draw(SIZE)
    a, b = draw(block(512, m, k)), draw(block(512, k, n))
    held = [] if dataflow is Dataflow.OS else [Preload(a if dataflow is Dataflow.IS else b)]
    times = draw(st.integers(1, 2))
    more = [Matmul(a, b, draw(block(256, m, n)), draw(st.booleans()), draw(TAG)) for _ in range(times)]
    return [*held, *more]


@st.composite
def transfers(draw: st.DrawFn) -> list[Instruction]:
    rows, columns = draw(SIZE), draw(SIZE)
    memory, room = draw(st.sampled_from([(Memory.SCRATCHPAD, 512), (Memory.ACCUMULATOR, 256)]))
    names = ["a", "out"] if memory is Memory.SCRATCHPAD else ["scale", "sums"]
    strides = draw(st.sampled_from([(columns, 1), (columns + 2, 1), (1, rows)]))
    window = Dram(draw(st.sampled_from(names)), draw(st.integers(0, 9)), (rows, columns), strides)
    here, tag = draw(block(room, rows, columns)), draw(TAG)
    store = window.buffer in ("out", "sums") and draw(st.booleans())
    return [DmaStore(memory, here, window, tag) if store else DmaLoad(window, memory, here, tag)]


@st.composite
def activations(draw: st.DrawFn) -> list[Instruction]:
    rows, columns = draw(SIZE), draw(SIZE)
    memory, room = draw(st.sampled_from([(Memory.SCRATCHPAD, 512), (Memory.ACCUMULATOR, 256)]))
    return [
        Activate(
            draw(block(256, rows, columns)),
            memory,
            draw(block(room, rows, columns)),
            bias=draw(st.none() | st.integers(0, 240)),
            relu=draw(st.booleans()),
            scale=draw(st.none() | st.sampled_from([0.5, 0.01])),
            zero_point=draw(st.integers(-3, 3)),
            clip=draw(st.none() | st.just((-5.0, 60.0))),
            tag=draw(TAG),
        )
    ]


@st.composite
def programs(draw: st.DrawFn, machine: Machine) -> Program:
    """Instructions at random, those left out that are not legal where they stand."""
    kept = Program("drawn", "int8", BUFFERS, (Config(machine.dataflow), *FILLED))
    dataflow = machine.dataflow
    for _ in range(draw(st.integers(1, 12))):
        group: list[Instruction] = draw(
            st.one_of(
                products(dataflow),
                transfers(),
                activations(),
                st.lists(TAG, max_size=2).map(lambda tags: [Fence(tuple(tags))]),
                st.sampled_from(Dataflow).map(lambda flow: [Config(flow)]),
            )
        )
        longer = replace(kept, instructions=(*kept.instructions, *group))
        try:
            check(longer, machine)
        except CompileError:
            continue
        kept = longer
        dataflow = next((i.dataflow for i in group if isinstance(i, Config)), dataflow)
    return kept


@settings(max_examples=150, deadline=None)
@given(data=st.data(), machine=machines(), seed=st.integers(0, 9))
def test_any_legal_program(data: st.DataObject, machine: Machine, seed: int) -> None:
    program, rng = data.draw(programs(machine)), np.random.default_rng(seed)
    given_values = {
        "a": rng.integers(-128, 128, 512, dtype=np.int8),
        "scale": rng.random(256).astype(np.float32),
    }
    stepped, quick = step.simulate(program, machine, given_values), fast.simulate(program, machine, given_values)
    for name, values in stepped.outputs.items():
        assert np.array_equal(values, quick.outputs[name]), name
    assert replace(stepped, outputs={}) == replace(quick, outputs={}, events=tuple(sorted(quick.events)))
