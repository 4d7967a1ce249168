"""Operators that TVM lacks, or confuses with a vendor's of the same name, replaced by ONNX's own definition."""

from onnx import ModelProto, NodeProto, defs, helper, inliner

from pipelines.importers.onnx.graph import Graph, opset_of
from pipelines.importers.onnx.shapes import infer

EXPANDED = (
    "AffineGrid",
    "Attention",  # TVM has the operator of that name of com.microsoft, whose inputs are others
    "BlackmanWindow",
    "CenterCropPad",
    "GroupNormalization",
    "HammingWindow",
    "HannWindow",
    "RMSNormalization",
    "RotaryEmbedding",
    "SoftmaxCrossEntropyLoss",
    "Swish",
)
"""Operators that ONNX defines by simpler ones."""


def expand(model: ModelProto) -> ModelProto:
    """The model with those operators written out."""
    if not any(node.op_type in EXPANDED for node in model.graph.node):
        return model
    graph = Graph(model)
    infer(graph)
    typed = graph.to_model()
    # The inliner looks up the type of a weight among the values, where a weight does not have to be.
    typed.graph.value_info.extend(
        helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in typed.graph.initializer
    )
    for node in typed.graph.node:
        if node.op_type in EXPANDED:
            _spell_defaults(node, opset_of(model))
    return inliner.inline_selected_functions(typed, [("", name) for name in EXPANDED], inline_schema_functions=True)


def _spell_defaults(node: NodeProto, opset: int) -> None:
    """Write out the attributes that a node leaves at their default, which the inliner does not look up."""
    given = {a.name for a in node.attribute}
    schema = defs.get_schema(node.op_type, opset)
    node.attribute.extend(
        a.default_value for n, a in schema.attributes.items() if n not in given and a.default_value.name
    )
