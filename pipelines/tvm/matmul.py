"""MatMul on static shapes. TVM's works out shapes at run time and compiles a function to fold each of them."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from tvm.relay import op
from tvm.relay.frontend.common import infer_shape


def matmul(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Relay of a MatMul node (numpy's rules): one dense product where the right side is a matrix, else batched ones."""
    a, b = inputs
    left, right = list(infer_shape(a)), list(infer_shape(b))
    if len(left) == 1:
        a, made = op.expand_dims(a, 0), [*right[:-2], *right[-1:]] if len(right) > 1 else []
        left = [1, *left]
    else:
        made = [*np.broadcast_shapes(left[:-2], right[:-2]), left[-2], *(right[-1:] if len(right) > 1 else ())]
    if len(right) == 1:
        b, right = op.expand_dims(b, 1), [*right, 1]
    depth, columns = right[-2], right[-1]
    if len(right) == 2:
        rows = _shaped(a, left, [prod(left[:-1]), depth])
        out, shape = op.nn.dense(rows, op.transpose(b)), [prod(left[:-1]), columns]
    else:
        batch = np.broadcast_shapes(left[:-2], right[:-2])
        a = _batched(a, left, batch)
        b = op.transpose(_batched(b, right, batch), (0, 2, 1))
        out, shape = op.nn.batch_matmul(a, b), [prod(batch), left[-2], columns]
    return _shaped(out, shape, made)


def _batched(x: Any, shape: list[int], batch: tuple[int, ...]) -> Any:
    """A stack of matrices with one batch axis, broadcast to `batch`."""
    whole = [*batch, *shape[-2:]]
    x = x if shape == whole else op.broadcast_to(x, whole)
    return _shaped(x, whole, [prod(batch), *shape[-2:]])


def _shaped(x: Any, shape: list[int], wanted: list[int]) -> Any:
    return x if shape == wanted else op.reshape(x, wanted)
