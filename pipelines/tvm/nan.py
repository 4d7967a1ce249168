"""KeepNan: rewrites Relay's comparisons so that NaN goes through them, as ONNX and IEEE 754 have it.

TVM's maximum is `a > b ? a : b`, which gives `b` for a NaN in `a`; its ReLU and clip have their constant there, and its
reductions the largest element so far.
"""

from typing import Any

from tvm import relay
from tvm.relay import op
from tvm.relay.dataflow_pattern import DFPatternCallback, is_op, rewrite, wildcard
from tvm.relay.transform import function_pass


def keep_nan() -> Any:
    """A Relay pass; it needs types, and changes floating operators only."""

    def transform(function: Any, module: Any, context: Any) -> Any:
        return rewrite(_NanSafe(), function, module)

    return function_pass(transform, opt_level=0, name="KeepNan")


class _NanSafe(DFPatternCallback):
    """nn.relu and clip with their constants first; maximum and minimum likewise, or with the operand that is NaN.

    Reductions by them are NaN where another one finds a NaN among their elements.
    """

    def __init__(self) -> None:
        super().__init__(rewrite_once=True)
        unary = is_op("nn.relu") | is_op("clip") | is_op("max") | is_op("min")
        self.pattern = unary(wildcard()) | (is_op("maximum") | is_op("minimum"))(wildcard(), wildcard())

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        dtype = str(pre.checked_type.dtype)
        if not dtype.startswith(("float", "bfloat")):
            return post
        call = REWRITES[str(post.op.name)](post, dtype)
        return relay.Call(call.op, call.args, call.attrs, call.type_args, pre.span)


def _relu(call: Any, dtype: str) -> Any:
    return op.maximum(relay.const(0.0, dtype), call.args[0])


def _clip(call: Any, dtype: str) -> Any:
    low, high = relay.const(call.attrs.a_min, dtype), relay.const(call.attrs.a_max, dtype)
    return op.maximum(low, op.minimum(high, call.args[0]))


def _extreme(call: Any, dtype: str) -> Any:
    a, b = call.args
    extreme = op.maximum if call.op.name == "maximum" else op.minimum
    if isinstance(a, relay.Constant):
        return call
    return extreme(b, a) if isinstance(b, relay.Constant) else op.where(op.isnan(a), a, extreme(a, b))


def _reduction(call: Any, dtype: str) -> Any:
    is_nan = op.cast(op.isnan(call.args[0]), "int8")
    found = op.cast(relay.Call(relay.op.get("max"), [is_nan], call.attrs), "bool")
    return op.where(found, relay.const(float("nan"), dtype), call)


REWRITES = {
    "nn.relu": _relu,
    "clip": _clip,
    "maximum": _extreme,
    "minimum": _extreme,
    "max": _reduction,
    "min": _reduction,
}
