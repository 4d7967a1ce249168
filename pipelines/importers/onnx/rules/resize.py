"""Resize, one axis after the other: each is a linear map with few taps, known when the sizes are."""

import math
from typing import Any

import numpy as np

from pipelines.importers.onnx.graph import Array, Value
from pipelines.importers.onnx.rewrite import Rewrite
from workbench.core.errors import CompileError

MOST_TAPS = 8
"""With more taps to an element (antialiased shrinking) a matrix product is shorter than a sum of gathers."""


def resize(r: Rewrite) -> list[Value]:
    """Gathers along each resized axis, weighted and added; in floating point also for integers."""
    shape, result = r.shape(), r.result_shape()
    axes = [a % len(shape) for a in r.options.get("axes", range(len(shape)))]
    scales, roi = _scales(r, axes), r.known(1)
    exact = r.options.get("mode", "nearest") == "nearest"
    if exact and r.options.get("antialias"):
        raise CompileError(f"Resize at node '{r.node.name}': antialias has no meaning with mode nearest")
    integer = r.dtype().kind in "iu" and not exact
    value = r.cast(r.input(0), np.float32) if integer else r.input(0)
    kind = np.dtype(np.float32) if integer else r.dtype()
    for i, axis in enumerate(axes):
        part = (float(roi[i]), float(roi[i + len(axes)])) if roi is not None and roi.size else (0.0, 1.0)
        if shape[axis] == result[axis] and math.isclose(scales[i], 1.0) and part == (0.0, 1.0):
            continue
        x, outside = coordinates(r, shape[axis], result[axis], scales[i], part)
        rest = (*result[: axis + 1], *shape[axis + 1 :])
        value = _along(r, value, axis, taps(r, x, shape[axis], scales[i]), kind, rest)
        if outside.any():
            column = outside.reshape([-1 if d == axis else 1 for d in range(len(shape))])
            filler = r.const(r.options.get("extrapolation_value", 0.0), kind)
            value = r.op("Where", r.const(column, np.bool_), filler, value)
    return [_to_integer(r, value) if integer else r.op("Identity", value)]


def _to_integer(r: Rewrite, value: Value) -> Value:
    """Round half to even, within the range of the type."""
    limits = np.iinfo(r.dtype())
    low, high = (r.const(v, np.float32) for v in (limits.min, limits.max))
    return r.cast(r.op("Clip", r.op("Round", value), low, high), r.dtype())


def _scales(r: Rewrite, axes: list[int]) -> list[float]:
    """How much larger the result is along each of `axes`."""
    scales, sizes = r.known(2), r.known(3)
    if scales is not None and scales.size:
        return [float(s) for s in scales]
    assert sizes is not None, "Resize with neither scales nor sizes passed the checks"
    ratios = [int(n) / r.shape()[axis] for n, axis in zip(sizes, axes, strict=True)]
    policy = r.options.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return ratios
    return [min(ratios) if policy == "not_larger" else max(ratios)] * len(axes)


def coordinates(r: Rewrite, n: int, out: int, scale: float, part: tuple[float, float]) -> tuple[Array, Array]:
    """Where each element of the result lies in the input, and which lie outside the part that was asked for."""
    y, width = np.arange(out, dtype=np.float64), scale * n
    half = (y + 0.5) / scale - 0.5
    inside = np.zeros(out, np.bool_)
    match r.options.get("coordinate_transformation_mode", "half_pixel"):
        case "align_corners":
            return (np.zeros(out) if width == 1 else y * (n - 1) / (width - 1)), inside
        case "asymmetric":
            return y / scale, inside
        case "pytorch_half_pixel":
            return (np.full(out, -0.5) if width == 1 else half), inside
        case "half_pixel_symmetric":
            return n / 2 * (1 - out / width) + half, inside
        case "tf_crop_and_resize":
            start, end = part
            x = np.full(out, 0.5) if width == 1 else y / (width - 1)
            x = x * (end - start) * (n - 1) + start * (n - 1)
            return x, (x < 0) | (x > n - 1)
        case _:
            return half, inside


def taps(r: Rewrite, x: Array, n: int, scale: float) -> Array:
    """The weights [out, n] of the input's elements; those beyond an end count for the last one."""
    mode = r.options.get("mode", "nearest")
    if mode == "nearest":
        rounding = {
            "floor": np.floor(x),
            "ceil": np.ceil(x),
            "round_prefer_ceil": np.floor(x + 0.5),
            "round_prefer_floor": np.ceil(x - 0.5),
        }
        at = rounding[r.options.get("nearest_mode", "round_prefer_floor")]
        return np.eye(n)[np.clip(at, 0, n - 1).astype(np.int64)]
    radius = 2 if mode == "cubic" else 1
    antialias = bool(r.options.get("antialias"))
    shrink = min(scale, 1.0) if antialias else 1.0
    first = math.floor(-radius / shrink) + 1
    offsets = np.arange(first, 2 - first)
    base = np.floor(x)
    distance = np.abs(shrink * (offsets[None, :] - (x - base)[:, None]))
    weights = _cubic(distance, r.options.get("cubic_coeff_a", -0.75)) if radius == 2 else np.maximum(1 - distance, 0)
    at = (base[:, None] + offsets).astype(np.int64)
    if r.options.get("exclude_outside"):
        weights = np.where((at < 0) | (at >= n), 0.0, weights)
    if antialias or r.options.get("exclude_outside"):
        weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((len(x), n))
    np.add.at(matrix, (np.arange(len(x))[:, None], np.clip(at, 0, n - 1)), weights)
    return matrix


def _cubic(t: Array, a: float) -> Array:
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


def _along(r: Rewrite, value: Value, axis: int, matrix: Array, kind: "np.dtype[Any]", shape: tuple[int, ...]) -> Value:
    """Apply [out, n] weights along one axis."""
    count = max(1, int((matrix != 0).sum(axis=1).max(initial=1)))
    if count > MOST_TAPS:
        order = [d for d in range(len(shape)) if d != axis] + [axis]
        moved = r.op("MatMul", r.op("Transpose", value, perm=order), r.const(matrix.T, kind))
        return r.op("Transpose", moved, perm=[order.index(d) for d in range(len(shape))])
    order = np.argsort(matrix == 0, axis=1, kind="stable")[:, :count]
    weights = np.take_along_axis(matrix, order, axis=1)
    # A row with fewer taps reads its first element again with weight zero, never one its result does not depend on.
    order = np.where(weights == 0, order[:, :1], order)
    total = ""
    for k in range(count):
        part = r.op("Gather", value, r.const(order[:, k], np.int64), axis=axis)
        if not np.all(weights[:, k] == 1):
            column = weights[:, k].reshape([-1 if d == axis else 1 for d in range(len(shape))])
            part = r.op("Mul", part, r.const(column, kind))
        total = r.op("Add", total, part) if total else part
    return total
