"""Slices, pads and reversals whose places are known: gathers along one axis after the other."""

import numpy as np

from pipelines.importers.onnx.graph import Array, Value
from pipelines.importers.onnx.rewrite import Rewrite


def slice_(r: Rewrite) -> list[Value] | None:
    """Axes taken backwards are gathered; a view with a negative stride is refused further down."""
    shape = r.shape()
    starts, ends = r.known(1), r.known(2)
    assert starts is not None and ends is not None, "Slice bounds passed the checks"
    axes, steps = r.known(3), r.known(4)
    if steps is None or not np.any(steps < 0):
        return None
    value = r.input(0)
    for i, axis in enumerate(range(len(starts)) if axes is None else axes):
        axis = int(axis) % len(shape)
        at = np.arange(shape[axis])[slice_of(int(starts[i]), int(ends[i]), int(steps[i]), shape[axis])]
        value = r.op("Gather", value, r.const(at, np.int64), axis=axis)
    return [value]


def slice_of(start: int, end: int, step: int, size: int) -> slice:
    """ONNX bounds as Python's: going backwards, an end before the first element means all the way."""
    if step < 0 and end < -size:
        return slice(start, None, step)
    return slice(start, end, step)


def pad(r: Rewrite) -> list[Value] | None:
    """Edge, reflect and wrap by gathers; constant padding only after what is cut off is cut off."""
    mode = r.options.get("mode", "constant")
    pads, axes, shape = r.known(1), r.known(3), r.shape()
    assert pads is not None, "Pad sizes passed the checks"
    places = [int(a) % len(shape) for a in (range(len(shape)) if axes is None else axes)]
    amounts = {axis: (int(pads[i]), int(pads[i + len(places)])) for i, axis in enumerate(places)}
    if mode == "constant":
        return _cut_then_pad(r, amounts) if any(p < 0 for pair in amounts.values() for p in pair) else None
    value = r.input(0)
    for axis, (before, after) in amounts.items():
        if before or after:
            at = padded(np.arange(shape[axis]), before, after, mode)
            value = r.op("Gather", value, r.const(at, np.int64), axis=axis)
    return [r.op("Identity", value)]


def padded(at: Array, before: int, after: int, mode: str) -> Array:
    """Which element stands at each place of a padded line."""
    at = at[max(0, -before) : len(at) - max(0, -after)]
    kind = {"edge": "edge", "reflect": "reflect", "wrap": "wrap"}[mode]
    return np.pad(at, (max(0, before), max(0, after)), mode=kind)  # pyright: ignore[reportArgumentType, reportCallIssue]


def _cut_then_pad(r: Rewrite, amounts: dict[int, tuple[int, int]]) -> list[Value]:
    shape = r.shape()
    axes = list(amounts)
    starts = r.ints(*(max(0, -before) for before, _ in amounts.values()))
    ends = r.ints(*(shape[a] - max(0, -after) for a, (_, after) in amounts.items()))
    cut = r.op("Slice", r.input(0), starts, ends, r.ints(*axes))
    befores = [max(0, amounts.get(d, (0, 0))[0]) for d in range(len(shape))]
    afters = [max(0, amounts.get(d, (0, 0))[1]) for d in range(len(shape))]
    filler = [r.input(2)] if r.input(2) else []
    return [r.op("Pad", cut, r.ints(*befores, *afters), *filler)]


def reverse_sequence(r: Rewrite) -> list[Value]:
    """The first `length` steps of each row backwards: step t comes from length - 1 - t."""
    time, batch = r.options.get("time_axis", 0), r.options.get("batch_axis", 1)
    shape = r.shape()
    axes = [1 if d not in (time, batch) else -1 for d in range(len(shape))]
    steps = r.const(np.arange(shape[time]).reshape([-1 if d == time else 1 for d in range(len(shape))]), np.int64)
    row = r.ints(*(-1 if d == batch else 1 for d in range(len(axes))))
    lengths = r.op("Reshape", r.cast(r.input(1), np.int64), row)
    back = r.op("Sub", r.op("Sub", lengths, r.const(1, np.int64)), steps)
    at = r.op("Expand", r.op("Where", r.op("Less", steps, lengths), back, steps), r.ints(*shape))
    return [r.op("GatherElements", r.input(0), at, axis=time)]


def compress(r: Rewrite) -> list[Value] | None:
    """A gather of the chosen places, when the choice is known."""
    chosen = r.known(1)
    if chosen is None:
        return None
    at = r.const(np.flatnonzero(chosen), np.int64)
    if "axis" in r.options:
        return [r.op("Gather", r.input(0), at, axis=r.options["axis"])]
    return [r.op("Gather", r.op("Reshape", r.input(0), r.ints(-1)), at, axis=0)]


def cumulative_product(r: Rewrite) -> list[Value]:
    """Running products by doubling: after k rounds each element holds the product of the 2^k before it."""
    axis_input = r.known(1)
    assert axis_input is not None, "the axis of CumProd passed the checks"
    shape = r.shape()
    axis = int(axis_input.reshape(-1)[0]) % len(shape)
    n = shape[axis]
    backward = bool(r.options.get("reverse"))
    value = r.input(0)
    if backward:
        value = r.op("Gather", value, r.const(np.arange(n)[::-1], np.int64), axis=axis)

    def shifted(v: Value, by: int) -> Value:
        ones = r.const(np.ones([by if d == axis else s for d, s in enumerate(shape)]), r.dtype())
        return r.op("Concat", ones, r.op("Slice", v, r.ints(0), r.ints(n - by), r.ints(axis)), axis=axis)

    if r.options.get("exclusive"):
        value = shifted(value, 1)
    reach = 1
    while reach < n:
        value = r.op("Mul", value, shifted(value, reach))
        reach *= 2
    if backward:
        value = r.op("Gather", value, r.const(np.arange(n)[::-1], np.int64), axis=axis)
    return [r.op("Identity", value)]
