"""Rules by operator: what to write in place of a node that torch-mlir's conversion lacks or gets wrong."""

from pipelines.importers.onnx.rewrite import Rule, by_definition
from pipelines.importers.onnx.rules import (
    elementwise,
    fourier,
    indexing,
    normalization,
    products,
    quantization,
    recurrent,
    resize,
    sampling,
    windows,
)

BY_DEFINITION = (
    "AffineGrid",
    "Attention",
    "CausalConvWithState",
    "CenterCropPad",
    "DepthToSpace",
    "DynamicQuantizeLinear",
    "LinearAttention",
    "NegativeLogLikelihoodLoss",
    "RMSNormalization",
    "RotaryEmbedding",
    "SoftmaxCrossEntropyLoss",
    "SpaceToDepth",
    "Swish",
)
"""Operators that ONNX itself defines in terms of others, and that have no conversion or a wrong one."""

RULES: dict[str, Rule] = {
    **dict.fromkeys(BY_DEFINITION, by_definition),
    "BatchNormalization": normalization.batch_norm,
    "BitShift": elementwise.bit_shift,
    "CastLike": elementwise.cast_like,
    "Compress": indexing.compress,
    "ConvInteger": quantization.conv_integer,
    "ConvTranspose": windows.conv_transpose,
    "CumProd": indexing.cumulative_product,
    "DFT": fourier.dft,
    "DequantizeLinear": quantization.dequantize,
    "Dropout": normalization.dropout,
    "Einsum": products.einsum,
    "GRU": recurrent.unroll,
    "GridSample": sampling.grid_sample,
    "LSTM": recurrent.unroll,
    "LpNormalization": elementwise.lp_normalization,
    "LpPool": windows.lp_pool,
    "MatMul": products.matmul,
    "MatMulInteger": quantization.matmul_integer,
    "MeanVarianceNormalization": normalization.mean_variance,
    "Pad": indexing.pad,
    "QLinearConv": quantization.qlinear_conv,
    "QLinearMatMul": quantization.qlinear_matmul,
    "QuantizeLinear": quantization.quantize,
    "RNN": recurrent.unroll,
    "Resize": resize.resize,
    "ReverseSequence": indexing.reverse_sequence,
    "STFT": fourier.stft,
    "Slice": indexing.slice_,
}
"""A rule may use every operator that has none, and those of other rules without going in a circle."""
