"""The host's side of a region: puts operands where the array reads them, runs its program, and takes the result.

Registered with TVM as the packed function `systolic.run`, which compiled libraries call: a process that loads one
imports this module first.
"""

from typing import Any

import numpy as np
import tvm

from byoc.relay.task import Steps, Task, Window, read_task, signed_zero
from byoc.systolic.fast import simulate
from workbench.core.arrays import Array, Arrays, numpy_dtype

PACKED = "systolic.run"


def run(text: str, *tensors: Any) -> None:
    """`text` is `Task.to_json`; the tensors are both operands, the bias if there is one, and the result to fill."""
    *given, out = tensors
    task, machine, program = read_task(str(text))
    outputs = simulate(program, machine, operands(task, [t.numpy() for t in given])).outputs
    out.copyfrom(result(task, outputs["c"]))


def operands(task: Task, given: list[Array]) -> Arrays:
    """The program's DRAM buffers for a task's operands (and bias)."""
    x, w, *rest = given
    work, zero = task.work, 0
    if task.steps is not None:
        x, zero = signed(x), signed_zero(task.steps.x_dtype, task.steps.x_zero)
    if task.window is not None:
        x, w = padded(x, task.window, zero), w.transpose([task.window.kernel_layout.index(a) for a in "HWIO"])
    buffers = {"a": x.reshape(work.a_shape), "b": np.ascontiguousarray(w).reshape(work.b_shape)}
    if work.epilogue.bias:
        buffers["bias"] = bias_of(task, buffers["b"], rest, zero)
    if task.steps is not None and work.epilogue.per_column:
        buffers["scale"] = np.asarray(task.steps.scales, np.float32)
    return buffers


def padded(x: Array, window: Window, zero: int) -> Array:
    """A convolution's input as NHWC with its padding, which has the value that stands for 0."""
    x = x.transpose([window.layout.index(a) for a in "NHWC"])
    top, left, bottom, right = window.padding
    return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=np.asarray(zero, x.dtype))


def bias_of(task: Task, b: Array, given: list[Array], zero: int) -> Array:
    """The bias in units of the sums, less what the input's zero point adds to every sum: zero times a column of B."""
    if task.steps is None:
        return np.ascontiguousarray(given[0].reshape(-1), dtype=np.float32)
    bias = given[0].reshape(-1).astype(np.int32) if given else np.zeros(task.n, np.int32)
    if zero:
        columns = b.reshape(-1, task.n) if task.kind == "conv2d" else b.reshape(b.shape[-2:])
        along = 0 if task.kind == "conv2d" or not task.b_transposed else 1
        bias = bias - np.int32(zero) * columns.astype(np.int32).sum(axis=along, dtype=np.int32)
    return bias


def result(task: Task, c: Array) -> Array:
    """The model's result from the program's: its layout, and its own integers or numbers."""
    if task.window is not None and task.window.layout == "NCHW":
        c = c.transpose(0, 3, 1, 2)
    c = np.ascontiguousarray(c).reshape(task.out_shape)
    return c if task.steps is None else of_steps(task.steps, task, c)


def of_steps(steps: Steps, task: Task, c: Array) -> Array:
    """int8 as it is, uint8 moved back by 128, and sums that were not quantised as numbers."""
    if steps.out_dtype == "float32":
        channels = c.ndim - 1 if task.window is None or task.window.layout == "NHWC" else 1
        shape = [-1 if axis == channels else 1 for axis in range(c.ndim)]
        return c.astype(np.float32) * np.asarray(steps.scales, np.float32).reshape(shape)
    return unsigned(c) if steps.out_dtype == "uint8" else c.astype(numpy_dtype(steps.out_dtype), copy=False)


def signed(x: Array) -> Array:
    """uint8 as int8, 128 lower; int8 as it is."""
    return (x ^ np.uint8(0x80)).view(np.int8) if x.dtype == np.uint8 else x


def unsigned(x: Array) -> Array:
    """int8 as uint8, 128 higher."""
    return x.view(np.uint8) ^ np.uint8(0x80)


register: Any = getattr(tvm, "register_global_func", None) or tvm.register_func  # TVM 0.27's name, or 0.19's
register(PACKED, run, override=True)
