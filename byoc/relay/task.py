"""What the array is asked to do, as plain data that travels inside a compiled library as JSON."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from byoc.systolic.gemm import Conv2d, Epilogue, Gemm, Work
from byoc.systolic.legality import check
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Machine, parse_machine
from byoc.systolic.program import Program


@dataclass(frozen=True)
class Window:
    """The sliding window of a convolution: input [n, h, w, c], `padding` top, left, bottom, right.

    `layout` and `kernel_layout` say how the model stores input and kernel; the array has NHWC and HWIO.
    """

    n: int
    h: int
    w: int
    c: int
    oc: int
    kh: int
    kw: int
    strides: tuple[int, int]
    padding: tuple[int, int, int, int]
    layout: str = "NCHW"
    kernel_layout: str = "OIHW"

    @property
    def padded(self) -> tuple[int, int]:
        """Rows and columns of the padded input."""
        top, left, bottom, right = self.padding
        return self.h + top + bottom, self.w + left + right

    @property
    def out(self) -> tuple[int, int]:
        """Rows and columns of the output."""
        (h, w), (down, right) = self.padded, self.strides
        return (h - self.kh) // down + 1, (w - self.kw) // right + 1


@dataclass(frozen=True)
class Steps:
    """The grids of a quantised product, as ONNX defines them: number = (integer - zero) scale.

    `x_dtype`, `x_zero` are those of the first operand; the second is int8 with zero 0. `out_dtype` is "int8" or "uint8"
    with `out_zero`, or "float32" for sums that are scaled but not quantised. `scales` has one float32 for all columns
    or one each: scale_x scale_w / scale_out, worked out in float32 in this order, as onnxruntime does.
    """

    x_dtype: str
    x_zero: int
    out_dtype: str
    out_zero: int
    scales: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """`batch` products of [m, k] by [k, n] in `dtype`, and what is fused behind them.

    `kind` is dense (second operand [n, k]), batch_matmul ([batch, n, k] if `b_transposed`, else [batch, k, n]) or
    conv2d, which `window` describes. Without `steps` the result has `dtype` too.
    """

    kind: str
    dtype: str
    batch: int
    m: int
    k: int
    n: int
    bias: bool = False
    relu: bool = False
    b_transposed: bool = True
    window: Window | None = None
    steps: Steps | None = None

    @property
    def out_dtype(self) -> str:
        """Element type of the result."""
        return self.steps.out_dtype if self.steps else self.dtype

    @property
    def out_shape(self) -> tuple[int, ...]:
        """Shape of the result as the model has it."""
        if self.window is None:
            return (self.batch, self.m, self.n) if self.kind == "batch_matmul" else (self.m, self.n)
        (h, w), n, c = self.window.out, self.window.n, self.window.oc
        return (n, c, h, w) if self.window.layout == "NCHW" else (n, h, w, c)

    @property
    def fused(self) -> tuple[str, ...]:
        """Names of what is fused."""
        requantised = self.steps is not None and self.steps.out_dtype != "float32"
        parts = (("bias", self.bias), ("relu", self.relu), ("requantise", requantised))
        return tuple(name for name, there in parts if there)

    @property
    def shown_kind(self) -> str:
        """The kind, telling apart convolutions whose image is the matrix itself."""
        return "conv2d_1x1" if self.window and (self.window.kh, self.window.kw) == (1, 1) else self.kind

    @property
    def name(self) -> str:
        """Kind, dtype and what is fused, for people."""
        return "_".join((self.shown_kind, self.dtype, *self.fused))

    @property
    def work(self) -> Work:
        """The same for the lowering to instructions."""
        if self.window is None:
            return Gemm(self.m, self.k, self.n, self.dtype, self.batch, self.b_transposed, self.epilogue)
        w, (h, width) = self.window, self.window.padded
        return Conv2d(w.n, h, width, w.c, w.oc, w.kh, w.kw, w.strides, self.dtype, self.epilogue)

    @property
    def epilogue(self) -> Epilogue:
        """On the way out of the array; a zero point of the input is part of the bias."""
        if self.steps is None:
            return Epilogue(bias=self.bias, relu=self.relu, narrow=True)
        bias = self.bias or signed_zero(self.steps.x_dtype, self.steps.x_zero) != 0
        if self.steps.out_dtype == "float32":
            return Epilogue(bias=bias, relu=self.relu)
        one = self.steps.scales[0] if len(self.steps.scales) == 1 else None
        zero = signed_zero(self.steps.out_dtype, self.steps.out_zero)
        return Epilogue(bias, self.relu, one, per_column=one is None, zero_point=zero, narrow=True)

    def to_json(self, machine: Machine) -> str:
        """The task and the machine it is compiled for."""
        return json.dumps({"task": asdict(self), "machine": machine_json(machine)})


def signed_zero(dtype: str, zero: int) -> int:
    """A zero point once unsigned steps are moved into int8, 128 lower."""
    return zero - 128 if dtype == "uint8" else zero


def machine_json(machine: Machine) -> dict[str, Any]:
    """The machine as its TOML file would have it; `parse_machine` reads it back."""
    return {
        "name": machine.name,
        "clock_mhz": machine.clock_mhz,
        "operations": list(machine.operations),
        "array": {"rows": machine.rows, "columns": machine.columns, "dataflow": str(machine.dataflow)}
        | ({"tile": list(machine.tile)} if machine.tile else {}),
        "memory": {
            "scratchpad_bytes": machine.scratchpad_bytes,
            "accumulator_bytes": machine.accumulator_bytes,
            "double_buffered": machine.double_buffered,
        },
        "dram": {
            "bytes_per_cycle": machine.dram_bytes_per_cycle,
            "latency_cycles": machine.dram_latency_cycles,
            "channels": machine.dma_channels,
        },
        "energy_pj": {
            "mac": dict(machine.energy_pj.mac),
            "scratchpad_byte": machine.energy_pj.scratchpad_byte,
            "accumulator_byte": machine.energy_pj.accumulator_byte,
            "dram_byte": machine.energy_pj.dram_byte,
        },
    }


@cache
def read_task(text: str) -> tuple[Task, Machine, Program]:
    """What `to_json` wrote, and the program of it, made and found legal once. Raises CompileError when it is not."""
    data = json.loads(text)
    fields: dict[str, Any] = data["task"]
    fields |= {"window": _tuples(Window, fields["window"]), "steps": _tuples(Steps, fields["steps"])}
    task, machine = Task(**fields), parse_machine(data["machine"], "the compiled library")
    program = gemm_program(machine, task.work, name=task.name)
    check(program, machine)
    return task, machine, program


def _tuples(make: Callable[..., Any], fields: dict[str, Any] | None) -> Any:
    """A dataclass of JSON's fields, whose lists were tuples; None stays."""
    return fields and make(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})
