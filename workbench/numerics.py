"""Is a result right? Error against a float64 reference, with a tolerance scaled to the output."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

TOLERANCE = {"float64": 1e-10, "float32": 2e-5, "float16": 1e-2, "bfloat16": 5e-2}
"""Largest accepted error, relative to the largest magnitude of the reference. Other dtypes must be equal."""


@dataclass(frozen=True)
class Verdict:
    """Outcome for one output.

    `error` is max|got - want| / max|want| over finite elements (0 for equal integers), `tolerance` the limit used.
    `reason` is "" when right. `weak` says that the reference is constant, so that a constant result would pass too.
    """

    output: str
    ok: bool
    error: float
    tolerance: float
    reason: str = ""
    weak: bool = False

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; an infinite error is null."""
        return asdict(self) | {"error": self.error if math.isfinite(self.error) else None}


def judge(
    name: str, got: "np.ndarray[Any, Any]", want: "np.ndarray[Any, Any]", tolerance: float | None = None
) -> Verdict:
    """Compare an output with its float64 reference; the dtype of `got` sets the tolerance unless one is given.

    Shapes must agree, and NaN and infinities must stand in the same places.
    """
    limit = TOLERANCE.get(got.dtype.name, 0.0) if tolerance is None else tolerance
    weak = want.size > 1 and bool(np.all(want == want.flat[0]))

    def wrong(reason: str, error: float = float("inf")) -> Verdict:
        return Verdict(name, False, error, limit, reason, weak)

    if got.shape != want.shape:
        return wrong(f"shape {list(got.shape)}, expected {list(want.shape)}")
    if got.size == 0:
        return Verdict(name, True, 0.0, limit, weak=weak)
    if got.dtype.kind != want.dtype.kind and "c" in (got.dtype.kind, want.dtype.kind):
        return wrong(f"{got.dtype.name}, expected {want.dtype.name}")
    if got.dtype.kind in "iub" and want.dtype.kind in "iub" and limit == 0:
        return _judge_exact(name, got, want, weak)
    a, b = _comparable(got), _comparable(want)
    for what, test in (("NaN", np.isnan), ("infinity", np.isinf)):
        places = test(a) != test(b)
        if places.any():
            return wrong(f"{what} in {int(places.sum())} of {got.size} places where the reference differs")
    finite = np.isfinite(b)
    if np.any(a[~finite & ~np.isnan(b)] != b[~finite & ~np.isnan(b)]):
        return wrong("an infinity has the wrong sign")
    gaps = np.abs(np.subtract(a, b, where=finite, out=np.zeros_like(a)))
    gap = float(gaps.max())
    scale = float(np.max(np.abs(b), where=finite, initial=0.0))
    error = gap / scale if scale > 0 else gap
    if error > limit:
        at = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        return wrong(f"off by {gap:.3g} at {[int(i) for i in at]} (got {a[at]:.6g}, expected {b[at]:.6g})", error)
    return Verdict(name, True, error, limit, weak=weak)


def _comparable(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """float64; complex numbers as pairs of their parts."""
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], axis=-1).astype(np.float64)
    return array.astype(np.float64)


def _judge_exact(name: str, got: "np.ndarray[Any, Any]", want: "np.ndarray[Any, Any]", weak: bool) -> Verdict:
    """Integers as they are: float64 cannot tell 2^53 from 2^53 + 1."""
    differs = got != want
    if not differs.any():
        return Verdict(name, True, 0.0, 0.0, weak=weak)
    at = np.unravel_index(int(np.argmax(differs)), got.shape)
    reason = f"{int(differs.sum())} of {got.size} integers differ, first at {[int(i) for i in at]}"
    return Verdict(name, False, float("inf"), 0.0, f"{reason} (got {got[at]}, expected {want[at]})", weak)


def judge_all(
    got: Mapping[str, "np.ndarray[Any, Any]"],
    want: Mapping[str, "np.ndarray[Any, Any]"],
    tolerance: float | None = None,
) -> list[Verdict]:
    """`judge` for every output of the reference; an output that was not given is wrong."""
    out: list[Verdict] = []
    for name, expected in want.items():
        if name in got:
            out.append(judge(name, got[name], expected, tolerance))
        else:
            out.append(Verdict(name, False, float("inf"), 0.0, "the output is missing"))
    return out
