"""A quantised perceptron: int8 weights and activations, products summed in int32, one scale a channel.

Scales are powers of two and biases integers in units of the sum, as on hardware that rescales by shifting. So every
value is exact in float32 as in float64, no rounding can fall differently, and a correct compiler reproduces the
reference to the last bit.
"""

import torch
from torch import Tensor, nn

from models.initial import seeded
from models.spec import ModelSpec


class QuantisedLinear(nn.Module):
    """float [n, inputs] -> float [n, outputs], through int8 at 2**-5 a step."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.step = 2.0**-5
        self.weight: Tensor
        self.bias: Tensor
        self.scale: Tensor
        self.register_buffer("weight", torch.randint(-127, 128, (inputs, outputs), dtype=torch.int8))
        self.register_buffer("bias", torch.randint(-2000, 2000, (outputs,), dtype=torch.int32))
        self.register_buffer("scale", 2.0 ** torch.randint(-15, -12, (outputs,)))

    def forward(self, x: Tensor) -> Tensor:
        steps = torch.clamp(torch.round(x / self.step), -128, 127).to(torch.int8)
        total = torch.matmul(steps.to(torch.int32), self.weight.to(torch.int32)) + self.bias
        return total.to(x.dtype) * self.scale


def build(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """128-128-32 with ReLU, batch 32."""
    with seeded(seed):
        model = nn.Sequential(QuantisedLinear(128, 128), nn.ReLU(), QuantisedLinear(128, 32)).eval()
        return model, (torch.randn(32, 128),)


SPEC = ModelSpec("mlp_int8", "quantised perceptron 128-128-32: int8 weights, int32 sums, batch 32", build)
