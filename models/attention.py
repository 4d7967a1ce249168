"""Multi-head self-attention (Vaswani et al., Attention Is All You Need, 2017)."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.initial import randomise, seeded
from models.spec import ModelSpec


class Attention(nn.Module):
    """[n, s, width] -> [n, s, width]; causal attention lets a position see itself and those before it."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def split(self, x: Tensor) -> Tensor:
        """[n, s, width] -> [n, heads, s, width / heads]."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


def build(seed: int, causal: bool = False) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Four heads of 64 over 128 positions."""
    with seeded(seed):
        model = Attention(width=256, heads=4, causal=causal).eval()
        # Scores of about 1.5 in magnitude: sharp enough that every position weighs the others differently.
        randomise(model, gain=1.25)
        return model, (torch.randn(1, 128, 256),)


def build_causal(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The same with a causal mask."""
    return build(seed, causal=True)


def build_fp16(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The same weights and inputs in float16."""
    model, (x,) = build(seed)
    return model.half(), (x.half(),)


SPEC = ModelSpec("attention", "self-attention, 4 heads of 64, 128 positions", build)
CAUSAL = ModelSpec("attention_causal", "self-attention with a causal mask", build_causal)
FP16 = ModelSpec("attention_fp16", "self-attention in float16", build_fp16, "float16")
