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
def randomise_norms(model: nn.Module) -> None:
    """Give every normalisation a scale, a shift and statistics away from 1 and 0.

    A fresh BatchNorm is the identity in evaluation mode, so a compiler that dropped it would go unnoticed.
    """
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_mean is not None and module.running_var is not None
            module.running_mean.normal_(0.0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
        if isinstance(module, nn.BatchNorm2d | nn.LayerNorm | nn.RMSNorm):
            module.weight.uniform_(0.6, 1.4)
            if not isinstance(module, nn.RMSNorm):
                module.bias.normal_(0.0, 0.2)
