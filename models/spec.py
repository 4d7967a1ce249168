"""What the zoo knows of a model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class ModelSpec:
    """A model of the zoo, made of nothing but a seed.

    `build(seed)` returns the module in evaluation mode and its example inputs; the same seed gives the same weights
    and inputs, and the caller's random state is left alone. Inputs are named arg0, arg1 ... and outputs out0, out1 ...
    in either front end. `dtype` is numpy's name of the floating type that the model computes in.
    """

    name: str
    summary: str
    build: "Callable[[int], tuple[nn.Module, tuple[Tensor, ...]]]"
    dtype: str = "float32"
