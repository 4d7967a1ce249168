"""What `npu` operations compute, one after the other and without time: the dialect's meaning, in numpy.

Fences, preloads and tags do nothing here. A function that gives other values on the array lacks a fence, or its
lowering is wrong.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dialects.bindings import Operation, load
from dialects.npu.areas import Area, Areas, Limits, area_of
from workbench.core.arrays import Array, Arrays, numpy_dtype


def interpret(function: Operation, limits: Limits, given: Arrays) -> Arrays:
    """Run a verified function on arrays by the names of its buffers; the results by theirs."""
    return _Run(function, limits, given).results()


class _Run:
    """The memories of one run, by the value that stands for each."""

    def __init__(self, function: Operation, limits: Limits, given: Arrays) -> None:
        self.areas = Areas()
        self.memories: dict[Any, Array] = {}
        self.chip = {space: np.zeros(limits.bytes_of(space), np.uint8) for space in ("scratchpad", "accumulator")}
        block = function.regions[0].blocks[0]
        names = [n.value for n in function.attributes["npu.buffers"]]
        for name, argument in zip(names, block.arguments, strict=True):
            area = area_of(argument, function)
            array = given.get(name)
            flat = np.zeros(area.count, numpy_dtype(area.dtype)) if array is None else array.reshape(-1).copy()
            self.memories[argument] = flat
        for op in block.operations:
            self.execute(op.operation)
        made = list(zip(names, block.arguments, strict=True))[-function.attributes["npu.results"].value :]
        self.made = {name: self.memories[a].reshape(a.type.shape) for name, a in made}

    def results(self) -> Arrays:
        """The last buffers."""
        return self.made

    def execute(self, op: Operation) -> None:
        """One operation's effect."""
        if op.name == "npu.memory":
            area = area_of(op.results[0], op)
            size = area.held * area.item_bytes
            self.memories[op.results[0]] = self.chip[area.space][:size].view(numpy_dtype(area.dtype))
        elif op.name in _EFFECTS:
            _EFFECTS[op.name](op, [self.window(a) for a in self.areas.of(op)])

    def window(self, area: Area) -> Array:
        """A view of the elements that an operand names."""
        memory = self.memories[area.base]
        assert area.end <= memory.size, "the verifier has seen to that"
        strides = tuple(s * memory.itemsize for s in area.strides)
        return np.lib.stride_tricks.as_strided(memory[area.offset :], area.sizes, strides)


def _copy(op: Operation, windows: list[Array]) -> None:
    source, target = windows
    target[...] = source.reshape(target.shape)


def _add(op: Operation, sums: Array, product: Array) -> None:
    sums[...] = (sums if op.attributes["accumulate"].value else 0) + product


def _matmul(op: Operation, windows: list[Array]) -> None:
    a, b, sums = windows
    _add(op, sums, a.astype(sums.dtype) @ b.astype(sums.dtype))


def _conv2d(op: Operation, windows: list[Array]) -> None:
    image, weights, sums = windows
    ir = load("ir")
    kernel, strides = (tuple(ir.DenseI64ArrayAttr(op.attributes[a])) for a in ("kernel", "strides"))
    seen = np.lib.stride_tricks.sliding_window_view(image, kernel, (0, 1))[:: strides[0], :: strides[1]]
    rows = np.moveaxis(seen, 2, -1).reshape(sums.shape[0], -1)
    _add(op, sums, rows.astype(sums.dtype) @ weights.astype(sums.dtype))


def _activate(op: Operation, windows: list[Array]) -> None:
    sums, target, *vectors = windows
    segments = list(load("ir").DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    x = sums + vectors[0].reshape(-1) if segments[2] else sums
    x = np.maximum(x, 0) if op.attributes["relu"].value else x
    if op.name == "npu.requantize":
        scale = vectors[-1].reshape(-1) if segments[3] else np.float32(op.attributes["scale"].value)
        x = np.rint(x.astype(np.float32) * scale).astype(np.float64) + op.attributes["zero_point"].value
    if "clip" in op.attributes:
        x = np.clip(x, *load("ir").DenseF64ArrayAttr(op.attributes["clip"])).astype(x.dtype)
    if target.dtype.kind == "i":
        limits = np.iinfo(target.dtype)
        x = np.clip(x, limits.min, limits.max)
    target[...] = x.astype(target.dtype)


_EFFECTS: dict[str, Callable[[Operation, list[Array]], None]] = {
    "npu.dma_load": _copy,
    "npu.dma_store": _copy,
    "npu.matmul": _matmul,
    "npu.conv2d": _conv2d,
    "npu.activate": _activate,
    "npu.requantize": _activate,
}
