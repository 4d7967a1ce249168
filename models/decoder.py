"""A small decoder of the Llama family, as its two graphs: prefill, and one step on a key-value cache.

RMSNorm (Zhang and Sennrich, 2019), rotary positions (Su et al., RoFormer, 2021), grouped queries (Ainslie et al., GQA,
2023), SwiGLU (Shazeer, 2020). Both graphs of one seed share their weights, so a step on what prefill left in the cache
continues the sequence.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.initial import randomise, seeded
from models.spec import ModelSpec

VOCABULARY, WIDTH, HIDDEN, LAYERS = 512, 128, 256, 2
HEADS, KV_HEADS, HEAD = 8, 2, 16
PROMPT, CAPACITY = 16, 32
"""Positions in the prompt, and in the cache."""

Cache = tuple[Tensor, Tensor]
"""Keys and values of one layer, each [n, KV_HEADS, positions, HEAD]."""


class RMSNorm(nn.Module):
    """[..., WIDTH] -> [..., WIDTH] with a root mean square of `weight`."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(WIDTH).uniform_(0.6, 1.4))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """Turn each pair (x[i], x[i + HEAD / 2]) of [n, heads, s, HEAD] by the angle of its position, int64 [s]."""
    rates = 10000.0 ** (-torch.arange(0, HEAD, 2, dtype=x.dtype) / HEAD)
    angles = positions.to(x.dtype)[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class Attention(nn.Module):
    """Attention in which HEADS / KV_HEADS query heads share a key and a value head."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, HEADS * HEAD, bias=False)
        self.key = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.value = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.out = nn.Linear(HEADS * HEAD, WIDTH, bias=False)

    def project(self, x: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rotated queries, rotated keys, and values of [n, s, WIDTH], each [n, heads, s, HEAD]."""
        query, key, value = (f(x).unflatten(-1, (-1, HEAD)).transpose(1, 2) for f in (self.query, self.key, self.value))
        return rotate(query, positions), rotate(key, positions), value

    def attend(self, query: Tensor, cache: Cache, visible: Tensor) -> Tensor:
        """Mix the cached values; `visible` is bool [s, positions]. Returns [n, s, WIDTH]."""
        key, value = (kv[:, :, None].expand(-1, -1, HEADS // KV_HEADS, -1, -1).flatten(1, 2) for kv in cache)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Attention and a gated feed-forward network, each normalised first and added."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.feed_norm = RMSNorm(), RMSNorm()
        self.attention = Attention()
        self.gate = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def feed(self, x: Tensor) -> Tensor:
        """[n, s, WIDTH] -> [n, s, WIDTH]."""
        y = self.feed_norm(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """The weights both graphs share."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = RMSNorm()
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)


class Prefill(Decoder):
    """Tokens int64 [n, s] -> logits [n, s, VOCABULARY], keys and values [LAYERS, n, KV_HEADS, CAPACITY, HEAD].

    Places of the cache after the prompt are zero.
    """

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.embedding(tokens)
        positions = torch.arange(tokens.shape[1])
        visible = positions[:, None] >= positions
        caches: list[Cache] = []
        for layer in self.layers:
            assert isinstance(layer, Layer)
            query, key, value = layer.attention.project(layer.attention_norm(x), positions)
            x = layer.feed(x + layer.attention.attend(query, (key, value), visible))
            caches.append((key, value))
        room = (0, 0, 0, CAPACITY - tokens.shape[1])
        keys, values = (functional.pad(torch.stack(kv), room) for kv in zip(*caches, strict=True))
        return self.head(self.norm(x)), keys, values


class Step(Decoder):
    """Token int64 [n, 1], position int64 [1], keys and values -> logits [n, 1, VOCABULARY], the new keys and values.

    Positions of the cache from `position` on are not read; the token's own is written.
    """

    def forward(self, token: Tensor, position: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.embedding(token)
        places = torch.arange(CAPACITY)
        here, visible = (places == position)[:, None], (places <= position)[None, :]
        caches: list[Cache] = []
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, Layer)
            query, key, value = layer.attention.project(layer.attention_norm(x), position)
            cache = torch.where(here, key, keys[i]), torch.where(here, value, values[i])
            x = layer.feed(x + layer.attention.attend(query, cache, visible))
            caches.append(cache)
        new_keys, new_values = (torch.stack(kv) for kv in zip(*caches, strict=True))
        return self.head(self.norm(x)), new_keys, new_values


def prompt(seed: int) -> Tensor:
    """A prompt of one sequence."""
    with seeded(seed):
        return torch.randint(0, VOCABULARY, (1, PROMPT))


def build_prefill(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """Prefill of one prompt."""
    with seeded(seed):
        model = Prefill().eval()
        randomise(model, gain=1.25)
    return model, (prompt(seed),)


@torch.no_grad()
def build_step(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The step after that prompt, on the cache which prefill left."""
    prefill, (tokens,) = build_prefill(seed)
    logits, keys, values = prefill(tokens)
    with seeded(seed):
        model = Step().eval()
    model.load_state_dict(prefill.state_dict())
    return model, (logits[:, -1:].argmax(-1), torch.tensor([PROMPT]), keys, values)


PREFILL = ModelSpec("decoder_prefill", "small decoder (RMSNorm, rotary, grouped queries), 16 tokens", build_prefill)
STEP = ModelSpec("decoder_step", "one token of the small decoder on a key-value cache of 32 places", build_step)
