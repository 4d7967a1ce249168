"""Whether the array can take a product, and if not, why: the first rule that it breaks, in words."""

from typing import Any

import numpy as np

from byoc.relay.patterns import Matched, calls
from byoc.relay.task import Steps, Task, Window, read_task
from byoc.systolic.machine import Machine
from workbench.core.arrays import Array
from workbench.core.errors import CompileError

LAYOUTS = ("NCHW", "NHWC")
KERNELS = ("OIHW", "HWIO")


class Refusal(Exception):
    """Why a product stays on the host."""


def task_of(found: Matched, machine: Machine) -> Task:
    """The task of an occurrence of a chain. Raises Refusal with the reason why the array cannot take it."""
    kind = found.chain.kind
    if (operation := "conv2d" if kind == "conv2d" else "matmul") not in machine.operations:
        raise Refusal(f"{machine.name} has no {operation}; it has {', '.join(machine.operations)}")
    shapes = [_static(a) for a in (found.x, found.w, found.root)]
    if found.floor is not None and (value := _value(found.floor).reshape(-1)).tolist() != [0]:
        raise Refusal(f"the maximum with {value.tolist()[0]:g} is no ReLU")
    sizes = _conv2d(found, *shapes) if kind == "conv2d" else _matrix(found, *shapes)
    columns = sizes["n"]
    steps = _steps(found, columns) if found.chain.quantised else None
    dtype = "int8" if steps else _float(found)
    if found.bias is not None:
        _check_bias(found, columns)
    task = Task(kind, dtype, **sizes, bias=found.bias is not None, relu="relu" in found.chain.fused, steps=steps)
    if dtype not in machine.dtypes:
        raise Refusal(f"{machine.name} multiplies {', '.join(machine.dtypes)}, not {dtype}")
    try:
        read_task(task.to_json(machine))
    except CompileError as error:
        raise Refusal(str(error)) from error
    return task


def _static(x: Any) -> tuple[int, ...]:
    sizes = x.checked_type.shape
    if not all(hasattr(d, "value") for d in sizes):
        raise Refusal(f"its shape is not known before it runs: {', '.join(map(str, sizes))}")
    if 0 in (shape := tuple(int(d) for d in sizes)):
        raise Refusal("it has no elements")
    return shape


def _float(found: Matched) -> str:
    """The one floating type of a product's operands and result."""
    dtypes = {str(a.checked_type.dtype) for a in (found.x, found.w, found.root)}
    if len(dtypes) > 1:
        raise Refusal(f"it mixes {' and '.join(sorted(dtypes))}")
    (dtype,) = dtypes
    if dtype.startswith(("int", "uint", "bool")):
        raise Refusal(f"{dtype} without scales: integers come in as QDQ")
    return dtype


def _matrix(found: Matched, x: tuple[int, ...], w: tuple[int, ...], out: tuple[int, ...]) -> dict[str, Any]:
    attrs = found.product.attrs
    if found.chain.kind == "dense":
        if len(x) != 2:
            raise Refusal(f"its first operand has {len(x)} axes; the array takes matrices")
        return {"batch": 1, "m": x[0], "k": x[1], "n": w[0]}
    if bool(attrs.transpose_a):
        raise Refusal("layout: its first operand is transposed")
    if x[0] != w[0]:
        raise Refusal("its operands have batches of different size")
    return {"batch": x[0], "m": out[1], "k": x[2], "n": out[2], "b_transposed": bool(attrs.transpose_b)}


def _conv2d(found: Matched, x: tuple[int, ...], w: tuple[int, ...], out: tuple[int, ...]) -> dict[str, Any]:
    attrs = found.product.attrs
    layout, kernel = str(attrs.data_layout), str(attrs.kernel_layout)
    if int(attrs.groups) != 1:
        raise Refusal(f"its {int(attrs.groups)} groups would be as many small products; the array takes one group")
    if (dilation := [int(d) for d in attrs.dilation]) != [1, 1]:
        raise Refusal(f"it is dilated by {dilation[0]}x{dilation[1]}; the array's DMA takes windows without gaps")
    if layout not in LAYOUTS or kernel not in KERNELS or str(attrs.out_layout) not in ("", layout):
        raise Refusal(f"layout {layout} with kernel {kernel}; known: {', '.join((*LAYOUTS, *KERNELS))}")
    n, h, width, c = (x[layout.index(axis)] for axis in "NHWC")
    kh, kw, _, oc = (w[kernel.index(axis)] for axis in "HWIO")
    strides, padding = tuple(int(s) for s in attrs.strides), tuple(int(p) for p in attrs.padding)
    if len(padding) == 2:
        padding = padding * 2
    window = Window(n, h, width, c, oc, kh, kw, strides[:2], padding[:4], layout, kernel)  # type: ignore[arg-type]
    if kh > window.padded[0] or kw > window.padded[1]:
        raise Refusal("its kernel is larger than the padded input")
    rows = n * window.out[0] * window.out[1]
    return {"batch": 1, "m": rows, "k": kh * kw * c, "n": oc, "window": window}


