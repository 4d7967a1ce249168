"""Runs a bundle on a GPU: numpy and cuda-core, no compiler.

A bundle is a folder with `plan.json`, the kernels (`kernels.ptx`, optionally a cubin), `consts/<sha256>.npy`,
`inputs.npz` and `expected.npz` (the float64 reference), each array under its tensor's name.
"""

import ctypes
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.errors import ToolMissing, UsageError
from workbench.launch.plan import ITEM_BYTES, LaunchPlan, Pointer, Scalar, Step, constant_file, tensor_bytes

Array = "np.ndarray[Any, Any]"
POISON = 0xFF
"""Byte that fills outputs and scratch before a run: NaN in every float type, so what is not written shows."""
_CTYPES = {
    "float64": ctypes.c_double, "float32": ctypes.c_float, "float16": np.float16,
    "int64": ctypes.c_int64, "int32": ctypes.c_int32, "int16": ctypes.c_int16, "int8": ctypes.c_int8,
    "uint64": ctypes.c_uint64, "uint32": ctypes.c_uint32, "uint16": ctypes.c_uint16, "uint8": ctypes.c_uint8,
    "bool": ctypes.c_bool,
}  # fmt: skip


def _cuda() -> tuple[Any, Any]:
    try:
        import cuda.core as core  # pyright: ignore[reportMissingImports]
        from cuda.bindings import driver  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ToolMissing(f"cuda-core does not load ({error}); run: pip install 'workbench[gpu]'") from None
    return (core if hasattr(core, "Device") else core.experimental), driver


