"""An ONNX model as text to read."""

import math

from onnx import GraphProto, ModelProto, TensorProto, printer

SHOWN = 16
"""Weights of up to this many elements are written out."""
ELIDED = '["elided":'
"""What stands in place of a larger weight's values."""


def listing(model: ModelProto) -> str:
    """The graph as `onnx.printer` writes it, with the size in place of a large weight's values."""
    graph = model.graph
    shown = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    shown.graph.CopyFrom(GraphProto(name=graph.name, node=graph.node, input=graph.input, output=graph.output))
    shown.graph.value_info.extend(graph.value_info)
    for weight in graph.initializer:
        size = math.prod(weight.dims)
        if size <= SHOWN:
            shown.graph.initializer.append(weight)
        else:
            brief = shown.graph.initializer.add(name=weight.name, data_type=weight.data_type, dims=weight.dims)
            brief.data_location = TensorProto.EXTERNAL
            brief.external_data.add(key="elided", value=f"{size} elements")
    return printer.to_text(shown)
