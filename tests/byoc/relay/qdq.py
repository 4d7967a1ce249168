"""Quantised ONNX models with scales of any size and zero points of any place, as quantisers write them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]


class Writer:
    """Collects nodes and weights; every method gives the name of what it made."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, array: Array) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def on_grid(self, x: str, scale: float, zero: int, dtype: type = np.int8) -> str:
        """x to a grid and back."""
        grid = self.weight(np.array(scale, np.float32)), self.weight(np.array(zero, dtype))
        return self.node("DequantizeLinear", self.node("QuantizeLinear", x, *grid), *grid)

    def kernel(self, shape: tuple[int, ...], x_scale: float, axis: int, each: bool) -> tuple[str, str]:
        """A quantised weight and the bias that goes with it, a scale for each index of `axis` or one."""
        channels = shape[axis]
        scale = self.rng.uniform(0.002, 0.02, channels if each else ()).astype(np.float32)
        weight = self.rng.integers(-128, 128, shape).astype(np.int8)
        bias = self.rng.integers(-9000, 9000, channels).astype(np.int32)
        zeros = [np.zeros(scale.shape, t) for t in (np.int8, np.int32)]
        along = {"axis": axis} if each else {}
        units = (scale * np.float32(x_scale)).astype(np.float32)
        made = [
            self.node("DequantizeLinear", self.weight(weight), self.weight(scale), self.weight(zeros[0]), **along),
            self.node(
                "DequantizeLinear", self.weight(bias), self.weight(units), self.weight(zeros[1]),
                **({"axis": 0} if each else {}),
            ),
        ]  # fmt: skip
        return made[0], made[1]

    def save(self, folder: Path, shape: tuple[int, ...], out: str, rank: int) -> ModelProto:
        """The model from a float `x` to `out`, with inputs drawn for it."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        y = helper.make_tensor_value_info(out, TensorProto.FLOAT, [None] * rank)
        graph = helper.make_graph(self.nodes, "qdq", [x], [y], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
        folder.mkdir()
        onnx.save(model, folder / "model.onnx")
        np.savez(folder / "inputs.npz", x=self.rng.standard_normal(shape).astype(np.float32))
        return model


def convolution(folder: Path, seed: int, dtype: type, each: bool, relu: bool) -> ModelProto:
    """Two convolutions, padded, strided, with an asymmetric grid between them."""
    w, unsigned = Writer(seed), dtype is np.uint8
    x = w.on_grid("x", 0.0213, 119 if unsigned else -7, dtype)
    kernel, bias = w.kernel((16, 5, 3, 3), 0.0213, 0, each)
    y = w.node("Conv", x, kernel, bias, pads=[1, 1, 1, 1], strides=[2, 1])
    y = w.node("Relu", y) if relu else y
    y = w.on_grid(y, 0.0717, 3 if unsigned else -101, dtype)
    kernel, bias = w.kernel((24, 16, 1, 1), 0.0717, 0, each)
    y = w.on_grid(w.node("Conv", y, kernel, bias), 0.337, 128 if unsigned else 5, dtype)
    return w.save(folder, (2, 5, 11, 9), y, 4)


def linear(folder: Path, seed: int, dtype: type, each: bool, relu: bool) -> ModelProto:
    """A matrix product with its weight as ONNX's Gemm has it, and one of stacks."""
    w, unsigned = Writer(seed), dtype is np.uint8
    x = w.on_grid("x", 0.0213, 119 if unsigned else -7, dtype)
    kernel, bias = w.kernel((20, 33), 0.0213, 0, each)
    y = w.node("Gemm", x, kernel, bias, transB=1)
    y = w.node("Relu", y) if relu else y
    return w.save(folder, (7, 33), w.on_grid(y, 0.219, 17 if unsigned else -3, dtype), 2)
