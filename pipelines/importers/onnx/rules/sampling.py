"""GridSample: reads an image at points computed at run time, never outside of it."""

import itertools
import math

import numpy as np

from pipelines.importers.onnx.graph import Value
from pipelines.importers.onnx.rewrite import Rewrite
from workbench.core.errors import CompileError


def grid_sample(r: Rewrite) -> list[Value]:
    """X [N, C, sizes], grid [N, points, rank] in [-1, 1], last coordinate first -> [N, C, points]."""
    batch, channels, *sizes = r.shape(0)
    points = r.shape(1)[1:-1]
    mode = r.options.get("mode", "linear")
    if mode not in ("linear", "bilinear", "nearest") or r.options.get("padding_mode", "zeros") == "reflection":
        raise CompileError(
            f"GridSample at node '{r.node.name}': only linear and nearest on zeros or border are lowered"
        )
    kind, count = r.dtype(1), math.prod(points)
    flat = r.op("Reshape", r.input(0), r.ints(batch, channels, math.prod(sizes)), allowzero=1)
    places = [_place(r, sizes[d], len(sizes) - 1 - d, [batch, count]) for d in range(len(sizes))]
    total = ""
    corners = [0] if mode == "nearest" else [0, 1]
    for corner in itertools.product(corners, repeat=len(sizes)):
        weight, index = "", ""
        for d, far in enumerate(corner):
            low = r.op("Round", places[d]) if mode == "nearest" else r.op("Floor", places[d])
            at = r.op("Add", low, r.const(far, kind)) if far else low
            w = _weight(r, places[d], at, sizes[d], mode)
            weight = r.op("Mul", weight, w) if weight else w
            clipped = r.op("Clip", at, r.const(0, kind), r.const(sizes[d] - 1, kind))
            whole = r.cast(clipped, np.int64)
            index = whole if not index else r.op("Add", r.op("Mul", index, r.const(sizes[d], np.int64)), whole)
        every = r.op("Expand", r.op("Unsqueeze", index, r.ints(1)), r.ints(batch, channels, count))
        read = r.op("GatherElements", flat, every, axis=2)
        part = r.op("Mul", read, r.cast(r.op("Unsqueeze", weight, r.ints(1)), r.dtype()))
        total = r.op("Add", total, part) if total else part
    return [r.op("Reshape", total, r.ints(batch, channels, *points), allowzero=1)]


def _place(r: Rewrite, size: int, column: int, shape: list[int]) -> Value:
    """Where the points lie along one dimension, in elements; kept near the image, or on its border."""
    kind = r.dtype(1)
    x = r.op("Reshape", r.op("Gather", r.input(1), r.const(column, np.int64), axis=-1), r.ints(*shape), allowzero=1)
    if r.options.get("align_corners"):
        x = r.op("Mul", r.op("Add", x, r.const(1, kind)), r.const((size - 1) / 2, kind))
    else:
        x = r.op("Mul", r.op("Add", x, r.const(1, kind)), r.const(size / 2, kind))
        x = r.op("Sub", x, r.const(0.5, kind))
    edge = (0, size - 1) if r.options.get("padding_mode", "zeros") == "border" else (-2, size + 1)
    return r.op("Clip", x, r.const(edge[0], kind), r.const(edge[1], kind))


def _weight(r: Rewrite, place: Value, at: Value, size: int, mode: str) -> Value:
    """How much the element at `at` counts for a point: by distance, nothing outside of the image."""
    kind = r.dtype(1)
    inside = r.op("And", r.op("GreaterOrEqual", at, r.const(0, kind)), r.op("LessOrEqual", at, r.const(size - 1, kind)))
    if mode == "nearest":
        return r.cast(inside, kind)
    near = r.op("Sub", r.const(1, kind), r.op("Abs", r.op("Sub", place, at)))
    return r.op("Where", inside, near, r.const(0, kind))
