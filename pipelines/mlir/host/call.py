"""Calls a compiled function through MLIR's C interface: one pointer to a memref descriptor per argument."""

import ctypes
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from pipelines.mlir.host.orc import LoadedObject
from workbench.core.arrays import Arrays, numpy_dtype
from workbench.core.errors import UsageError
from workbench.core.executable import Executable
from workbench.core.tensors import Signature, TensorSpec
from workbench.core.trace.layout import get_constant


class HostExecutable(Executable):
    """The function `signature.entry` of an object file. Arguments are inputs, constants, then outputs to fill.

    `symbols` are functions of this process that the code calls, by name; the caller keeps them alive.
    """

    def __init__(
        self,
        code: bytes,
        signature: Signature,
        store: Path,
        libraries: tuple[Path, ...] = (),
        symbols: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        keep_freed_memory()
        self._object = LoadedObject(code, libraries, symbols)
        self._signature = signature
        self._constants = [get_constant(store, c.sha256, c.dtype) for c in signature.constants]
        count = len(signature.inputs) + len(signature.constants) + len(signature.outputs)
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)
        self._function = prototype(self._object.address(f"_mlir_ciface_{signature.entry}"))

    def __call__(self, inputs: Arrays) -> Arrays:
        """Run once; outputs start filled with 0xFF bytes (NaN), so that what is left unwritten shows."""
        given = [checked_input(spec, inputs) for spec in self._signature.inputs]
        outputs = {spec.name: poisoned(spec) for spec in self._signature.outputs}
        arrays = [*given, *self._constants, *outputs.values()]
        descriptors = [_descriptor(array) for array in arrays]
        self._function(*[ctypes.addressof(d) for d in descriptors])
        return outputs


def keep_freed_memory() -> None:
    """Let glibc keep what compiled code frees for its next run, as runtimes with an arena of their own do.

    By default it gives large buffers back to the system, and a run of ResNet-18 spends a quarter of its time on
    having 5,400 pages mapped anew. Does nothing where there is no mallopt.
    """
    trim_threshold, mmap_max = -1, -4
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_max, 0)
        mallopt(trim_threshold, 2**31 - 1)


def checked_input(spec: TensorSpec, inputs: Arrays) -> "np.ndarray[Any, Any]":
    """The input called `spec.name`, contiguous; raises UsageError if missing or of another shape or dtype."""
    array = inputs.get(spec.name)
    if array is None:
        raise UsageError(f"input '{spec.name}' is missing; the model takes {list(spec.shape)} {spec.dtype}")
    if array.shape != spec.shape or array.dtype.name != spec.dtype:
        raise UsageError(
            f"input '{spec.name}' is {list(array.shape)} {array.dtype.name}; "
            f"the model takes {list(spec.shape)} {spec.dtype}"
        )
    return np.ascontiguousarray(array)


def poisoned(spec: TensorSpec) -> "np.ndarray[Any, Any]":
    """An array of `spec` with every byte 0xFF: NaN in every floating type, -1 in signed integers."""
    dtype = numpy_dtype(spec.dtype)
    return np.full(int(np.prod(spec.shape)) * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(spec.shape)


def _descriptor(array: "np.ndarray[Any, Any]") -> ctypes.Array[ctypes.c_int64]:
    pointer = array.ctypes.data
    strides = [s // array.itemsize for s in array.strides]
    fields = [pointer, pointer, 0, *array.shape, *strides]
    return (ctypes.c_int64 * len(fields))(*fields)
