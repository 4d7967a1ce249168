"""A multilayer perceptron: the smallest model in which matrix multiplication dominates."""

import torch
from torch import Tensor, nn

from models.initial import randomise, seeded
from models.spec import ModelSpec


class MLP(nn.Module):
    """[n, 256] -> [n, 10], with GELU between three linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(256, 512)
        self.mid = nn.Linear(512, 512)
        self.down = nn.Linear(512, 10)
        self.act = nn.GELU()

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.act(self.mid(self.act(self.up(x)))))


def build(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The perceptron on a batch of 64, in float32."""
    with seeded(seed):
        model = MLP().eval()
        randomise(model)
        return model, (torch.randn(64, 256),)


def build_fp16(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The same weights and inputs in float16."""
    model, (x,) = build(seed)
    return model.half(), (x.half(),)


SPEC = ModelSpec("mlp", "multilayer perceptron 256-512-512-10 with GELU, batch 64", build)
FP16 = ModelSpec("mlp_fp16", "the multilayer perceptron in float16", build_fp16, "float16")
