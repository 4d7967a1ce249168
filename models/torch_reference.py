"""A torch module run in float64, whatever precision it asks for."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from models.arrays import to_numpy
from models.messages import one_line
from models.quantised import OPS
from workbench.core.errors import UsageError
from workbench.core.source import Arrays

Reference = Callable[[Arrays], Arrays]

WIDE = torch.float64


def quantise(x: Tensor, scale: float, zero: int, low: int, high: int, dtype: torch.dtype) -> Tensor:
    """Steps of `scale`, half to even. torch's own takes float32 only."""
    return torch.clamp(torch.round(x / scale) + zero, low, high).to(dtype)


def dequantise(
    x: Tensor, scale: float, zero: int, low: int, high: int, dtype: torch.dtype, *, out_dtype: torch.dtype | None = None
) -> Tensor:
    """The numbers that steps stand for."""
    return (x.to(WIDE) - zero) * scale


WIDE_FORMS: dict[Any, Any] = {
    Tensor.float: Tensor.double,
    Tensor.half: Tensor.double,
    Tensor.bfloat16: Tensor.double,
    OPS.quantize_per_tensor: quantise,
    OPS.dequantize_per_tensor: dequantise,
}
"""Functions that make, or insist on, a narrower type, and their forms in float64."""


def reference_of(
    name: str, module: nn.Module, inputs: Arrays, convert: Callable[[Arrays], tuple[Any, ...]]
) -> tuple[Reference, str]:
    """The module as a function of arrays, and how it computes: in float64 if that works on `inputs`, else as it is.

    `convert` makes the call's arguments. Outputs are named out0 ...; floating ones come back as float64. Raises
    UsageError when the module fails either way.
    """

    def wide(arrays: Arrays) -> Arrays:
        return named(run_in_float64(module, convert(arrays)))

    def plain(arrays: Arrays) -> Arrays:
        with torch.no_grad():
            return named(copy.deepcopy(module)(*convert(arrays)))

    try:
        known, reference, kind = wide(inputs), wide, "torch float64"
    except Exception as error:  # whatever the user's module raises
        kind = f"torch in the model's own precision, since in float64 it raises {one_line(error)}"
        try:
            known, reference = plain(inputs), plain
        except Exception as again:
            raise UsageError(f"{name} does not run on its inputs: {one_line(again)}") from again
    return lambda arrays: known if arrays is inputs else reference(arrays), kind


def named(result: Any) -> Arrays:
    """The tensors of nested results as out0, out1 ...; floating ones in float64."""
    return {f"out{i}": to_numpy(widen(tensor)) for i, tensor in enumerate(tensors_in(result))}


def tensors_in(tree: Any) -> list[Tensor]:
    """The tensors of nested tuples, lists and dicts, in order; None and plain values are left out."""
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, Tensor)]


class InFloat64(TorchFunctionMode):
    """Every floating tensor and every floating dtype that a torch function is given becomes float64.

    `module.double()` alone leaves the casts written into a forward (`x.float()`, `dtype=torch.float32`) and tensors
    that are plain attributes as they were.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is Tensor.view and any(isinstance(x, torch.dtype) for x in (*args, *(kwargs or {}).values())):
            raise TypeError("view(dtype) reads the bits of a number")
        wide = pytree.tree_map(widen, args)
        options: dict[str, Any] = pytree.tree_map(widen, kwargs or {})
        return WIDE_FORMS.get(func, func)(*wide, **options)


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