class Session:
    """One plan loaded on one device: code, constants and memory. Use as a context manager."""

    def __init__(self, bundle: Path, plan: LaunchPlan, prefer_cubin: bool = True, device: int = 0) -> None:
        self.plan = plan
        self._core, self._driver = _cuda()
        self.device = self._core.Device(device)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.code = _code_file(bundle, plan, self.device.compute_capability, prefer_cubin)
        self._kernels = self._load(bundle)
        self._memory: list[int] = []
        self._base = {
            "input": [self._allocate(tensor_bytes(t.shape, t.dtype)) for t in plan.inputs],
            "output": [self._allocate(tensor_bytes(t.shape, t.dtype)) for t in plan.outputs],
            "constant": [self._constant(bundle, i) for i in range(len(plan.constants))],
        }
        self._arena = self._allocate(plan.arena_bytes)
        self._base["buffer"] = [self._arena + b.offset for b in plan.buffers]
        self._launches = [self._prepare(step) for step in plan.steps]

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        for pointer in self._memory:
            self._call(self._driver.cuMemFree(pointer))
        self._memory.clear()

    def set_inputs(self, arrays: Mapping[str, Any]) -> None:
        """Copy inputs to the device; raises UsageError for a missing name, a wrong shape or item size."""
        for spec, pointer in zip(self.plan.inputs, self._base["input"], strict=True):
            if spec.name not in arrays:
                raise UsageError(f"input '{spec.name}' is missing; given: {', '.join(arrays) or 'none'}")
            self._upload(pointer, _matching(arrays[spec.name], spec.name, spec.shape, spec.dtype))

    def poison(self) -> None:
        """Fill scratch and outputs with NaN bytes."""
        sizes = [tensor_bytes(t.shape, t.dtype) for t in self.plan.outputs]
        for pointer, size in [*zip(self._base["output"], sizes, strict=True), (self._arena, self.plan.arena_bytes)]:
            if size:
                self._call(self._driver.cuMemsetD8(pointer, POISON, size))
        self.device.sync()

    def enqueue(self) -> None:
        """Launch every step on the session's stream, in order."""
        for config, kernel, args in self._launches:
            self._core.launch(self.stream, config, kernel, *args)

    def outputs(self) -> dict[str, Any]:
        """Copies of the outputs; bfloat16 comes back widened to float32."""
        self.stream.sync()
        out: dict[str, Any] = {}
        for spec, pointer in zip(self.plan.outputs, self._base["output"], strict=True):
            raw = np.empty(tensor_bytes(spec.shape, spec.dtype), np.uint8)
            if raw.size:
                self._call(self._driver.cuMemcpyDtoH(raw.ctypes.data, pointer, raw.size))
            out[spec.name] = decode(raw, spec.shape, spec.dtype)
        return out

    def changed_constants(self) -> list[str]:
        """Names of constants whose bytes on the device are not what was uploaded."""
        changed: list[str] = []
        for spec, pointer, sent in zip(self.plan.constants, self._base["constant"], self._sent, strict=True):
            raw = np.empty(tensor_bytes(spec.shape, spec.dtype), np.uint8)
            if raw.size:
                self._call(self._driver.cuMemcpyDtoH(raw.ctypes.data, pointer, raw.size))
            if not np.array_equal(raw, sent):
                changed.append(spec.name)
        return changed

    def graph(self) -> Callable[[], None]:
        """All launches as one CUDA graph; the returned function enqueues it. Launch overhead is paid once."""
        d, handle = self._driver, self.stream.handle
        mode = d.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self._call(d.cuStreamBeginCapture(handle, mode))
        self.enqueue()
        captured = self._call(d.cuStreamEndCapture(handle))
        ready = self._call(d.cuGraphInstantiate(captured, 0))
        return lambda: self._call(d.cuGraphLaunch(ready, handle))

    def time(self, work: Callable[[], None], repeats: int) -> float:
        """Milliseconds a call of `work` takes on the device: `repeats` calls between two events."""
        start, stop = self._event(), self._event()
        self.stream.record(start)
        for _ in range(repeats):
            work()
        self.stream.record(stop)
        stop.sync()
        return float(stop - start) / repeats

    def step(self, number: int) -> Callable[[], None]:
        """A function that enqueues one step."""
        config, kernel, args = self._launches[number]
        return lambda: self._core.launch(self.stream, config, kernel, *args)

    def kernel_facts(self) -> dict[str, dict[str, int]]:
        """Registers and local memory (bytes) a thread of every kernel, as the driver loaded it."""
        return {
            name: {"registers": int(k.attributes.num_regs()), "local_bytes": int(k.attributes.local_size_bytes())}
            if callable(k.attributes.num_regs)
            else {"registers": int(k.attributes.num_regs), "local_bytes": int(k.attributes.local_size_bytes)}
            for name, k in self._kernels.items()
        }

    def _load(self, bundle: Path) -> dict[str, Any]:
        data = (bundle / self.code).read_bytes()
        objects = self._core.ObjectCode
        code = objects.from_cubin(data) if self.code.endswith(".cubin") else objects.from_ptx(data + b"\0")
        return {name: code.get_kernel(name) for name in {s.kernel for s in self.plan.steps}}

    def _prepare(self, step: Step) -> tuple[Any, Any, list[Any]]:
        config = self._core.LaunchConfig(grid=step.grid, block=step.block, shmem_size=step.shared_bytes)
        return config, self._kernels[step.kernel], [self._argument(a) for a in step.args]

    def _argument(self, arg: Pointer | Scalar) -> Any:
        if isinstance(arg, Pointer):
            return self._base[arg.space][arg.index] + arg.byte_offset
        value = arg.value if arg.dtype.startswith("float") else int(arg.value)
        return _CTYPES[arg.dtype](value)

    def _allocate(self, size: int) -> int:
        pointer = int(self._call(self._driver.cuMemAlloc(max(size, 1))))
        self._memory.append(pointer)
        return pointer

    def _constant(self, bundle: Path, index: int) -> int:
        spec = self.plan.constants[index]
        path = bundle / constant_file(spec)
        if not path.is_file():
            raise UsageError(f"constant '{spec.name}' is missing: {path}")
        data = _matching(np.load(path), spec.name, spec.shape, spec.dtype)
        pointer = self._allocate(data.size)
        self._upload(pointer, data)
        self._sent.append(data)
        return pointer

    @property
    def _sent(self) -> list[Any]:
        return self.__dict__.setdefault("_sent_arrays", [])

    def _upload(self, pointer: int, data: Any) -> None:
        if data.size:
            self._call(self._driver.cuMemcpyHtoD(pointer, data.ctypes.data, data.size))

    def _event(self) -> Any:
        options = self._core.EventOptions
        timing = "timing_enabled" if "timing_enabled" in options.__dataclass_fields__ else "enable_timing"
        return self.device.create_event(options(**{timing: True}))

    def _call(self, answer: Any) -> Any:
        status, *values = answer
        if int(status):
            name = self._driver.cuGetErrorName(status)[1]
            raise UsageError(f"the CUDA driver answered {name.decode() if isinstance(name, bytes) else name}")
        return values[0] if values else None
