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
        "relax.nn.relu": _pointwise("relu", lambda x: _select(x < 0, 0, x)),
        "relax.clip": _pointwise("clip", lambda x, low, high: _select(x < low, low, _select(x > high, high, x))),
        "relax.maximum": _pointwise("maximum", lambda a, b: _select(_either(a > b, a != a), a, b)),
        "relax.minimum": _pointwise("minimum", lambda a, b: _select(_either(a < b, a != a), a, b)),
    }


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
                values = [_at(x, index) if isinstance(x, te.Tensor) else _typed(x, dtype) for x in operands]
                return compute(*values)

            return te.compute(shape, element, name=name)

        return builder.call_te(nest, *call.args, primfunc_name_hint=name)

    return legalize


def _at(tensor: Any, index: tuple[Any, ...]) -> Any:
    """The element of a broadcast operand."""
    own = index[len(index) - len(tensor.shape) :]
    return tensor(*[0 if int(size) == 1 else i for size, i in zip(tensor.shape, own, strict=True)])


def _typed(value: Any, dtype: str) -> Any:
    return load("tirx").Cast(dtype, value) if str(value.dtype) != dtype else value


def _select(condition: Any, yes: Any, no: Any) -> Any:
    tirx = load("tirx")
    typed = [tirx.const(x, str((no if x is yes else yes).dtype)) if isinstance(x, int) else x for x in (yes, no)]
    return tirx.Select(condition, *typed)


def _either(a: Any, b: Any) -> Any:
    return load("tirx").Or(a, b)
