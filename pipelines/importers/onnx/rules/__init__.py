"""Rules by operator: what to write in place of a node that torch-mlir's conversion lacks or gets wrong."""

from pipelines.importers.onnx.rewrite import Rule, by_definition
from pipelines.importers.onnx.rules import fourier, normalization, products, resize

RULES: dict[str, Rule] = {
    "BatchNormalization": normalization.batch_norm,
    "DFT": fourier.dft,
    "Dropout": normalization.dropout,
    "Einsum": products.einsum,
    "MatMul": products.matmul,
    "MeanVarianceNormalization": normalization.mean_variance,
    "Resize": resize.resize,
    "STFT": fourier.stft,
    **dict.fromkeys(
        (
            "AffineGrid",
            "CenterCropPad",
            "NegativeLogLikelihoodLoss",
            "RotaryEmbedding",
            "SoftmaxCrossEntropyLoss",
        ),
        by_definition,
    ),
}
"""Rules may use every operator that has none, and each other without going in a circle."""
