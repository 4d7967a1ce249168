"""TIR forms of ReLU, clip, maximum and minimum that NaN goes through, as ONNX, torch and IEEE 754 have it.

TVM's own take `a > b ? a : b`, which gives `b` for a NaN in `a`: its ReLU and clip have their constant there.
"""

from collections.abc import Callable
from typing import Any

from pipelines.relax.bindings import load

Legalize = Callable[[Any, Any], Any]
"""Replaces an operator's call, given the block builder."""


def nan_safe() -> dict[str, Legalize]:
    """By operator, for `LegalizeOps`; integers keep TVM's own form."""
    return {
        "relax.nn.relu": _pointwise("relu", _relu),
        "relax.clip": _pointwise("clip", _clip),
        "relax.maximum": _pointwise("maximum", _maximum),
        "relax.minimum": _pointwise("minimum", _minimum),
    }


def _relu(x: Any) -> Any:
    zero = load("tirx").const(0.0, str(x.ty.dtype))
    return _select(x < zero, zero, x)


def _clip(x: Any, low: Any, high: Any) -> Any:
    return _select(x < low, low, _select(x > high, high, x))


def _maximum(a: Any, b: Any) -> Any:
    return _select(load("tirx").Or(a > b, a != a), a, b)


def _minimum(a: Any, b: Any) -> Any:
    return _select(load("tirx").Or(a < b, a != a), a, b)


def _select(condition: Any, yes: Any, no: Any) -> Any:
    return load("tirx").Select(condition, yes, no)


def _pointwise(name: str, compute: Callable[..., Any]) -> Legalize:
    """A loop nest of one block over the broadcast operands, so that it fuses as TVM's own does."""
    te, op = load("te"), load("ir").Op

    def legalize(builder: Any, call: Any) -> Any:
        dtype = str(call.ty.dtype)
        if "float" not in dtype:
            return op.get(str(call.op.name)).get_attr("FLegalize")(builder, call)
        shape = list(call.ty.shape)

        def nest(*operands: Any) -> Any:
            def element(*index: Any) -> Any:
                return compute(*[_at(x, index) if isinstance(x, te.Tensor) else _typed(x, dtype) for x in operands])

            return te.compute(shape, element, name=name)

        return builder.call_te(nest, *call.args, primfunc_name_hint=name)

    return legalize


def _at(tensor: Any, index: tuple[Any, ...]) -> Any:
    """The element of a broadcast operand."""
    own = index[len(index) - len(tensor.shape) :]
    return tensor(*[0 if int(size) == 1 else i for size, i in zip(tensor.shape, own, strict=True)])


def _typed(bound: Any, dtype: str) -> Any:
    """A bound of `clip` as a number of the type it bounds."""
    return load("tirx").Cast(dtype, bound)
