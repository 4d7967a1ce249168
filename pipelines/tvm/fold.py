"""FoldWeights: computes what follows from constants alone, by numpy.

TVM's FoldConstant compiles a function for every operator that it folds, a tenth of a second each, and a model has one
for each weight that changes its layout. It still runs after this one, for the operators that are not in `RULES`. So
that its SimplifyExpr, which folds in the same way, finds nothing, (x + a) + b becomes x + (a + b) here too, (x a) b
becomes x (a b), and (x + a) b becomes x b + a b, whose factor may then go into the layer before it.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import nd, relay
from tvm.ir import Op
from tvm.relay.transform import function_pass

Array = np.ndarray[Any, Any]
Rule = Callable[[Any, Sequence[Array]], Array | None]
"""The value of a call with known operands; None where the rule does not cover it."""


def fold_weights() -> Any:
    """A Relay pass; it needs types."""

    def transform(function: Any, module: Any, context: Any) -> Any:
        body = folded(function.body)
        if body.same_as(function.body):
            return function
        return relay.Function(
            function.params, body, function.ret_type, function.type_params, function.attrs, function.span
        )

    return function_pass(transform, opt_level=2, name="FoldWeights", required=["InferType"])


def folded(body: Any) -> Any:
    """The expression with what `RULES` compute made constant; functions and branches inside stay as they are."""
    new: dict[Any, Any] = {}

    def visit(node: Any) -> None:
        new[node] = _rebuilt(node, new)

    relay.analysis.post_order_visit(body, visit)
    return new[body]


def _rebuilt(node: Any, new: dict[Any, Any]) -> Any:
    if isinstance(node, relay.Call):
        args = [new[a] for a in node.args]
        value = _value_of(node, args)
        if value is not None:
            return relay.Constant(nd.array(value), node.span)
        changed = _changed(args, node.args)
        return _merged(relay.Call(node.op, args, node.attrs, node.type_args, node.span) if changed else node)
    if isinstance(node, relay.Tuple):
        fields = [new[f] for f in node.fields]
        if _changed(fields, node.fields):
            return relay.Tuple(fields, node.span)
    elif isinstance(node, relay.TupleGetItem) and not new[node.tuple_value].same_as(node.tuple_value):
        return relay.TupleGetItem(new[node.tuple_value], node.index, node.span)
    return node


def _merged(call: Any) -> Any:
    """The call, or what a sum or product with a known operand makes with one inside it."""
    outer = _known_operand(call)
    inner = _known_operand(outer[0]) if outer else None
    if outer is None or inner is None:
        return call
    (within, b), (x, a) = outer, inner
    kind, kind_within = str(call.op.name), str(within.op.name)
    value = (np.add if kind == "add" else np.multiply)(a.data.numpy(), b.data.numpy())
    if (kind, kind_within) == ("add", "multiply") or value.shape not in (a.data.shape, b.data.shape):
        return call
    made = relay.Constant(nd.array(value), b.span)
    if kind == kind_within:
        return relay.Call(call.op, [x, made], None, [], call.span)
    scaled = _merged(relay.Call(call.op, [x, b], None, [], call.span))
    return relay.Call(within.op, [scaled, made], None, [], within.span)


def _known_operand(call: Any) -> tuple[Any, Any] | None:
    """The unknown and the known operand of a sum or a product."""
    if not isinstance(call, relay.Call) or not isinstance(call.op, Op) or str(call.op.name) not in ("add", "multiply"):
        return None
    x, known = call.args if isinstance(call.args[1], relay.Constant) else reversed(call.args)
    return (x, known) if isinstance(known, relay.Constant) and not isinstance(x, relay.Constant) else None


def _changed(new: Sequence[Any], old: Sequence[Any]) -> bool:
    return not all(n.same_as(o) for n, o in zip(new, old, strict=True))


def _value_of(call: Any, args: Sequence[Any]) -> Array | None:
    rule = RULES.get(str(call.op.name)) if isinstance(call.op, Op) else None
    if rule is None or not args:
        return None
    operands = args[0].fields if len(args) == 1 and isinstance(args[0], relay.Tuple) else args
    if not all(isinstance(a, relay.Constant) for a in operands):
        return None
    value = rule(call, [a.data.numpy() for a in operands])
    return None if value is None else np.asarray(value, str(call.checked_type.dtype))


def reshaped(call: Any, operands: Sequence[Array]) -> Array:
    """The elements in the call's own shape."""
    return operands[0].reshape([int(n) for n in call.checked_type.shape])


def transposed(call: Any, operands: Sequence[Array]) -> Array:
    """Axes in the order of `axes`, or reversed."""
    axes = call.attrs.axes
    return operands[0].transpose(None if axes is None else [int(a) for a in axes])


def joined(call: Any, operands: Sequence[Array]) -> Array:
    """Operands one after another along an axis."""
    return np.concatenate(operands, int(call.attrs.axis))


def relaid(call: Any, operands: Sequence[Array]) -> Array | None:
    """An axis of the old layout is split by the factors of its blocks in the new one: OIHW to OIHW16i16o.

    Covers layouts without blocks on the old side, and sizes that the blocks divide.
    """
    old, blocks = str(call.attrs.src_layout), re.findall(r"(\d*)([A-Za-z])", str(call.attrs.dst_layout))
    if not old.isalpha() or not old.isupper():
        return None
    sizes: list[int] = []
    places: dict[tuple[str, int], int] = {}
    for axis, size in zip(old, operands[0].shape, strict=True):
        factors = [int(n) for n, name in blocks if n and name.upper() == axis]
        if size % int(np.prod(factors)):
            return None
        for i, n in enumerate((size // int(np.prod(factors)), *factors)):
            places[axis, i] = len(sizes)
            sizes.append(int(n))
    order: list[int] = []
    for i, (n, name) in enumerate(blocks):
        earlier = sum(1 for m, other in blocks[:i] if m and other.upper() == name.upper())
        order.append(places[name.upper(), earlier + 1 if n else 0])
    return operands[0].reshape(sizes).transpose(order)


def quotient(call: Any, operands: Sequence[Array]) -> Array | None:
    """A quotient of floats; those of integers are left to TVM."""
    return np.divide(*operands) if operands[0].dtype.kind == "f" else None


def reciprocal_root(call: Any, operands: Sequence[Array]) -> Array:
    """1 / sqrt x."""
    return 1 / np.sqrt(operands[0])


def by_elements(compute: Callable[..., Array]) -> Rule:
    """A numpy function of the operands, broadcast."""
    return lambda call, operands: compute(*operands)


RULES: dict[str, Rule] = {
    **dict.fromkeys(("reshape", "squeeze", "expand_dims", "nn.batch_flatten"), reshaped),
    "transpose": transposed,
    "concatenate": joined,
    "layout_transform": relaid,
    "add": by_elements(np.add),
    "subtract": by_elements(np.subtract),
    "multiply": by_elements(np.multiply),
    "negative": by_elements(np.negative),
    "sqrt": by_elements(np.sqrt),
    "divide": quotient,
    "rsqrt": reciprocal_root,
}
"""Operators that weights go through on their way into a layer."""
