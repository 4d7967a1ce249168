"""Quantised operators as arithmetic on the numbers that the integers stand for, or on the integers themselves."""

from typing import Any

import numpy as np

from pipelines.importers.onnx.graph import Value
from pipelines.importers.onnx.rewrite import Rewrite

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32")
"""Types that are converted here; others (4 bits, float8) are left to the conversion, which refuses most by name."""


def dequantize(r: Rewrite) -> list[Value] | None:
    """(x - zero) scale, scale and zero point spread over their axis or blocks."""
    if r.dtype().name not in INTEGERS:
        return None
    kind = r.graph.dtype(r.node.output[0])
    steps = r.cast(r.input(0), np.int32)
    if r.input(2):
        steps = r.op("Sub", steps, _spread(r, r.cast(r.input(2), np.int32), 2))
    scale = _spread(r, r.cast(r.input(1), np.float32), 1)
    return [r.cast(r.op("Mul", r.cast(steps, np.float32), scale), kind)]


def quantize(r: Rewrite) -> list[Value] | None:
    """saturate(round_half_even(x / scale) + zero)."""
    kind = r.graph.dtype(r.node.output[0])
    if kind.name not in INTEGERS or kind.name == "int16":  # no conversion makes int16 of a float, but for this one
        return None
    x = r.op("Div", r.cast(r.input(0), np.float32), _spread(r, r.cast(r.input(1), np.float32), 1))
    zero = _spread(r, r.cast(r.input(2), np.float32), 2) if r.input(2) else ""
    return [saturate(r, x, zero, kind)]


def saturate(r: Rewrite, x: Value, zero: Value, kind: "np.dtype[Any]") -> Value:
    """Round to even, add the zero point, keep within the range of an integer type. `x` is float32."""
    limits = np.iinfo(kind)
    steps = r.op("Round", x)
    steps = r.op("Add", steps, zero) if zero else steps
    # Whole numbers of float32 end at 2^24; the limits of int32 are the nearest float32 inside its range.
    low, high = (
        np.nextafter(np.float32(v), np.float32(0)) if kind.itemsize == 4 else v for v in (limits.min, limits.max)
    )
    return r.cast(r.op("Clip", steps, r.const(low, np.float32), r.const(high, np.float32)), kind)


def _spread(r: Rewrite, value: Value, position: int) -> Value:
    """A scale or zero point in a shape that broadcasts against the node's input."""
    own, shape = r.shape(position), r.shape()
    if len(own) == 0 or own == (1,):
        return r.op("Reshape", value, r.ints()) if own else value
    axis = r.options.get("axis", 1)
    axis += len(shape) if axis < 0 else 0
    block = r.options.get("block_size", 0)
    if block:
        at = np.minimum(np.arange(shape[axis]) // block, own[axis] - 1)
        return r.op("Gather", value, r.const(at, np.int64), axis=axis)
    return r.op("Reshape", value, r.ints(*(-1 if d == axis else 1 for d in range(len(shape)))))


def matmul_integer(r: Rewrite) -> list[Value]:
    """(a - zero_a) (b - zero_b) in int32."""
    return [r.op("MatMul", _centred(r, 0, 2, -2, np.int32), _centred(r, 1, 3, -1, np.int32))]


def conv_integer(r: Rewrite) -> list[Value]:
    """(x - zero_x) convolved with (w - zero_w), summed in float64, which holds every such sum exactly."""
    x, w = _centred(r, 0, 2, None, np.float64), _centred(r, 1, 3, 0, np.float64)
    return [r.cast(r.op("Conv", x, w, **r.options), np.int32)]


def qlinear_matmul(r: Rewrite) -> list[Value]:
    """The integer product, scaled to the steps of the result."""
    product = r.op("MatMul", _centred(r, 0, 2, -2, np.int32), _centred(r, 3, 5, -1, np.int32))
    scale = r.op("Mul", _line(r, 1, -2), _line(r, 4, -1))
    return [_requantize(r, r.cast(product, np.float32), scale, 6, 7)]


def qlinear_conv(r: Rewrite) -> list[Value]:
    """The integer convolution with its integer bias, scaled to the steps of the result."""
    x, w = _centred(r, 0, 2, None, np.float64), _centred(r, 3, 5, 0, np.float64)
    inputs = [x, w, *([r.cast(r.input(8), np.float64)] if r.input(8) else [])]
    total = r.cast(r.op("Conv", *inputs, **r.options), np.float32)
    channels = [-1, *[1] * (len(r.shape()) - 2)]
    scale = r.op("Mul", r.op("Reshape", r.input(4), r.ints(*channels)), r.op("Reshape", r.input(1), r.ints(1)))
    return [_requantize(r, total, scale, 6, 7)]


def _requantize(r: Rewrite, total: Value, scale: Value, result_scale: int, zero: int) -> Value:
    step = r.op("Reshape", r.cast(r.input(result_scale), np.float32), r.ints(1))
    x = r.op("Mul", total, r.op("Div", r.cast(scale, np.float32), step))
    shift = r.op("Reshape", r.cast(r.input(zero), np.float32), r.ints(1))
    return saturate(r, x, shift, r.graph.dtype(r.node.output[0]))


def _centred(r: Rewrite, position: int, zero: int, axis: int | None, kind: Any) -> Value:
    """An integer operand minus its zero point, which has one value or one for each index of `axis`."""
    value = r.cast(r.input(position), kind)
    if not r.input(zero):
        return value
    own, rank = r.shape(zero), len(r.shape(position))
    shift = r.cast(r.input(zero), kind)
    if len(own) == 1:
        shape = [-1 if axis is not None and d == axis % rank else 1 for d in range(rank)] if own[0] > 1 else [1]
        shift = r.op("Reshape", shift, r.ints(*shape))
    return r.op("Sub", value, shift)


def _line(r: Rewrite, position: int, axis: int) -> Value:
    """A scale of one value, or of one for each row (-2) or column (-1), against a matrix."""
    value = r.cast(r.input(position), np.float32)
    if len(r.shape(position)) != 1 or axis == -1:
        return value
    return r.op("Reshape", value, r.ints(-1, 1))
