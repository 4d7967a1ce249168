"""Inputs: converting them between numpy and torch, drawing them from a seed, checking those of a user."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.arrays import Array, Arrays, numpy_dtype
from workbench.core.errors import UsageError
from workbench.core.tensors import TensorSpec

if TYPE_CHECKING:
    from torch import Tensor


def draw(spec: TensorSpec, seed: int, within: tuple[int, int] | None = None) -> Array:
    """A fixed input: normal floats, coin-toss booleans, integers in [low, high).

    Integers of 8 bits and unsigned ones take all their values unless told otherwise; wider signed ones 0 and 1, which
    are an index or a count in most places. Two inputs of one model differ although they share the seed, because the
    name is mixed in.
    """
    rng = np.random.default_rng([seed, *spec.name.encode()])
    dtype = numpy_dtype(spec.dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        every = limits.bits == 8 or dtype.kind == "u"
        low, high = within or ((int(limits.min), int(limits.max) + 1) if every else (0, 2))
        return np.asarray(rng.integers(low, high, spec.shape, dtype=dtype.type))
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, spec.shape), dtype)
    return np.asarray(rng.standard_normal(spec.shape), dtype)


def check_inputs(path: str, given: Mapping[str, Array], wanted: Sequence[TensorSpec]) -> Arrays:
    """`given` in the order of `wanted`; raises UsageError on a missing, unknown, mistyped or mis-shaped array."""
    names = [spec.name for spec in wanted]
    if unknown := [name for name in given if name not in names]:
        raise UsageError(f"inputs {path}: '{unknown[0]}' is no input of the model, which takes: {', '.join(names)}")
    for spec in wanted:
        if spec.name not in given:
            raise UsageError(f"inputs {path}: input '{spec.name}' is missing; it has: {', '.join(given) or 'nothing'}")
        array = given[spec.name]
        if array.dtype.name != spec.dtype:
            raise UsageError(f"inputs {path}: '{spec.name}' is {array.dtype.name}, the model takes {spec.dtype}")
        if array.shape != spec.shape:
            raise UsageError(
                f"inputs {path}: '{spec.name}' has shape {list(array.shape)}, the model takes {list(spec.shape)}"
            )
    return {name: given[name] for name in names}


def to_numpy(tensor: "Tensor") -> Array:
    """A copy of a tensor's values; bfloat16 becomes the dtype of that name of ml_dtypes."""
    import torch

    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.uint16).numpy().view(numpy_dtype("bfloat16")).copy()
    return tensor.numpy().copy()


def to_torch(array: Array) -> "Tensor":
    """A tensor with a copy of the array's values, contiguous."""
    import torch

    array = np.array(array, order="C")
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)
