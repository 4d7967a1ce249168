"""The transformer encoder block in int8: every matrix product takes int8 steps; norms, softmax and GELU take floats."""

import math

import torch
from torch import Tensor, nn

from models.attention import Attention
from models.encoder import EncoderBlock
from models.initial import randomise, seeded
from models.quantised import Grid, QuantisedLayer
from models.spec import ModelSpec


class QuantisedAttention(nn.Module):
    """[n, s, width] on the grid `source` -> [n, s, width] on a grid."""

    def __init__(self, attention: Attention, source: Grid) -> None:
        super().__init__()
        self.split = attention.split
        self.query, self.key, self.value = (
            QuantisedLayer(layer, source) for layer in (attention.query, attention.key, attention.value)
        )
        self.scores, self.weights, self.mixed = Grid(), Grid(), Grid()
        self.out = QuantisedLayer(attention.out, self.mixed)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = self.scores(query @ key.transpose(-1, -2))
        weights = self.weights(torch.softmax(scores / math.sqrt(query.shape[-1]), dim=-1))
        mixed = self.mixed(weights @ value)
        return self.out(mixed.transpose(1, 2).flatten(2))


class QuantisedEncoderBlock(nn.Module):
    """[n, s, width] -> [n, s, width]; the sums of the two residual connections stay in floating point."""

    def __init__(self, block: EncoderBlock) -> None:
        super().__init__()
        self.attention_norm, self.feed_norm, self.act = block.attention_norm, block.feed_norm, block.act
        self.normed, self.fed, self.active = Grid(), Grid(), Grid()
        self.attention = QuantisedAttention(block.attention, self.normed)
        self.up = QuantisedLayer(block.up, self.fed)
        self.down = QuantisedLayer(block.down, self.active)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.normed(self.attention_norm(x)))
        return x + self.down(self.active(self.act(self.up(self.fed(self.feed_norm(x))))))


@torch.no_grad()
def build(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Width 128, four heads, two sequences of 64 positions."""
    with seeded(seed):
        model = EncoderBlock(width=128, heads=4).eval()
        randomise(model, gain=1.25)
        x = torch.randn(2, 64, 128)
    quantised = QuantisedEncoderBlock(model).eval()
    quantised(x)
    return quantised, (x,)


SPEC = ModelSpec("encoder_int8", "transformer encoder block in int8: QDQ around every matrix product", build)
