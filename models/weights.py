"""Trained weights for a torch module, from a safetensors file or a torch state dict."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from models.messages import listed, one_line
from workbench.core.errors import UsageError


def load_weights(module: nn.Module, path: str) -> None:
    """Copy the tensors of `path` into `module`, whose names, shapes and kinds of number they must match.

    Raises UsageError naming what is missing, unexpected or mis-shaped. Nothing in the file is executed.
    """
    given = read_weights(path)
    wanted = module.state_dict()
    # How often a batch norm was trained does not matter in evaluation mode, and many files leave it out.
    missing = [k for k in wanted if k not in given and not k.endswith("num_batches_tracked")]
    if missing:
        raise UsageError(f"weights {path}: the model also needs {listed(missing)}")
    if unexpected := [k for k in given if k not in wanted]:
        raise UsageError(f"weights {path}: the model has no {listed(unexpected)}")
    for key, tensor in given.items():
        if tensor.shape != wanted[key].shape:
            raise UsageError(
                f"weights {path}: '{key}' has shape {list(tensor.shape)}, the model takes {list(wanted[key].shape)}"
            )
        if tensor.is_floating_point() != wanted[key].is_floating_point():
            raise UsageError(f"weights {path}: '{key}' is {tensor.dtype}, the model takes {wanted[key].dtype}")
    module.load_state_dict(given, strict=False)


def read_weights(path: str) -> dict[str, Tensor]:
    """The tensors of a .safetensors file or of a state dict that torch.save wrote. Raises UsageError."""
    if not Path(path).is_file():
        raise UsageError(f"weights {path}: no such file")
    if Path(path).suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise UsageError(f"weights {path} cannot be read as safetensors: {one_line(error)}") from error
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise UsageError(
            f"weights {path} is no plain state dict: it is damaged or holds objects; save model.state_dict()"
        ) from error
    except (RuntimeError, EOFError, OSError) as error:
        raise UsageError(f"weights {path} cannot be read as a torch state dict: {one_line(error)}") from error
    return _state_dict(path, loaded)


def _state_dict(path: str, loaded: Any) -> dict[str, Tensor]:
    if not isinstance(loaded, Mapping):
        raise UsageError(f"weights {path} holds a {type(loaded).__name__}, not a state dict; save model.state_dict()")
    items = cast("Mapping[str, Any]", loaded)
    if wrong := [key for key, value in items.items() if not isinstance(value, Tensor)]:
        raise UsageError(f"weights {path}: {listed(wrong)} is no tensor; save model.state_dict() alone")
    return dict(items)
