"""HalfEven: rewrites Relay's quantisation so that halves go to the even step, as ONNX has it.

TVM's `qnn.quantize` rounds halves away from zero. On grids whose steps are powers of two every other sum is a half.
"""

from typing import Any

import numpy as np
from tvm import relay
from tvm.relay import op
from tvm.relay.dataflow_pattern import DFPatternCallback, is_op, rewrite, wildcard
from tvm.relay.transform import function_pass

from pipelines.tvm.corrections import rounded


def half_even() -> Any:
    """A Relay pass; it needs types, and leaves functions alone that another compiler is to take."""

    def transform(function: Any, module: Any, context: Any) -> Any:
        external = function.attrs is not None and "Compiler" in function.attrs.keys()  # noqa: SIM118 (TVM's own map)
        return function if external else rewrite(_Quantise(), function, module)

    return function_pass(transform, opt_level=0, name="HalfEven")


class _Quantise(DFPatternCallback):
    """qnn.quantize by its definition in ONNX: saturate(round_half_even(x / scale) + zero)."""

    def __init__(self) -> None:
        super().__init__(rewrite_once=True)
        self.pattern = is_op("qnn.quantize")(wildcard(), wildcard(), wildcard())

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        x, scale, zero = post.args
        rank, axis = len(pre.args[0].checked_type.shape), int(post.attrs.axis)
        dtype, out = str(pre.args[0].checked_type.dtype), str(post.attrs.out_dtype)
        shapes = [[int(d) for d in a.checked_type.shape] for a in pre.args[1:]]
        scale, zero = (_along(a, s, axis % max(rank, 1), rank) for a, s in zip((scale, zero), shapes, strict=True))
        limits = np.iinfo(out)
        steps = rounded(op.divide(x, scale), dtype) + op.cast(zero, dtype)
        made = op.cast(op.clip(steps, float(limits.min), float(limits.max)), out)
        return relay.Call(made.op, made.args, made.attrs, made.type_args, pre.span)


def _along(value: Any, shape: list[int], axis: int, rank: int) -> Any:
    """A scale or zero point of channels, shaped to broadcast along their axis."""
    if not shape or shape == [1]:
        return value
    return op.reshape(value, [-1 if i == axis else 1 for i in range(rank)])
