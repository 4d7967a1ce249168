"""Problems of the benchmark that are not in the zoo: `tests/bench/models.py:matmul` and so on."""

import torch
from torch import Tensor, nn


class _Matmul(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a @ b


class _Attention(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v)


def matmul() -> tuple[nn.Module, tuple[Tensor, ...]]:
    """1024 x 1024 x 1024 in float32."""
    torch.manual_seed(0)
    return _Matmul(), (torch.randn(1024, 1024), torch.randn(1024, 1024))


def attention() -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Eight heads, sequence 512, head size 64, full, in float32."""
    torch.manual_seed(0)
    return _Attention(), tuple(torch.randn(1, 8, 512, 64) for _ in range(3))
