"""The smallest model with a product, a broadcast bias and a nonlinearity, for golden IR."""

import torch
from torch import Tensor, nn


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 4))
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(x @ self.weight + self.bias)


def make() -> tuple[nn.Module, tuple[Tensor, ...]]:
    """A layer of 8 to 4 features on a batch of 2."""
    torch.manual_seed(0)
    return _Layer(), (torch.randn(2, 8),)