def _steps(found: Matched, columns: int) -> Steps:
    """The grids of a quantised product. Raises Refusal for those that one integer product cannot honour."""
    (x, x_scale, x_zero), (w, w_scale, w_zero) = (_grid(d) for d in (found.x, found.w))
    if x not in ("int8", "uint8") or w != "int8":
        raise Refusal(f"its operands are {x} and {w}; the array multiplies int8 (the first one may be uint8)")
    if x_scale.size != 1:
        raise Refusal("its first operand has a scale for each channel, over which it sums")
    if w_zero.any():
        raise Refusal("its second operand has a zero point")
    if w_scale.size not in (1, columns) or (w_scale.size > 1 and int(found.w.attrs.axis) != _column_axis(found)):
        raise Refusal("the scales of its second operand are not those of its columns")
    scales, out, zero = (x_scale * w_scale).astype(np.float32), "float32", 0
    if "requantise" in found.chain.fused:
        out, out_scale, out_zero = _grid(found.root)
        if out not in ("int8", "uint8") or out_scale.size != 1:
            raise Refusal(f"it is quantised to {out} with {out_scale.size} scales; the array makes int8 with one")
        scales, zero = (scales / out_scale).astype(np.float32), int(out_zero.reshape(-1)[0])
    return Steps(x, int(x_zero.reshape(-1)[0]), out, zero, tuple(float(s) for s in scales.reshape(-1)))


def _grid(call: Any) -> tuple[str, Array, Array]:
    """Integer type, scale and zero point of a qnn.dequantize's input or a qnn.quantize's result."""
    quantised = call if calls(call, "qnn.quantize") else call.args[0]
    return str(quantised.checked_type.dtype), _value(call.args[1]), _value(call.args[2])


def _column_axis(found: Matched) -> int:
    if found.chain.kind == "conv2d":
        return str(found.product.attrs.kernel_layout).index("O")
    if found.chain.kind == "dense":
        return 0
    return 1 if bool(found.product.attrs.transpose_b) else 2


def _check_bias(found: Matched, columns: int) -> None:
    """A bias has one number for each column, whatever axes of size one it is written with."""
    shape = _static(found.bias)
    rank, axis = len(_static(found.root)), -1
    if found.chain.kind == "conv2d" and str(found.product.attrs.data_layout) == "NCHW":
        axis = 1
    adds = found.root
    while not any(a.same_as(found.bias) for a in adds.args):
        adds = next(a for a in adds.args if hasattr(a, "args"))
    full = [columns if i == axis % rank else 1 for i in range(rank)]
    wanted = [columns] if calls(adds, "nn.bias_add") else full[-len(shape) :]
    if list(shape) != wanted and not (calls(adds, "add") and list(shape) == [columns] and axis == -1):
        raise Refusal(f"what is added has shape {list(shape)}, not one number for each of {columns} columns")
    if calls(adds, "nn.bias_add") and int(adds.attrs.axis) % rank != axis % rank:
        raise Refusal("its bias is along another axis than its columns")
    if found.chain.quantised:
        _check_units(found)


def _check_units(found: Matched) -> None:
    """A quantised bias counts in steps of both operands, as sums do."""
    dtype, scale, zero = _grid(found.bias)
    units = _grid(found.x)[1] * _grid(found.w)[1]
    if dtype != "int32" or zero.any() or not np.allclose(scale, units, rtol=1e-5, atol=0):
        raise Refusal(f"its bias is {dtype} in other steps than its sums")


def _value(constant: Any) -> Array:
    return constant.data.numpy()
