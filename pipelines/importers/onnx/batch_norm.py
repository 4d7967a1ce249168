"""Folds batch norms into the convolution or matrix product before them."""

from collections import Counter

import numpy as np
from onnx import NodeProto

from pipelines.importers.onnx.graph import Array, Graph, attributes, used_values, value_at


def fold_batch_norms(graph: Graph) -> int:
    """w' = w g / sqrt(var + eps) for each output channel, b' = (b - mean) g / sqrt(var + eps) + beta; how many."""
    makers = {name: node for node in graph.nodes for name in node.output}
    uses = Counter(name for node in graph.nodes for name in used_values([node]))
    uses.update(v.name for v in graph.outputs)
    folded: set[int] = set()
    for i, norm in enumerate(graph.nodes):
        layer = makers.get(value_at(norm.input, 0))
        if norm.op_type == "BatchNormalization" and layer is not None and uses[norm.input[0]] == 1:
            affine = inference_affine(graph, norm)
            if affine is not None and _fold_into(graph, layer, *affine):
                layer.output[0] = norm.output[0]
                folded.add(i)
    graph.nodes = [node for i, node in enumerate(graph.nodes) if i not in folded]
    return len(folded)


def inference_affine(graph: Graph, norm: NodeProto) -> tuple[Array, Array] | None:
    """Scale and shift for each channel, in float64; None for a norm that trains or whose statistics are not known."""
    if any(name not in graph.constants for name in norm.input[1:]) or attributes(norm).get("training_mode"):
        return None
    gamma, beta, mean, variance = (graph.constants[name].astype(np.float64) for name in norm.input[1:])
    scale = gamma / np.sqrt(variance + attributes(norm).get("epsilon", 1e-5))
    return scale, beta - mean * scale


def _fold_into(graph: Graph, layer: NodeProto, scale: Array, shift: Array) -> bool:
    """Change a layer's weights; False where it is no convolution or matrix product with known ones."""
    options = attributes(layer)
    channel = {"Conv": 0, "Gemm": 0 if options.get("transB") else 1}.get(layer.op_type)
    bias = value_at(layer.input, 2)
    known = graph.constants
    if channel is None or layer.input[1] not in known or (bias and bias not in known):
        return False
    if layer.op_type == "Gemm" and options.get("beta", 1.0) != 1.0:
        return False
    weight = known[layer.input[1]]
    old = known[bias].astype(np.float64) if bias else np.zeros_like(scale)
    spread = scale.reshape([-1 if d == channel else 1 for d in range(weight.ndim)])
    layer.input[1] = graph.constant((weight * spread).astype(weight.dtype), layer.input[1])
    new = graph.constant((old * scale + shift).astype(weight.dtype), bias or f"{layer.name}.bias")
    layer.input[:] = [*layer.input[:2], new]
    return True
