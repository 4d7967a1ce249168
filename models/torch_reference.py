"""A torch module run in float64, whatever precision it asks for."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

WIDE = torch.float64
CASTS: dict[Any, Any] = {Tensor.float: Tensor.double, Tensor.half: Tensor.double, Tensor.bfloat16: Tensor.double}


class InFloat64(TorchFunctionMode):
    """Every floating tensor and every floating dtype that a torch function is given becomes float64.

    `module.double()` alone leaves the casts written into a forward (`x.float()`, `dtype=torch.float32`) and tensors
    that are plain attributes as they were.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        wide = pytree.tree_map(widen, args)
        options: dict[str, Any] = pytree.tree_map(widen, kwargs or {})
        return CASTS.get(func, func)(*wide, **options)


def widen(value: Any) -> Any:
    """A floating tensor or dtype in float64; anything else as it is."""
    if isinstance(value, Tensor) and value.is_floating_point() and value.dtype != WIDE:
        return value.to(WIDE)
    if isinstance(value, torch.dtype) and value.is_floating_point:
        return WIDE
    return value


@torch.no_grad()
def run_in_float64(module: nn.Module, arguments: tuple[Any, ...]) -> Any:
    """The module's result with all arithmetic in float64.

    The module is copied, so buffers that it writes to start afresh at every call.
    """
    wide = copy.deepcopy(module).double()
    default = torch.get_default_dtype()
    torch.set_default_dtype(WIDE)
    try:
        with InFloat64():
            return wide(*pytree.tree_map(widen, arguments))
    finally:
        torch.set_default_dtype(default)
