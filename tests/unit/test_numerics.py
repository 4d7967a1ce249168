"""The judge: right results pass, and the usual impostors do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.numerics import TOLERANCE, judge, judge_all

RNG = np.random.default_rng(0)
WANT = RNG.normal(size=(4, 5)) * 100


def test_rounding_passes() -> None:
    verdict = judge("y", WANT.astype(np.float32), WANT)
    assert verdict.ok
    assert 0 < verdict.error < 1e-6


@pytest.mark.parametrize(
    "got",
    [
        np.zeros_like(WANT),
        np.full_like(WANT, WANT.mean()),
        RNG.normal(size=WANT.shape) * 100,
        np.full_like(WANT, np.nan),
        WANT * (1 + 1e-3),
        np.where(np.arange(20).reshape(4, 5) == 7, np.nan, WANT),
        np.where(np.arange(20).reshape(4, 5) == 7, np.inf, WANT),
    ],
    ids=["zeros", "constant", "another output", "unwritten", "off", "one nan", "one inf"],
)
def test_impostors_do_not_pass(got: np.ndarray) -> None:
    verdict = judge("y", got.astype(np.float32), WANT)
    assert not verdict.ok
    assert verdict.reason


def test_nan_and_infinity_must_stand_in_the_same_places() -> None:
    want = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert judge("y", want.astype(np.float32), want).ok
    assert not judge("y", np.array([np.nan, np.inf, np.inf, 1.0], np.float32), want).ok


def test_shapes_must_agree() -> None:
    assert "shape [20]" in judge("y", WANT.ravel(), WANT).reason


def test_integers_must_be_equal() -> None:
    assert judge("y", np.array([1, 2]), np.array([1, 2])).ok
    assert not judge("y", np.array([1, 3]), np.array([1, 2])).ok
    large = 2**53
    assert not judge("y", np.array([large]), np.array([large + 1])).ok
    assert not judge("y", np.array([2**64 - 1], np.uint64), np.array([-1])).ok


def test_both_parts_of_complex_numbers_count() -> None:
    want = np.array([1 + 2j, 3 - 4j])
    assert judge("y", want, want, 1e-6).ok
    assert not judge("y", want.conj(), want, 1e-6).ok
    assert not judge("y", want.real, want, 1e-6).ok


def test_empty_outputs_are_right() -> None:
    assert judge("y", np.zeros((0, 3), np.float32), np.zeros((0, 3))).ok


def test_a_constant_reference_is_marked_weak() -> None:
    assert judge("y", np.ones(4, np.float32), np.ones(4)).weak


def test_a_missing_output_is_wrong() -> None:
    (verdict,) = judge_all({}, {"y": WANT})
    assert "missing" in verdict.reason


@given(hnp.arrays(np.float64, (6,), elements=st.floats(-1e6, 1e6)), st.integers(-300, 300))
def test_the_verdict_does_not_depend_on_scale(want: np.ndarray, exponent: int) -> None:
    """Scaling output and reference by a power of two leaves the error as it was."""
    got = want * (1 + 1e-7)
    factor = 2.0**exponent
    if np.max(np.abs(want)) * factor < 1e-290 or np.max(np.abs(want)) < 1e-200:
        return
    a, b = judge("y", got, want, TOLERANCE["float32"]), judge("y", got * factor, want * factor, TOLERANCE["float32"])
    assert a.ok == b.ok
    assert a.error == pytest.approx(b.error)
