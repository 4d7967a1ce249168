"""Decompositions of core aten beside PyTorch's own, where torch-mlir's lowering is inexact or crashes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table

_GELU: Callable[..., Tensor] = decomposition_table[torch.ops.aten.gelu.default]


def table() -> dict[Any, Callable[..., Any]]:
    """What the core-aten stage decomposes, by operator."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    own = {
        torch.ops.aten.gelu.default: gelu,
        torch.ops.aten.div.Tensor_mode: div,
        torch.ops.aten.floor_divide.default: floor_divide,
    }
    return {**get_decomposition_table(), **own}


def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """By its definition when by tanh: torch-mlir's has three digits of the square root in it."""
    return _GELU(x, approximate=approximate) if approximate == "tanh" else NotImplemented


def div(a: Tensor, b: Tensor | int | float, *, rounding_mode: str | None = None) -> Tensor:
    """Division of bytes to integers in 32 bits: torch-mlir crashes on it."""
    kind = torch.result_type(a, b)
    if rounding_mode is None or kind not in (torch.int8, torch.uint8):
        return NotImplemented
    by = b.to(torch.int32) if isinstance(b, Tensor) else b
    return torch.div(a.to(torch.int32), by, rounding_mode=rounding_mode).to(kind)


def floor_divide(a: Tensor, b: Tensor | int | float) -> Tensor:
    """As `div`."""
    return div(a, b, rounding_mode="floor")
