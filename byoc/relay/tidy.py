"""Brings products next to what is fused with them, by moving reshapes and transposes out from between.

ONNX has stacks of matrices where Relay has one: between a product and its quantisation or bias there is a reshape.
Moves commute with everything element by element, and a maximum with every grid, so

    dense(reshape(dequantize(q)))      becomes  dense(dequantize(reshape(q)))
    conv2d(max_pool2d(dequantize(q)))  becomes  conv2d(dequantize(max_pool2d(q)))
    quantize(reshape(product))         becomes  reshape(quantize(product))
    reshape(product) + bias[n]         becomes  reshape(product + bias[n])      (also bias_add, relu, maximum)

and a dequantize that several operations read is written once for each, or no pattern could take it in.
"""

from typing import Any

import numpy as np
from tvm import relay
from tvm.relay import op
from tvm.relay.dataflow_pattern import DFPatternCallback, is_constant, is_op, rewrite, wildcard
from tvm.relay.transform import function_pass

PRODUCTS = ("nn.dense", "nn.batch_matmul", "nn.conv2d")


def tidy() -> Any:
    """The pass; it needs types."""

    def transform(function: Any, module: Any, context: Any) -> Any:
        function = rewrite([_DequantizeLast(), _QuantizeFirst(), _ElementwiseFirst()], function, module)
        return _Unshared().visit(function)

    return function_pass(transform, opt_level=0, name="TidyForSystolic")


def moves(x: Any) -> Any:
    """A pattern: a reshape or a transpose of `x`."""
    return is_op("reshape")(x) | is_op("transpose")(x)


class _DequantizeLast(DFPatternCallback):
    """move(dequantize(q)) -> dequantize(move(q)); scales of channels follow a transpose but nothing else."""

    def __init__(self) -> None:
        super().__init__(require_type=True)
        self.steps, self.scale, self.zero = wildcard(), is_constant(), is_constant()
        self.inner = is_op("qnn.dequantize")(self.steps, self.scale, self.zero)
        self.pattern = moves(self.inner) | is_op("nn.max_pool2d")(self.inner)

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        inner, steps, scale, zero = (node_map[p][0] for p in (self.inner, self.steps, self.scale, self.zero))
        axis = int(inner.attrs.axis)
        if not single(scale):
            if str(post.op.name) != "transpose":
                return post
            axes = [int(a) for a in post.attrs.axes]
            axis = axes.index(axis % len(axes))
        moved = relay.Call(post.op, [steps], post.attrs, span=pre.span)
        made = relay.qnn.op.dequantize(moved, scale, zero, axis, str(inner.attrs.out_dtype))
        return spanned(made, inner.span)


class _QuantizeFirst(DFPatternCallback):
    """quantize(move(x)) -> move(quantize(x)), for one scale."""

    def __init__(self) -> None:
        super().__init__(require_type=True)
        self.x, self.scale, self.zero = wildcard(), is_constant(), is_constant()
        self.inner = moves(self.x)
        self.pattern = is_op("qnn.quantize")(self.inner, self.scale, self.zero)

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        if not single(node_map[self.scale][0]):
            return post
        inner = node_map[self.inner][0]
        steps = relay.Call(
            post.op, [node_map[self.x][0], node_map[self.scale][0], node_map[self.zero][0]], post.attrs, span=pre.span
        )
        return relay.Call(inner.op, [steps], inner.attrs, span=inner.span)


class _ElementwiseFirst(DFPatternCallback):
    """reshape(x) + v -> reshape(x + v), v constant along all axes but the last, which the reshape keeps; relu too."""

    def __init__(self) -> None:
        super().__init__(require_type=True)
        inner = is_op("reshape")(wildcard())
        added = is_op("add")(inner, wildcard()) | is_op("add")(wildcard(), inner)
        self.pattern = added | is_op("maximum")(is_constant(), inner) | is_op("nn.relu")(inner)

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        at = next(i for i, a in enumerate(pre.args) if is_call(a, "reshape"))
        x, last = pre.args[at].args[0], shape_of(pre)[-1:]
        others = {i: squeezed(shape_of(a)) for i, a in enumerate(pre.args) if i != at}
        if shape_of(x)[-1:] != last or not is_product(x) or any(s not in ((), last) for s in others.values()):
            return post
        inner = post.args[at]
        flat = [inner.args[0] if i == at else _reshaped(a, pre.args[i], others[i]) for i, a in enumerate(post.args)]
        made = relay.Call(post.op, flat, post.attrs, span=pre.span)
        return relay.Call(inner.op, [made], inner.attrs, span=inner.span)


def _reshaped(x: Any, typed: Any, shape: tuple[Any, ...]) -> Any:
    return x if shape_of(typed) == shape else op.reshape(x, shape)


class _Unshared(relay.ExprMutator):
    """A dequantize of its own for each operation that reads one."""

    def visit_call(self, call: Any) -> Any:
        made = super().visit_call(call)
        if any(is_call(a, "qnn.dequantize") for a in made.args):
            args = [
                relay.Call(a.op, a.args, a.attrs, span=a.span) if is_call(a, "qnn.dequantize") else a for a in made.args
            ]
            return relay.Call(made.op, args, made.attrs, made.type_args, made.span)
        return made


def is_call(x: Any, *names: str) -> bool:
    """Whether an expression is a call of one of these operators."""
    return isinstance(x, relay.Call) and str(getattr(x.op, "name", "")) in names


def is_product(x: Any) -> bool:
    """Whether an expression is a product, or one with a bias or a ReLU on it already."""
    return is_call(x, *PRODUCTS) or (is_call(x, "add", "nn.relu", "maximum") and any(map(is_product, x.args)))


def shape_of(x: Any) -> tuple[Any, ...]:
    """Sizes of an expression with a type: numbers, and TVM's own objects where they are not known."""
    return tuple(int(d) if hasattr(d, "value") else d for d in x.checked_type.shape)


def squeezed(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """A shape without the axes of size one before its last; () when there is one element."""
    rest = tuple(d for d in shape[:-1] if d != 1) + shape[-1:]
    return () if rest == (1,) else rest


def single(scale: Any) -> bool:
    """Whether a constant has one element."""
    return int(np.prod(scale.data.shape, dtype=int)) == 1


def spanned(call: Any, span: Any) -> Any:
    """The call with the place in the user's model that it came from."""
    return relay.Call(call.op, call.args, call.attrs, call.type_args, span)
