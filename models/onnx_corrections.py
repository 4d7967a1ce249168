"""Operators that onnx.reference evaluates wrongly, or by the rules of a newer opset."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from onnx.defs import get_schema
from onnx.reference.op_run import OpRun

Array = NDArray[np.float64]


class BatchNormalization(OpRun):
    """Opsets 7 to 13: inference. onnx.reference takes the momentum, which is always there, as a wish to train."""

    op_domain = ""
    op_schema = get_schema("BatchNormalization", 9)

    def _run(
        self, x: Array, scale: Array, bias: Array, mean: Array, var: Array, epsilon: float, momentum: float
    ) -> tuple[Array]:
        scale, bias, mean, var = (v.reshape(-1, *[1] * (x.ndim - 2)) for v in (scale, bias, mean, var))
        return ((x - mean) / np.sqrt(var + epsilon) * scale + bias,)


class LRN(OpRun):
    """Any opset. onnx.reference normalises as many channels as the batch has elements and leaves the others alone."""

    op_domain = ""
    op_schema = get_schema("LRN", 13)

    def _run(self, x: Array, alpha: float, beta: float, bias: float, size: int) -> tuple[Array]:
        before, after = (size - 1) // 2, size // 2
        squares = np.pad(x**2, [(0, 0), (before, after), *[(0, 0)] * (x.ndim - 2)])
        windows = sum(squares[:, i : i + x.shape[1]] for i in range(size))
        return (x / (bias + alpha / size * windows) ** beta,)


class ConvTranspose(OpRun):
    """Any opset. onnx.reference knows one output channel a group, and adds the bias of the wrong one.

    Each input element adds its multiple of the kernel to the output, `stride` apart; the pads are then cut off.
    """

    op_domain = ""
    op_schema = get_schema("ConvTranspose", 11)

    def _run(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        auto_pad: str = "NOTSET",
        dilations: Sequence[int] | None = None,
        group: int = 1,
        kernel_shape: Sequence[int] | None = None,
        output_padding: Sequence[int] | None = None,
        output_shape: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> tuple[Array]:
        sizes, kernel, rank = x.shape[2:], w.shape[2:], x.ndim - 2
        stride, dilation, extra = strides or [1] * rank, dilations or [1] * rank, output_padding or [0] * rank
        full = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(sizes, stride, kernel, dilation, strict=True)]
        if output_shape is None and auto_pad.startswith("SAME"):
            output_shape = [n * s for n, s in zip(sizes, stride, strict=True)]
        begin, end = (list(pads[:rank]), list(pads[rank:])) if pads else ([0] * rank, [0] * rank)
        if output_shape is not None:
            total = [f + e - o for f, e, o in zip(full, extra, output_shape[-rank:], strict=True)]
            less, more = [t // 2 for t in total], [t - t // 2 for t in total]
            begin, end = (less, more) if auto_pad == "SAME_UPPER" else (more, less)
        grouped = x.reshape(len(x), group, -1, *sizes)
        weights = w.reshape(group, -1, *w.shape[1:])
        out = np.zeros((len(x), group, w.shape[1], *(f + e for f, e in zip(full, extra, strict=True))), x.dtype)
        for tap in np.ndindex(*kernel):
            product = np.einsum("ngc...,gco->ngo...", grouped, weights[(..., *tap)])
            places = [
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilation, sizes, stride, strict=True)
            ]
            out[(..., *places)] += product
        out = out.reshape(len(x), -1, *out.shape[3:])
        out = out[(..., *(slice(p, n - q) for p, q, n in zip(begin, end, out.shape[2:], strict=True)))]
        return (out if b is None else out + b.reshape(-1, *[1] * rank),)


class Softmax(OpRun):
    """Before opset 13: over all axes from `axis` on, not over that one alone."""

    op_domain = ""
    op_schema = get_schema("Softmax", 11)

    def _run(self, x: Array, axis: int) -> tuple[Array]:
        rows = as_rows(x, axis)
        powers = np.exp(rows - rows.max(axis=1, keepdims=True))
        return ((powers / powers.sum(axis=1, keepdims=True)).reshape(x.shape),)


class LogSoftmax(OpRun):
    """Before opset 13: see Softmax."""

    op_domain = ""
    op_schema = get_schema("LogSoftmax", 11)

    def _run(self, x: Array, axis: int) -> tuple[Array]:
        rows = as_rows(x, axis)
        rows = rows - rows.max(axis=1, keepdims=True)
        return ((rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))).reshape(x.shape),)


class Hardmax(OpRun):
    """Before opset 13: see Softmax."""

    op_domain = ""
    op_schema = get_schema("Hardmax", 11)

    def _run(self, x: Array, axis: int) -> tuple[Array]:
        rows = as_rows(x, axis)
        return (np.eye(rows.shape[1], dtype=x.dtype)[rows.argmax(axis=1)].reshape(x.shape),)


def as_rows(x: Array, axis: int) -> Array:
    """`x` as a matrix: the axes before `axis` count rows, the others columns."""
    axis %= max(x.ndim, 1)
    return x.reshape(int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:])))


def corrections(opset: int) -> list[type[OpRun]]:
    """What replaces onnx.reference's own operators in a model of this opset."""
    old = [*([BatchNormalization] if 7 <= opset < 14 else []), *([Softmax, LogSoftmax, Hardmax] if opset < 13 else [])]
    return [LRN, ConvTranspose, *old]
