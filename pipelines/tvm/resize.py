"""Resize. TVM's takes another pixel than ONNX at ties, and knows neither `axes` nor antialiasing (opset 18).

Every mode of Resize is one linear map an axis, which ONNX's own evaluator computes here from the node's attributes: its
rows pick one element each for the nearest modes, and are weights otherwise.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator
from tvm import relay
from tvm.relay import op
from tvm.relay.frontend.common import infer_shape, infer_type

Array = np.ndarray[Any, Any]

NUMBERS = ("cubic_coeff_a", "exclude_outside", "antialias")
WORDS = ("coordinate_transformation_mode", "mode", "nearest_mode")
OLD = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
"""What opset 10, which had no such attributes, meant."""


def resize(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    """Relay of a Resize node whose scales and sizes are constants. Raises ValueError on what is no map by axes."""
    x, shape = inputs[0], infer_shape(inputs[0])
    options: dict[str, Any] = {k: attributes[k] for k in NUMBERS if k in attributes}
    options |= {k: attributes[k].decode() for k in WORDS if k in attributes}
    if len(inputs) == 2:
        inputs, options = [x, None, inputs[1]], options | OLD
    if options.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        raise ValueError("coordinate_transformation_mode tf_crop_and_resize has no form in this route")
    if attributes.get("keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise ValueError("keep_aspect_ratio_policy other than stretch has no form in this route")
    axes = [a % len(shape) for a in attributes.get("axes", range(len(shape)))]
    which = "sizes" if len(inputs) > 3 and inputs[3] is not None else "scales"
    for axis, value in zip(axes, inputs[3 if which == "sizes" else 2].data.numpy(), strict=True):
        if value != (shape[axis] if which == "sizes" else 1):
            x = along(x, axis, axis_map(shape[axis], which, value, options))
    return x


def axis_map(size: int, which: str, value: Any, options: Mapping[str, Any]) -> Array:
    """The matrix [made, size] by which Resize maps an axis of `size` elements, given its "scales" or "sizes" entry."""
    names = ["x", "", "scales"] if which == "scales" else ["x", "", "", "sizes"]
    node = helper.make_node("Resize", names, ["y"], **options)
    given = np.array([value, 1 if which == "scales" else size], np.float32 if which == "scales" else np.int64)
    (matrix,) = ReferenceEvaluator(node, opsets={"": 18}).run(None, {"x": np.eye(size), which: given})
    return np.asarray(matrix)


def along(x: Any, axis: int, matrix: Array) -> Any:
    """`x` with `matrix` applied to one axis: elements taken where every row picks one, a product otherwise."""
    picks = matrix.argmax(axis=1)
    if np.array_equal(matrix, np.eye(matrix.shape[1])[picks]):
        return op.take(x, relay.const(picks.astype(np.int64)), axis=axis, mode="fast")
    dtype = infer_type(x).checked_type.dtype
    shape = list(infer_shape(x))
    order = [*(i for i in range(len(shape)) if i != axis), axis]
    rows = op.reshape(op.transpose(x, order), (-1, shape[axis]))
    made = op.nn.dense(rows, relay.const(matrix.astype(dtype)))
    back = [order.index(i) for i in range(len(shape))]
    return op.transpose(op.reshape(made, [*(shape[i] for i in order[:-1]), matrix.shape[0]]), back)
