"""Machines, work and values that hypothesis draws, and what numpy says the result is."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from byoc.systolic.gemm import Conv2d, Epilogue, Gemm, Tiling, Work
from byoc.systolic.layout import Layout
from byoc.systolic.machine import Dataflow, Energy, Machine
from workbench.core.arrays import Array, Arrays, numpy_dtype

DTYPES = ("int8", "float16", "bfloat16", "float32")
ENERGY = Energy({"int8": 0.5, "float16": 1.0, "bfloat16": 1.0, "float32": 2.0}, 1.5, 2.5, 100.0)
SMALLEST = {"int8": 0.0, "float16": 2.0**-25, "bfloat16": 2.0**-134, "float32": 2.0**-150}
"""Half the step between the subnormals of a type."""
EPSILON = {"int8": 0.0, "float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24}


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    return Machine(
        name="drawn",
        rows=draw(st.integers(4, 7)),
        columns=draw(st.integers(4, 7)),
        dataflow=draw(st.sampled_from(list(Dataflow))),
        scratchpad_bytes=draw(st.integers(1024, 4096)),
        accumulator_bytes=draw(st.integers(1024, 4096)),
        double_buffered=draw(st.booleans()),
        dram_bytes_per_cycle=draw(st.integers(1, 40)),
        dram_latency_cycles=draw(st.integers(0, 50)),
        dma_channels=draw(st.integers(1, 4)),
        clock_mhz=100.0,
        energy_pj=ENERGY,
    )


@st.composite
def epilogues(draw: st.DrawFn, dtype: str) -> Epilogue:
    scaling = draw(st.sampled_from(["none", "one", "column"]))
    clip = st.tuples(st.integers(-100, 0), st.integers(1, 100))
    return Epilogue(
        bias=draw(st.booleans()),
        relu=draw(st.booleans()),
        scale=float(np.float32(draw(st.floats(1e-3, 2.0)))) if scaling == "one" else None,
        per_column=scaling == "column",
        zero_point=draw(st.integers(-20, 20)) if dtype == "int8" else 0,
        clip=draw(st.none() | clip),
        narrow=draw(st.booleans()),
    )


@st.composite
def gemms(draw: st.DrawFn) -> Gemm:
    dtype, size = draw(st.sampled_from(DTYPES)), st.integers(1, 19)
    return Gemm(
        m=draw(size),
        k=draw(size),
        n=draw(size),
        dtype=dtype,
        batch=draw(st.integers(1, 2)),
        b_transposed=draw(st.booleans()),
        epilogue=draw(epilogues(dtype)),
    )


@st.composite
def convs(draw: st.DrawFn) -> Conv2d:
    dtype, small = draw(st.sampled_from(DTYPES)), st.integers(1, 3)
    kh, kw = draw(small), draw(small)
    return Conv2d(
        n=draw(st.integers(1, 2)),
        h=draw(st.integers(kh, 6)),
        w=draw(st.integers(kw, 6)),
        c=draw(st.integers(1, 5)),
        oc=draw(st.integers(1, 9)),
        kh=kh,
        kw=kw,
        stride=(draw(st.integers(1, 2)), draw(st.integers(1, 2))),
        dtype=dtype,
        epilogue=draw(epilogues(dtype)),
    )


@st.composite
def tilings(draw: st.DrawFn, machine: Machine, work: Work) -> Tiling | None:
    """Tiles that fit; None leaves the choice to the search."""
    gemm, size = work.matrix, st.integers(1, 12)
    tiling = Tiling(draw(size), draw(size), draw(size), draw(st.sampled_from(["mn", "nm"]))).within(gemm)
    fits = Layout.of(machine, work, tiling).fits(machine, work.dtype)
    return tiling if fits and draw(st.booleans()) else None


def values(work: Work, seed: int) -> Arrays:
    """Every input buffer of the work's program."""
    rng, n = np.random.default_rng(seed), work.matrix.n

    def draw(shape: tuple[int, ...]) -> Array:
        if work.dtype == "int8":
            return rng.integers(-128, 128, shape, dtype=np.int8)
        return rng.standard_normal(shape).astype(numpy_dtype(work.dtype))

    integer = work.dtype == "int8"
    bias = rng.integers(-999, 999, n, dtype=np.int32) if integer else rng.standard_normal(n).astype(np.float32)
    scale = (rng.random(n) + 0.01).astype(np.float32)
    return {"a": draw(work.a_shape), "b": draw(work.b_shape), "bias": bias, "scale": scale}


def matrices(work: Work, given: Arrays, wide: Any) -> tuple[Array, Array]:
    """A and B of the product, [batch, m, k] and [batch, k, n], in another dtype; im2col by slicing."""
    a, b = given["a"].astype(wide), given["b"].astype(wide)
    if isinstance(work, Gemm):
        return a, b.transpose(0, 2, 1) if work.b_transposed else b
    (oh, ow), (down, right) = work.out, work.stride
    taps = [
        a[:, i : i + down * (oh - 1) + 1 : down, j : j + right * (ow - 1) + 1 : right]
        for i in range(work.kh)
        for j in range(work.kw)
    ]
    return np.stack(taps, 3).reshape(1, work.matrix.m, work.matrix.k), b.reshape(1, work.matrix.k, work.oc)


def expected(work: Work, given: Arrays) -> tuple[Array, Array]:
    """The result in float64 (int8: exact) and how far from it a result of the work's dtype may be."""
    epilogue, integer = work.epilogue, work.dtype == "int8"
    a, b = matrices(work, given, np.int64 if integer else np.float64)
    x = a @ b
    error = np.abs(a) @ np.abs(b) * (work.matrix.k + 4) * 2.0**-24
    if epilogue.bias:
        x, error = x + given["bias"], error + np.abs(given["bias"]) * 2.0**-22
    if epilogue.relu:
        x = np.maximum(x, 0)
    scale = epilogue.scale if epilogue.scale is not None else given["scale"] if epilogue.per_column else None
    if scale is not None and integer:
        x = np.rint(x.astype(np.float32) * np.float32(scale)).astype(np.float64)
    elif scale is not None:
        x, error = x * scale, error * scale + np.abs(x * scale) * 2.0**-22
    if integer:
        x = np.clip(
            x + epilogue.zero_point * (not epilogue.plain), *((-128, 127) if epilogue.narrow else (-(2**31), 2**31 - 1))
        )
    if epilogue.clip is not None:
        x = np.clip(x, *epilogue.clip)
    result = work.dtype if epilogue.narrow else "float32"
    tolerance = 0 * error if integer else error + EPSILON[result] * np.abs(x) + SMALLEST[result]
    return x.reshape(work.c_shape), tolerance.reshape(work.c_shape)
