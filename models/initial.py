"""Weights and statistics for models that were never trained, made so that every one of them shows in the output."""

from collections.abc import Generator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def seeded(seed: int) -> Generator[None]:
    """Draw from `seed` inside the block; the caller's random state comes back afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@torch.no_grad()
def randomise(model: nn.Module, gain: float = 1.0) -> None:
    """Draw weights that keep signals at their size from layer to layer, and norms away from the identity.

    torch's own initial values shrink signals threefold a layer, which makes attention an average over all positions,
    and leave batch norms with mean 0 and variance 1: a compiler that dropped either would go unnoticed. `gain` is the
    ratio of a layer's output to its input; sqrt(2) makes up for a ReLU.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            module.weight.normal_(0.0, gain / module.weight[0].numel() ** 0.5)
            if module.bias is not None:
                module.bias.normal_(0.0, 0.1)
        elif isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
            module.weight.uniform_(0.6, 1.4)
            module.bias.normal_(0.0, 0.2)
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_mean is not None and module.running_var is not None
            module.running_mean.normal_(0.0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
