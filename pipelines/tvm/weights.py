"""A model's weights apart from its graph, so that they are kept once, in the trace's store."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import ModelProto, numpy_helper

Array = np.ndarray[Any, Any]

INLINE = 16
"""Constants of up to this many elements stay in the graph: among them is everything that decides a shape."""


def without_weights(model: ModelProto) -> tuple[bytes, dict[str, Array]]:
    """The model's file without its larger weights, and those by name."""
    weights: dict[str, Array] = {}
    rest = ModelProto()
    rest.CopyFrom(model)
    del rest.graph.initializer[:]
    for weight in model.graph.initializer:
        array = numpy_helper.to_array(weight)
        if array.size <= INLINE:
            rest.graph.initializer.append(weight)
        else:
            weights[weight.name] = array
    return rest.SerializeToString(), weights


def with_weights(file: bytes, weights: Mapping[str, Array]) -> ModelProto:
    """The model again."""
    model = ModelProto.FromString(file)
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return model
