"""Normalisations in evaluation mode as a scale and a shift of each channel."""

import numpy as np

from pipelines.importers.onnx.batch_norm import inference_affine
from pipelines.importers.onnx.graph import Value
from pipelines.importers.onnx.rewrite import Rewrite
from workbench.core.errors import CompileError


def batch_norm(r: Rewrite) -> list[Value] | None:
    """x s + b with s = gamma / sqrt(var + eps), b = beta - mean s. The conversion has the training form right."""
    if r.options.get("training_mode"):
        return None
    channels = [1 if d != 1 else -1 for d in range(max(2, len(r.shape())))][1:]
    affine = inference_affine(r.graph, r.node)
    if affine is not None:
        scale, shift = (r.const(a.reshape(channels), r.dtype()) for a in affine)
    else:
        gamma, beta, mean, variance = (
            r.op("Reshape", r.cast(r.input(i), r.dtype()), r.ints(*channels)) for i in range(1, 5)
        )
        deviation = r.op("Sqrt", r.op("Add", variance, r.const(r.options.get("epsilon", 1e-5), r.dtype())))
        scale = r.op("Div", gamma, deviation)
        shift = r.op("Sub", beta, r.op("Mul", mean, scale))
    return [r.op("Add", r.op("Mul", r.input(0), scale), shift)]


def mean_variance(r: Rewrite) -> list[Value]:
    """(x - mean) / (deviation + 1e-9) over `axes`, as the ONNX definition has it."""
    axes = r.ints(*r.options.get("axes", [0, 2, 3]))
    mean = r.op("ReduceMean", r.input(0), axes)
    square = r.op("ReduceMean", r.op("Mul", r.input(0), r.input(0)), axes)
    deviation = r.op("Sqrt", r.op("Sub", square, r.op("Mul", mean, mean)))
    return [r.op("Div", r.op("Sub", r.input(0), mean), r.op("Add", deviation, r.const(1e-9, r.dtype())))]


def dropout(r: Rewrite) -> list[Value] | None:
    """The identity: a compiled model does not train."""
    training = r.known(2)
    ratio = r.known(1)
    if training is not None and bool(training.reshape(-1)[0]) and not (ratio is not None and float(ratio) == 0.0):
        raise CompileError(f"Dropout at node '{r.node.name}' is in training mode; export the model in evaluation mode")
    kept = r.op("Identity", r.input(0))
    if len(r.node.output) == 1 or not r.node.output[1]:
        return [kept]
    return [kept, r.op("Expand", r.const(True, np.bool_), r.ints(*r.shape()))]
