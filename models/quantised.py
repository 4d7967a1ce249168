"""Layers on grids of int8 steps, written as pairs of quantise and dequantise, which ONNX calls QDQ.

Every step is a power of two, as on hardware that rescales by shifting. Then products, sums and rescalings are exact in
float32 as in float64, no rounding can fall differently, and whoever computes in integers (onnxruntime, an accelerator)
and whoever computes in floating point agree to the last bit.

The first tensors that a model of these layers sees decide its steps: running it once is the calibration.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.ao.quantization.fx import _decomposed  # registers torch.ops.quantized_decomposed
from torch.nn import functional

OPS: Any = torch.ops.quantized_decomposed

assert _decomposed is not None


def step_for(largest: float) -> float:
    """The smallest power of two whose 127 steps reach `largest`."""
    return 2.0 ** math.ceil(math.log2(largest / 127))


class Grid(nn.Module):
    """Rounds to int8 steps and back."""

    def __init__(self) -> None:
        super().__init__()
        self.step = 0.0

    def forward(self, x: Tensor) -> Tensor:
        if not self.step:
            self.step = step_for(float(x.abs().max()))
        steps = OPS.quantize_per_tensor(x, self.step, 0, -128, 127, torch.int8)
        return OPS.dequantize_per_tensor(steps, self.step, 0, -128, 127, torch.int8)


class QuantisedLayer(nn.Module):
    """A convolution or linear layer with int8 weights, a step for each output channel, and an int32 bias.

    Its input is on the grid `source`, and the bias counts in steps of input times weight. The output is on a grid of
    its own, `out`, after a ReLU if there is one.
    """

    def __init__(self, layer: nn.Conv2d | nn.Linear, source: Grid, relu: bool = False) -> None:
        super().__init__()
        assert layer.bias is not None, "fold the norm into the layer first"
        weight = layer.weight.detach()
        steps = torch.tensor([step_for(float(row.abs().max())) for row in weight])
        self.weight: Tensor
        self.steps: Tensor
        self.zeros: Tensor
        self.bias: Tensor | None
        whole = torch.round(weight / steps.reshape(-1, *[1] * (weight.ndim - 1)))
        self.register_buffer("weight", whole.to(torch.int8))
        self.register_buffer("steps", steps)
        self.register_buffer("zeros", torch.zeros(len(steps), dtype=torch.int64))
        self.register_buffer("bias", None)
        self._bias = layer.bias.detach()
        self.window = (layer.stride, [int(p) for p in layer.padding]) if isinstance(layer, nn.Conv2d) else None
        self.relu = relu
        self.source, self.out = source, Grid()

    def forward(self, x: Tensor) -> Tensor:
        units = self.steps * self.source.step
        if self.bias is None:
            self.bias = torch.round(self._bias / units).to(torch.int32)
        weight = OPS.dequantize_per_channel(self.weight, self.steps, self.zeros, 0, -128, 127, torch.int8)
        bias = OPS.dequantize_per_channel(self.bias, units, self.zeros, 0, -(2**31), 2**31 - 1, torch.int32)
        if self.window is None:
            # As a matrix, for a bias is part of ONNX's product of matrices and not of its product of stacks of them.
            y = functional.linear(x.flatten(0, -2), weight, bias)
        else:
            y = functional.conv2d(x, weight, bias, *self.window)
        y = self.out(functional.relu(y) if self.relu else y)
        return y if self.window else y.unflatten(0, x.shape[:-1])
