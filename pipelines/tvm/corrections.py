"""Converters that replace those of TVM 0.19's ONNX importer where it is wrong.

Each takes the node's inputs as Relay expressions (None where left out) and its attributes; it gives an expression.
What decides sizes and axes is constant by then: the ONNX stages have folded it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tvm import relay
from tvm.relay import op
from tvm.relay.frontend.common import infer_shape, infer_type

from pipelines.tvm.matmul import matmul
from pipelines.tvm.resize import resize

Inputs = Sequence[Any]
Attributes = Mapping[str, Any]
Converter = Callable[[Inputs, Attributes], Any]


def reduction(compute: Callable[[Any, tuple[int, ...], bool], Any]) -> Converter:
    """A Reduce operator. TVM's takes axes given as an input (opset 18; ReduceSum 13) for their first one alone."""

    def convert(inputs: Inputs, attributes: Attributes) -> Any:
        x, rank = inputs[0], len(infer_shape(inputs[0]))
        axes = axes_of(inputs, attributes)
        if not axes and attributes.get("noop_with_empty_axes", 0):
            axes = ()
        elif not axes:
            axes = tuple(range(rank))
        if rank == 0:
            return op.squeeze(compute(op.expand_dims(x, axis=0), (0,), True), axis=[0])
        return compute(x, tuple(a % rank for a in axes), bool(attributes.get("keepdims", 1)))

    return convert


def axes_of(inputs: Inputs, attributes: Attributes) -> tuple[int, ...]:
    """Axes as an attribute, or as a second input."""
    if len(inputs) > 1 and inputs[1] is not None:
        return tuple(int(a) for a in inputs[1].data.numpy().reshape(-1))
    given = attributes.get("axes", ())
    return (given,) if isinstance(given, int) else tuple(given)


def over(reduce: Callable[..., Any]) -> Callable[[Any, tuple[int, ...], bool], Any]:
    """A reduction of Relay as a function of value, axes and whether to keep them; over no axes it changes nothing."""

    def along(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
        return reduce(x, axis=list(axes), keepdims=keep) if axes else x

    return along


total, largest = over(op.sum), over(op.max)


def l1(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    """Sum of magnitudes."""
    return total(op.abs(x), axes, keep)


def squares(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    """Sum of squares."""
    return total(x * x, axes, keep)


def l2(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    """Root of the sum of squares."""
    return op.sqrt(squares(x, axes, keep))


def log_sum(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    """Logarithm of the sum."""
    return op.log(total(x, axes, keep))


def log_sum_exp(x: Any, axes: tuple[int, ...], keep: bool) -> Any:
    """log sum exp(x), shifted by the largest element so that it does not overflow."""
    shift = largest(x, axes, True)
    result = log_sum(op.exp(x - shift), axes, True) + shift
    return result if keep or not axes else op.squeeze(result, axis=list(axes))


REDUCTIONS: dict[str, Converter] = {
    "ReduceMax": reduction(largest),
    "ReduceMin": reduction(over(op.min)),
    "ReduceSum": reduction(total),
    "ReduceMean": reduction(over(op.mean)),
    "ReduceProd": reduction(over(op.prod)),
    "ReduceL1": reduction(l1),
    "ReduceL2": reduction(l2),
    "ReduceSumSquare": reduction(squares),
    "ReduceLogSum": reduction(log_sum),
    "ReduceLogSumExp": reduction(log_sum_exp),
}


def split(inputs: Inputs, attributes: Attributes) -> Any:
    """Split. TVM's knows nothing of `num_outputs` (opset 18), whose last piece may be smaller."""
    axis, count = attributes.get("axis", 0), attributes["tvm_custom"]["num_outputs"]
    size = infer_shape(inputs[0])[axis]
    if len(inputs) > 1 and inputs[1] is not None:
        sizes = [int(n) for n in inputs[1].data.numpy()]
    else:
        piece = -(-size // count)
        sizes = list(attributes.get("split", [min(piece, size - i * piece) for i in range(count)]))
    ends = [sum(sizes[:i]) for i in range(1, len(sizes))]
    pieces = op.split(inputs[0], ends, axis) if ends else relay.expr.TupleWrapper(relay.Tuple([inputs[0]]), 1)
    return pieces if count > 1 else pieces[0]


def dropout(inputs: Inputs, attributes: Attributes) -> Any:
    """Dropout when not training. TVM's takes no ratio given as an input (opset 12)."""
    x = inputs[0]
    if attributes["tvm_custom"]["num_outputs"] == 1:
        return x
    return relay.expr.TupleWrapper(relay.Tuple([x, op.ones_like(op.cast(x, "bool"))]), 2)


WHOLE = {"float16": 2.0**10, "bfloat16": 2.0**7, "float32": 2.0**23, "float64": 2.0**52}
"""The magnitude from which on every number of a type is whole."""


def round_half_even(inputs: Inputs, attributes: Attributes) -> Any:
    """Round. Large numbers, which have no place for the half that TVM takes from them, are left as they are."""
    return rounded(inputs[0], str(infer_type(inputs[0]).checked_type.dtype))


def rounded(x: Any, dtype: str) -> Any:
    """Relay of the nearest whole numbers, halves to even."""
    half, one, two = (relay.const(v, dtype) for v in (0.5, 1.0, 2.0))
    down, tie = op.ceil(x - half), one - (op.ceil(x + half) - op.floor(x + half))
    return op.where(op.abs(x) < relay.const(WHOLE[dtype], dtype), down + tie * op.abs(op.mod(down, two)), x)


def erf(inputs: Inputs, attributes: Attributes) -> Any:
    """Erf. TVM's is an approximation that is exact to float32 whatever the type. Raises ValueError for float64."""
    if str(infer_type(inputs[0]).checked_type.dtype) == "float64":
        raise ValueError("TVM's erf is exact to float32 only; give the model in float32")
    return op.erf(inputs[0])


CORRECTIONS: dict[str, Converter] = {
    **REDUCTIONS,
    "Dropout": dropout,
    "Erf": erf,
    "MatMul": matmul,
    "Resize": resize,
    "Round": round_half_even,
    "Split": split,
}
