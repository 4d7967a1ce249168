"""Inverted residual blocks (Sandler et al., MobileNetV2, 2018): depthwise convolutions between 1x1 ones."""

import torch
from torch import Tensor, nn

from models.initial import randomise, seeded
from models.spec import ModelSpec


class InvertedResidual(nn.Module):
    """[n, inputs, h, w] -> [n, outputs, h / stride, w / stride], through `expand` times as many channels.

    The input is added where it has the output's shape.
    """

    def __init__(self, inputs: int, outputs: int, stride: int, expand: int = 4) -> None:
        super().__init__()
        hidden = inputs * expand
        self.adds = stride == 1 and inputs == outputs
        self.expand = nn.Sequential(nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6())
        self.depthwise = nn.Sequential(
            nn.Conv2d(hidden, hidden, 3, stride, padding=1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(),
        )
        self.project = nn.Sequential(nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.adds else y


def build(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """A block of stride 2 and one with a residual, on 16 channels of 32x32."""
    with seeded(seed):
        model = nn.Sequential(InvertedResidual(16, 24, stride=2), InvertedResidual(24, 24, stride=1)).eval()
        # ReLU6 cuts at 6; a gain of 2 puts a few values above it.
        randomise(model, gain=2.0)
        return model, (torch.randn(1, 16, 32, 32),)


SPEC = ModelSpec("mobile", "two MobileNetV2 blocks: depthwise convolutions, ReLU6, 16 x 32 x 32", build)
