"""Operators that TVM lacks, or confuses with a vendor's of the same name, replaced by ONNX's own definition."""

from onnx import ModelProto, helper, inliner

from pipelines.importers.onnx.graph import Graph
from pipelines.importers.onnx.shapes import settle

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
    """The model with those operators written out, types known and constants folded again."""
    if not any(node.op_type in EXPANDED for node in model.graph.node):
        return model
    functions = [("", name) for name in EXPANDED]
    typed = ModelProto()
    typed.CopyFrom(model)
    # The inliner looks up the type of a weight among the values, where a weight does not have to be.
    typed.graph.value_info.extend(
        helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in model.graph.initializer
    )
    model = inliner.inline_selected_functions(typed, functions, inline_schema_functions=True)
    return settle(Graph(model)).to_model()
