"""Operators that TVM 0.19 lacks, gets wrong, or confuses with a vendor's of the same name, in terms of others."""

from pipelines.importers.onnx.graph import Value, where
from pipelines.importers.onnx.rewrite import Rewrite, Rule, by_definition
from pipelines.importers.onnx.rules import RULES
from workbench.core.errors import CompileError

BY_DEFINITION = (
    "AffineGrid",
    "Attention",  # TVM has the operator of that name of com.microsoft, whose inputs are others
    "BlackmanWindow",
    "CausalConvWithState",
    "CenterCropPad",
    "Gelu",
    "GroupNormalization",
    "HammingWindow",
    "HannWindow",
    "LinearAttention",
    "RMSNormalization",
    "RotaryEmbedding",
    "SoftmaxCrossEntropyLoss",
    "Swish",
)
"""Operators that ONNX defines by simpler ones."""

BY_RULE = (
    *("GRU", "LSTM", "RNN"),  # TVM's run a layer of direction "reverse" forwards
    *("ConvInteger", "QLinearConv", "QLinearMatMul"),
    *("DFT", "GridSample", "LpNormalization", "LpPool", "STFT"),
)
"""Operators for which the MLIR route has a rule, too."""


def in_evaluation(r: Rewrite) -> list[Value] | None:
    """BatchNormalization stays as it is; TVM takes one in training mode for one in evaluation mode."""
    if r.options.get("training_mode"):
        raise CompileError(f"{where(r.node)} is in training mode; export the model in evaluation mode")
    return None


TVM_RULES: dict[str, Rule] = {
    **dict.fromkeys(BY_DEFINITION, by_definition),
    **{name: RULES[name] for name in BY_RULE},
    "BatchNormalization": in_evaluation,
}
"""What to write in place of a node."""
