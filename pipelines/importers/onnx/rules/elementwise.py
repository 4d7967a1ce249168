"""Operators on single elements that need their edges spelt out."""

import numpy as np

from pipelines.importers.onnx.graph import Value
from pipelines.importers.onnx.rewrite import Rewrite


def cast_like(r: Rewrite) -> list[Value]:
    """A conversion to the type of the second input, whose values do not matter."""
    return [r.cast(r.input(0), r.dtype(1))]


def bit_shift(r: Rewrite) -> list[Value] | None:
    """A shift by the width or more, which the machine leaves undefined, pushes every bit out."""
    kind = r.dtype()
    width = kind.itemsize * 8
    by = r.known(1)
    if (by is not None and np.all((by >= 0) & (by < width))) or r.maker(1) == "Min":
        return None
    right = r.options["direction"] == "RIGHT"
    inside = r.op("Less", r.input(1), r.const(width, kind))
    if kind.kind == "i":
        inside = r.op("And", inside, r.op("GreaterOrEqual", r.input(1), r.const(0, kind)))
    safe = r.op("Where", inside, r.input(1), r.const(0, kind))
    # The minimum changes nothing; it shows that the amount is in range, which ends the rewriting.
    shifted = r.op(
        "BitShift", r.input(0), r.op("Min", safe, r.const(width - 1, kind)), direction=r.options["direction"]
    )
    gone = r.const(0, kind)
    if right and kind.kind == "i":
        gone = r.op("Where", r.op("Less", r.input(0), gone), r.const(-1, kind), gone)
    return [r.op("Where", inside, shifted, gone)]


def lp_normalization(r: Rewrite) -> list[Value]:
    """x / (sum |x|^p)^(1/p) along an axis, 0 where the norm is 0."""
    axis, p = r.options.get("axis", -1), r.options.get("p", 2)
    norm = r.op("ReduceL1" if p == 1 else "ReduceL2", r.input(0), r.ints(axis))
    zero = r.const(0, r.dtype())
    empty = r.op("Equal", norm, zero)
    safe = r.op("Where", empty, r.const(1, r.dtype()), norm)
    return [r.op("Where", empty, zero, r.op("Div", r.input(0), safe))]
