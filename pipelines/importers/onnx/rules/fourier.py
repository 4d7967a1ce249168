"""Fourier transforms as matrix products: a discrete transform of a known length is a linear map."""

import math

import numpy as np

from pipelines.importers.onnx.graph import Array, Value
from pipelines.importers.onnx.rewrite import Rewrite


def dft(r: Rewrite) -> list[Value]:
    """DFT along one axis of [..., n, ..., parts], parts being 1 (real) or 2 (real and imaginary)."""
    shape = r.shape()
    axis = r.options.get("axis", 1) if r.graph.opset < 20 else int(_number(r, 2, -2))
    axis += len(shape) if axis < 0 else 0
    one_sided, inverse = bool(r.options.get("onesided")), bool(r.options.get("inverse"))
    n, parts = shape[axis], shape[-1]
    length = int(_number(r, 1, 2 * (n - 1) if one_sided and inverse else n))
    matrix = transform(n, parts, length, inverse, one_sided)
    order = [d for d in range(len(shape)) if d not in (axis, len(shape) - 1)] + [axis, len(shape) - 1]
    moved = r.op("Transpose", r.input(0), perm=order)
    rows = [shape[d] for d in order[:-2]]
    spectrum = _apply(r, moved, matrix, rows, n * parts)
    return [r.op("Transpose", spectrum, perm=[order.index(d) for d in range(len(shape))])]


def stft(r: Rewrite) -> list[Value]:
    """Windowed frames of [batch, samples, parts], each transformed: [batch, frames, bins, 2]."""
    batch, samples, *rest = r.shape()
    parts = rest[0] if rest else 1
    step = int(_number(r, 1, 0))
    length = r.shape(2)[0] if r.input(2) else _number(r, 3, 0)
    frames = 1 + (samples - length) // step
    matrix = transform(length, parts, length, False, bool(r.options.get("onesided", 1)))
    at = np.arange(frames)[:, None] * step + np.arange(length)
    cut = r.op("Gather", r.input(0), r.const(at, np.int64), axis=1)
    if r.input(2):
        taper = r.op("Reshape", r.input(2), r.ints(length, *[1] * len(rest)))
        cut = r.op("Mul", cut, taper)
    return [_apply(r, cut, matrix, [batch, frames], length * parts)]


def transform(n: int, parts: int, length: int, inverse: bool, one_sided: bool) -> Array:
    """The map from [n, parts] to [bins, parts out] as a matrix [n * parts, bins, parts out], in float64."""
    basis = np.eye(n * parts).reshape(n * parts, n, parts)
    signal = basis[..., 0] + (1j * basis[..., 1] if parts == 2 else 0)
    if inverse and one_sided:
        return np.fft.irfft(signal, length)[..., None]
    spectrum = np.fft.ifft(signal, length) if inverse else np.fft.fft(signal, length)
    if one_sided:
        spectrum = spectrum[:, : length // 2 + 1]
    return np.stack([spectrum.real, spectrum.imag], axis=-1)


def _apply(r: Rewrite, value: Value, matrix: Array, rows: list[int], columns: int) -> Value:
    flat = r.op("Reshape", value, r.ints(math.prod(rows), columns), allowzero=1)
    product = r.op("MatMul", flat, r.const(matrix.reshape(columns, -1), r.dtype()))
    return r.op("Reshape", product, r.ints(*rows, *matrix.shape[1:]), allowzero=1)


def _number(r: Rewrite, position: int, default: int) -> int:
    known = r.known(position)
    return default if known is None else int(known.reshape(-1)[0])
