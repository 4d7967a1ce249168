"""Runs a bundle on a GPU: numpy and cuda-core, no compiler.

A bundle is a folder with `plan.json`, the kernels (`kernels.ptx`, optionally a cubin), `consts/<sha256>.npy`,
`inputs.npz` and `expected.npz` (the float64 reference), each array under its tensor's name.
"""

import ctypes
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.errors import ToolMissing, UsageError
from workbench.launch.plan import LaunchPlan, Pointer, Scalar, Step, constant_file, tensor_bytes

Array = np.ndarray[Any, Any]
POISON = 0xFF
"""Byte that fills outputs and scratch before a run: NaN in every float type, so what is not written shows."""
_CTYPES: dict[str, Any] = {
    "float64": ctypes.c_double, "float32": ctypes.c_float, "float16": np.float16,
    "int64": ctypes.c_int64, "int32": ctypes.c_int32, "int16": ctypes.c_int16, "int8": ctypes.c_int8,
    "uint64": ctypes.c_uint64, "uint32": ctypes.c_uint32, "uint16": ctypes.c_uint16, "uint8": ctypes.c_uint8,
    "bool": ctypes.c_bool,
}  # fmt: skip


def _cuda() -> tuple[Any, Any]:
    try:
        core = import_module("cuda.core")
        if not hasattr(core, "Device"):  # older cuda-core
            core = import_module("cuda.core.experimental")
        return core, import_module("cuda.bindings.driver")
    except ImportError as error:
        raise ToolMissing(
            f"cuda-core does not load ({error}); run: pip install -e '.[gpu]' (in the checkout)"
        ) from None


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

    def set_inputs(self, arrays: Mapping[str, Array]) -> None:
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

    def outputs(self) -> dict[str, Array]:
        """Copies of the outputs; bfloat16 comes back widened to float32."""
        self.stream.sync()
        out: dict[str, Array] = {}
        for spec, pointer in zip(self.plan.outputs, self._base["output"], strict=True):
            raw = np.empty(tensor_bytes(spec.shape, spec.dtype), np.uint8)
            if raw.size:
                self._call(self._driver.cuMemcpyDtoH(raw.ctypes.data, pointer, raw.size))
            out[spec.name] = decode(raw, spec.shape, spec.dtype)
        return out

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
        return pointer

    def _upload(self, pointer: int, data: Array) -> None:
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


def decode(raw: Array, shape: tuple[int, ...], dtype: str) -> Array:
    """Bytes of a dense tensor as an array; bfloat16 widened to float32, which holds it exactly."""
    if dtype == "bfloat16":
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return raw.view(np.dtype(dtype)).reshape(shape)


def _matching(array: Array, name: str, shape: tuple[int, ...], dtype: str) -> Array:
    """The bytes of `array`, once its shape and item size are what the plan says."""
    if array.shape != shape or array.nbytes != tensor_bytes(shape, dtype):
        raise UsageError(f"'{name}' is {array.dtype}{list(array.shape)}, the plan expects {dtype}{list(shape)}")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _code_file(bundle: Path, plan: LaunchPlan, capability: tuple[int, int], prefer_cubin: bool) -> str:
    """The cubin when it was made for this very device, else PTX, which the driver compiles.

    Raises UsageError when the device is older than the plan's chip, or of another family than an `a` chip.
    """
    major, minor = capability
    here, chip = f"sm_{major}{minor}", plan.chip
    number = int(chip.removeprefix("sm_").rstrip("af"))
    if number > 10 * major + minor or (chip.endswith("a") and chip.rstrip("a") != here):
        raise UsageError(f"this plan is for {chip}, the GPU is {here}; lower again with --chip {here}")
    if prefer_cubin and plan.cubin and chip.rstrip("af") == here and (bundle / plan.cubin).is_file():
        return plan.cubin
    return plan.ptx
