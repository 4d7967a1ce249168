"""One block of a transformer encoder: attention and a feed-forward network, each normalised first and added."""

import torch
from torch import Tensor, nn

from models.attention import Attention
from models.initial import randomise, seeded
from models.spec import ModelSpec


class EncoderBlock(nn.Module):
    """[n, s, width] -> [n, s, width]."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal=False)
        self.feed_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.act = nn.GELU()
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.down(self.act(self.up(self.feed_norm(x))))


def build(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Width 128, four heads, two sequences of 64 positions."""
    with seeded(seed):
        model = EncoderBlock(width=128, heads=4).eval()
        randomise(model, gain=1.25)
        return model, (torch.randn(2, 64, 128),)


SPEC = ModelSpec("encoder", "transformer encoder block, width 128, 4 heads, 2 x 64 positions", build)
