"""A convolution and a dense layer, large enough that a schedule matters and small enough to search in a test."""

import torch
from torch import nn


class ConvDense(nn.Module):
    """[1, 16, 28, 28] -> [1, 64]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(16, 32, 3, padding=1)
        self.dense = nn.Linear(32 * 28 * 28, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dense(torch.relu(self.conv(x)).flatten(1))


def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Weights and input from a fixed seed."""
    torch.manual_seed(0)
    return ConvDense().eval(), (torch.randn(1, 16, 28, 28),)
