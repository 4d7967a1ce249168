"""Operators that onnx.reference evaluates wrongly, or by the rules of a newer opset."""

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
    return [LRN, *old]
