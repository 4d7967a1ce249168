"""Convolution and pooling over sliding windows: what onnx.reference computes, in a tenth of the time.

onnx.reference walks over output elements in Python, which takes ten seconds for an Inception. Rare forms (automatic
padding, rounding up, indices of maxima) are left to it.
"""

# onnx.reference calls `_run` with inputs by place and attributes by name; its own declarations are untyped.
# pyright: reportIncompatibleMethodOverride=false

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx.defs import get_schema
from onnx.reference.ops import op_average_pool, op_conv, op_max_pool

Array = NDArray[Any]
Ints = list[int] | None


def windows(x: Array, kernel: list[int], dilations: Ints, pads: Ints, strides: Ints, fill: float) -> Array:
    """The windows of `x` [n, c, *space] as a view [n, c, *out, *kernel]; padding has the value `fill`."""
    axes = len(kernel)
    dilations, strides, pads = dilations or [1] * axes, strides or [1] * axes, pads or [0] * 2 * axes
    around = [(0, 0), (0, 0), *zip(pads[:axes], pads[axes:], strict=True)]
    padded = np.pad(x, around, constant_values=np.asarray(fill, x.dtype))
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    view = sliding_window_view(padded, spans, axis=tuple(range(2, 2 + axes)))
    steps = [slice(None), slice(None), *(slice(None, None, s) for s in (*strides, *dilations))]
    return view[tuple(steps)]


def over_kernel(view: Array) -> tuple[int, ...]:
    """The kernel's axes of what `windows` returned."""
    axes = (view.ndim - 2) // 2
    return tuple(range(-axes, 0))


class Conv(op_conv.Conv):
    """One matrix multiplication a group."""

    op_domain = ""
    op_schema = get_schema("Conv", 11)

    def _run(
        self, x: Array, w: Array, b: Array | None = None, auto_pad: str = "NOTSET", dilations: Ints = None,
        group: int = 1, kernel_shape: Ints = None, pads: Ints = None, strides: Ints = None,
    ) -> tuple[Array]:  # fmt: skip
        if auto_pad != "NOTSET" or x.ndim < 3:
            return super()._run(x, w, b, auto_pad, dilations, group, kernel_shape, pads, strides)
        view = windows(x, list(w.shape[2:]), dilations, pads, strides, 0.0)
        contracted = (1, *over_kernel(view))
        parts = [
            np.tensordot(part, weight, axes=(contracted, contracted))
            for part, weight in zip(np.split(view, group, axis=1), np.split(w, group), strict=True)
        ]
        out = np.moveaxis(np.concatenate(parts, axis=-1), -1, 1)
        return (out if b is None else out + b.reshape(-1, *[1] * (x.ndim - 2)),)


class AveragePool(op_average_pool.AveragePool_19):
    """Means over windows; padding counts only where the node says so."""

    op_domain = ""
    op_schema = get_schema("AveragePool", 19)

    def _run(
        self, x: Array, auto_pad: str = "NOTSET", ceil_mode: int = 0, dilations: Ints = None,
        kernel_shape: Ints = None, pads: Ints = None, strides: Ints = None, count_include_pad: int = 0,
    ) -> tuple[Array]:  # fmt: skip
        if auto_pad != "NOTSET" or ceil_mode or kernel_shape is None:
            return super()._run(x, auto_pad, ceil_mode, dilations, kernel_shape, pads, strides, count_include_pad)
        view = windows(x, kernel_shape, dilations, pads, strides, 0.0)
        counted = windows(np.ones_like(x[:1, :1]), kernel_shape, dilations, pads, strides, float(count_include_pad))
        return (view.sum(axis=over_kernel(view)) / counted.sum(axis=over_kernel(view)),)


class MaxPool(op_max_pool.MaxPool):
    """Maxima over windows."""

    op_domain = ""
    op_schema = get_schema("MaxPool", 12)

    def _run(
        self, x: Array, auto_pad: str = "NOTSET", ceil_mode: int = 0, dilations: Ints = None,
        kernel_shape: Ints = None, pads: Ints = None, storage_order: int = 0, strides: Ints = None,
    ) -> tuple[Array, ...]:  # fmt: skip
        plain = auto_pad == "NOTSET" and not ceil_mode and len(self.onnx_node.output) == 1 and x.dtype.kind == "f"
        if not plain or kernel_shape is None:
            return super()._run(x, auto_pad, ceil_mode, dilations, kernel_shape, pads, storage_order, strides)
        view = windows(x, kernel_shape, dilations, pads, strides, -np.inf)
        return (view.max(axis=over_kernel(view)),)


WINDOWED = [Conv, AveragePool, MaxPool]
