"""Arrays by name, on disk as .npz, and the dtypes that numpy has no name for."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.errors import UsageError

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]
"""Tensors by the graph's own names."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype of a tensor dtype's name; names that numpy lacks (bfloat16, float8_...) come from ml_dtypes."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def read_npz(path: str | Path) -> Arrays:
    """The arrays of an .npz file. Raises UsageError naming the file; pickled objects are refused.

    numpy stores bfloat16 as two nameless bytes, which nothing else here writes: they come back as bfloat16.
    """
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise UsageError(f"{path} holds one unnamed array; save arrays by name with numpy.savez")
        with archive:
            arrays = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path} cannot be read as .npz: {error}") from error
    return {name: a.view(numpy_dtype("bfloat16")) if a.dtype == np.dtype("V2") else a for name, a in arrays.items()}


def npz_bytes(arrays: Mapping[str, Array]) -> bytes:
    """An .npz file of arrays by name. `numpy.savez` would refuse tensors called "file" or "self"."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()
