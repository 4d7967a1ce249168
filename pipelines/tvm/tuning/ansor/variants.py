"""By which algorithm each convolution and dense product is computed, before anything is said of its schedule."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from math import ceil
from typing import Any

WINOGRAD_TILE = 4
"""Output rows and columns that one transformed tile gives: F(4x4, 3x3), 36 multiplies for 144 of the direct form."""
WINOGRAD_LEAST_TILES = 16
"""Fewest tiles for which Winograd is searched.

It multiplies 36 matrices [tiles, in] x [in, out]: tiles/2 FLOP for each byte of transformed weights, which are 4 times
the plain ones. Below about 8 FLOP a byte a core waits for memory longer than the direct form computes.
"""


class Variant(StrEnum):
    """DEFAULT is TVM's own choice and schedule; the others are for Ansor to schedule."""

    DEFAULT = "default"
    DIRECT = "direct"
    WINOGRAD = "winograd"


def conv_workload(attrs: Any, data: Sequence[int]) -> str:
    """Name of a 2-D convolution on `data` (its shape, in `attrs.data_layout` NCHW or NHWC)."""
    n, c, h, w = data if attrs.data_layout == "NCHW" else (data[0], data[3], data[1], data[2])
    fields = {
        "": _times(n, c, h, w),
        "to": int(attrs.channels),
        "kernel": _times(*attrs.kernel_size),
        "stride": _times(*attrs.strides),
        "padding": _times(*attrs.padding),
        "dilation": _times(*attrs.dilation),
        "groups": int(attrs.groups),
    }
    return "conv2d" + "".join(f" {key} {value}".replace("  ", " ") for key, value in fields.items())


def dense_workload(rows: int, depth: int, columns: int) -> str:
    """Name of a product of [rows, depth] and [columns, depth] transposed."""
    return f"dense {_times(rows, depth)} to {columns}"


def batch_workload(batch: int, rows: int, depth: int, columns: int) -> str:
    """Name of `batch` products of [rows, depth] and [depth, columns]."""
    return f"batch_matmul {_times(batch, rows, depth)} to {columns}"


def searched_conv(attrs: Any, data: Sequence[int], dtype: str) -> Variant:
    """The algorithm that Ansor is given for a convolution when nothing was decided yet."""
    channels = data[1] if attrs.data_layout == "NCHW" else data[3]
    height, width = data[2:4] if attrs.data_layout == "NCHW" else data[1:3]
    groups = int(attrs.groups)
    if dtype not in ("float32", "float64") or (groups != 1 and not groups == channels == int(attrs.channels)):
        return Variant.DEFAULT
    ones = [int(x) for x in (*attrs.strides, *attrs.dilation, groups)]
    tiles = data[0] * ceil(height / WINOGRAD_TILE) * ceil(width / WINOGRAD_TILE)
    plain = [int(k) for k in attrs.kernel_size] == [3, 3] and set(ones) == {1}
    return Variant.WINOGRAD if plain and tiles >= WINOGRAD_LEAST_TILES else Variant.DIRECT


_chosen: ContextVar[Mapping[str, Variant]] = ContextVar("chosen")


@contextmanager
def chosen(variants: Mapping[str, Variant]) -> Generator[None]:
    """A block in which TVM's strategies, which are called without a word of the build, see what was decided."""
    token = _chosen.set(variants)
    try:
        yield
    finally:
        _chosen.reset(token)


def decided(workload: str, otherwise: Variant) -> Variant:
    """The variant of a workload in the present block, `otherwise` where none was decided."""
    return _chosen.get({}).get(workload, otherwise)


def _times(*sizes: Any) -> str:
    return "x".join(str(int(s)) for s in sizes)
