"""Tensors between torch and numpy, sharing memory where they can."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

Array = np.ndarray[Any, Any]


def as_numpy(tensor: Tensor) -> Array:
    """The tensor's values; types that numpy lacks become those of ml_dtypes."""
    tensor = tensor.detach().contiguous()
    kind = str(tensor.dtype).removeprefix("torch.")
    if kind.startswith(("bfloat", "float8")):
        import ml_dtypes

        bits = {1: torch.uint8, 2: torch.uint16}[tensor.itemsize]
        return tensor.view(bits).numpy().view(getattr(ml_dtypes, kind))
    return tensor.numpy()


def as_torch(array: Array) -> Tensor:
    """The array's values; types of ml_dtypes become torch's own."""
    array = np.array(array, order="C")
    if array.dtype.name.startswith(("bfloat", "float8")):
        return torch.from_numpy(array.view(f"u{array.itemsize}")).view(getattr(torch, array.dtype.name))
    return torch.from_numpy(array)
