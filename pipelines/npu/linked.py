"""Host code linked with a simulated array: calls of regions come back into this process and run their programs."""

import ctypes
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from byoc.systolic.assembly import parse_program
from byoc.systolic.fast import simulate
from byoc.systolic.machine import Machine
from byoc.systolic.program import Buffer, Program, Role
from pipelines.mlir.host.call import HostExecutable
from workbench.core.arrays import Arrays, numpy_dtype
from workbench.core.executable import Executable
from workbench.core.tensors import Signature


def read_programs(text: str) -> list[Program]:
    """The programs of a stage's text, one after the other. Raises UsageError as `parse_program` does."""
    return [parse_program(part) for part in re.split(r"^(?=program )", text, flags=re.MULTILINE) if part.strip()]


class LinkedExecutable(Executable):
    """A model's host code and the array that its regions run on.

    A region `r` is called as `_mlir_ciface_r`, with pointers to memref descriptors in the order of its program's
    buffers, which are dense and row-major.
    """

    def __init__(
        self,
        code: bytes,
        signature: Signature,
        store: Path,
        libraries: tuple[Path, ...],
        programs: Sequence[Program],
        machine: Machine,
    ) -> None:
        self._machine = machine
        self._calls = {f"_mlir_ciface_{p.name}": self._callback(p) for p in programs}
        self._failure: BaseException | None = None
        self._cycles: list[int] = []
        addresses = {name: ctypes.cast(call, ctypes.c_void_p).value or 0 for name, call in self._calls.items()}
        self._host = HostExecutable(code, signature, store, libraries, addresses)

    def __call__(self, inputs: Arrays) -> Arrays:
        """Run once. Raises what a region raised."""
        self._failure, self._cycles = None, []
        outputs = self._host(inputs)
        if self._failure is not None:
            raise self._failure
        return outputs

    def facts(self) -> dict[str, Any]:
        """Of the latest run: calls of the array and its cycles in them."""
        return {"array_calls": len(self._cycles), "cycles": sum(self._cycles)}

    def _callback(self, program: Program) -> Any:
        def run(*pointers: int) -> None:
            # An exception cannot cross the compiled code: it is raised when that returns.
            if self._failure is None:
                try:
                    self._run(program, pointers)
                except BaseException as error:
                    self._failure = error

        return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(program.buffers))(run)

    def _run(self, program: Program, pointers: Sequence[int]) -> None:
        arrays = {b.name: _array(b, p) for b, p in zip(program.buffers, pointers, strict=True)}
        given = {b.name: arrays[b.name] for b in program.buffers if b.role is Role.IN}
        result = simulate(program, self._machine, given)
        for name, values in result.outputs.items():
            arrays[name][...] = values
        self._cycles.append(result.cycles)


def _array(buffer: Buffer, pointer: int) -> "np.ndarray[Any, Any]":
    """The memory that a memref descriptor (allocated, aligned, offset, sizes, strides) points to."""
    _, aligned, offset = (ctypes.c_int64 * 3).from_address(pointer)
    dtype = numpy_dtype(buffer.dtype)
    held = (ctypes.c_uint8 * (buffer.size * dtype.itemsize)).from_address(aligned + offset * dtype.itemsize)
    return np.ctypeslib.as_array(held).view(dtype).reshape(buffer.shape)
