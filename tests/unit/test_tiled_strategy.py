"""Tile sizes and transform scripts, without a compiler."""

from itertools import product

import numpy as np
import pytest

from pipelines.mlir.tiled.machine import vectors_in
from pipelines.mlir.tiled.nest import Access, LoopNest
from pipelines.mlir.tiled.schedule import tile_script
from pipelines.mlir.tiled.split import part_of
from pipelines.mlir.tiled.strategy import Registers, Split, Tiling, Untiled, choose, register_tile
from pipelines.mlir.tiled.weights import Packing

AVX512, AVX2 = Registers(512, 32), Registers(256, 16)


def walk(*loops: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    return tuple(((loop, 1),) for loop in loops)


def matmul(m: int, k: int, n: int, bits: int = 32) -> LoopNest:
    return LoopNest(
        sizes=(m, n, k),
        parallel=(True, True, False),
        inputs=(Access((m, k), walk(0, 2)), Access((k, n), walk(2, 1))),
        outputs=(Access((m, n), walk(0, 1)),),
        bits=bits,
        multiplies=True,
    )


@pytest.mark.parametrize("machine", [AVX512, AVX2])
@pytest.mark.parametrize("rows", [1, 7, 14, 49, 56, 113, 1024])
@pytest.mark.parametrize("vectors", [1, 2, 3, 4, 31, 64])
def test_register_tile_divides_and_fits(machine: Registers, rows: int, vectors: int) -> None:
    width = machine.bits // 32
    tall, lanes = register_tile(rows, vectors * width, width, machine.accumulators)
    assert rows % tall == 0
    assert (vectors * width) % lanes == 0
    assert tall * lanes // width <= machine.accumulators


def test_tile_of_resnet_shapes_fills_the_registers() -> None:
    assert register_tile(56, 64, 16, AVX512.accumulators) == (4, 64)
    assert register_tile(7, 512, 16, AVX512.accumulators) == (7, 32)


def test_choose_gives_tiles_that_divide() -> None:
    choice = choose(matmul(1024, 1024, 1024), AVX512)
    assert choice == Tiling(outer=(0, 64), inner=(4, 64))


def test_choose_splits_lanes_that_no_vector_divides() -> None:
    assert choose(matmul(8, 5, 1000), AVX512) == Split(1, 992)
    assert choose(matmul(8, 5, 13), AVX512) == Tiling(outer=(0, 13), inner=(8, 13))


def test_choose_splits_a_prime_number_of_rows() -> None:
    assert choose(matmul(127, 5, 16), AVX512) == Split(0, 124)


@pytest.mark.parametrize("machine", [AVX512, AVX2, Registers(128, 16), Registers(128, 32)])
def test_splitting_ends(machine: Registers) -> None:
    """Every cut leaves two parts that are not empty, and after a few cuts all parts have tiles that divide them."""
    for m, n in product([*range(1, 40), 113, 127, 1000], [2, 3, 7, 8, 12, 16, 24, 31, 40, 48, 96, 127, 1000]):
        parts, cuts = [(m, n)], 0
        while parts:
            rows, lanes = parts.pop()
            choice = choose(matmul(rows, 8, lanes), machine)
            if isinstance(choice, Split):
                size = (rows, lanes)[choice.dim]
                assert 0 < choice.at < size
                for part in (choice.at, size - choice.at):
                    parts.append((part, lanes) if choice.dim == 0 else (rows, part))
                cuts += 1
            elif isinstance(choice, Tiling):
                assert rows % choice.inner[0] == 0
                assert lanes % choice.inner[1] == 0
        assert cuts <= 3


def test_choose_counts_wide_elements() -> None:
    choice = choose(matmul(8, 5, 16, bits=64), AVX512)
    assert isinstance(choice, Tiling)
    assert choice.inner[0] * choice.inner[1] * 64 <= AVX512.accumulators * 512


def test_choose_makes_a_piece_for_every_thread() -> None:
    alone, shared = choose(matmul(64, 8, 16), AVX512, 1), choose(matmul(64, 8, 16), AVX512, 2)
    assert isinstance(alone, Tiling)
    assert isinstance(shared, Tiling)
    assert alone.outer == (0, 16)
    assert shared.outer[0] > 0


@pytest.mark.parametrize(
    ("nest", "why"),
    [
        (matmul(4, 4, 1), "last dimension is 1"),
        (matmul(4, 0, 4), "no elements"),
        (
            LoopNest((4, 4), (True, False), (Access((4, 4), walk(0, 1)),), (Access((4, 1), (*walk(0), ())),), 32),
            "loop of its own",
        ),
        (
            LoopNest(
                (4, 8, 4),
                (True, True, False),
                (Access((4, 4), walk(0, 2)), Access((8, 4), walk(1, 2))),
                (Access((4, 8), walk(0, 1)),),
                32,
            ),
            "strided",
        ),
    ],
)
def test_choose_says_why_not(nest: LoopNest, why: str) -> None:
    choice = choose(nest, AVX512)
    assert isinstance(choice, Untiled)
    assert why in choice.reason


def test_part_of_a_strided_window() -> None:
    """Eight outputs from the 40th on, stride 2, window 3: inputs 80 to 97."""
    image = Access((113,), (((0, 2), (1, 1)),))
    assert part_of(image, (56, 3), loop=0, start=40, size=8) == ([80], [17])


def test_script_tiles_root_before_producers() -> None:
    script = tile_script({3: Tiling((0, 32), (8, 32))}, {3: [0, 0, 1]}, [3])
    assert script.index("tile_using_forall %root0 tile_sizes [0, 32]") < script.index("%anchor0 into")
    assert "tile_using_for %anchor2 tile_sizes [0, 0, 1]" in script
    assert "failures(suppress)" in script


def test_packing_cuts_the_last_dimension_into_panels() -> None:
    weight = np.arange(4 * 3 * 2).reshape(4, 3, 2)
    packing = Packing((2, 1, 0), panels=2)
    packed = packing.apply(weight)
    assert packed.shape == packing.shape(weight.shape) == (2, 2, 3, 2)
    assert packed[1, 0, 2, 1] == weight[3, 2, 0]


@pytest.mark.parametrize(
    ("assembly", "machine", "expected"),
    [
        ("vaddps (%rsi), %zmm0, %zmm0", "x86_64", AVX512),
        ("vaddps (%rsi), %ymm0, %ymm0", "x86_64", AVX2),
        ("addps (%rsi), %xmm0", "x86_64", Registers(128, 16)),
        ("fadd v0.4s, v0.4s, v1.4s", "aarch64", Registers(128, 32)),
    ],
)
def test_registers_by_name(assembly: str, machine: str, expected: Registers) -> None:
    assert vectors_in(assembly, machine) == expected
