"""The published architectures that the onnx package carries, with weights of our own, against onnxruntime."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from workbench.core.source import ModelRequest
from workbench.core.target import Target
from workbench.run import LowerRequest, lower

QUICK = ("squeezenet", "shufflenet")
ALL = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)


def with_varied_weights(model: ModelProto) -> ModelProto:
    """Fill in weights scaled by their fan-in (He): as shipped they are constant, and any wrong lowering would pass."""
    rng = np.random.default_rng(7)
    graph = model.graph
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    roles = {n.input[i]: i for n in graph.node if n.op_type == "BatchNormalization" for i in range(1, 5)}
    for node in [n for n in graph.node if n.op_type == "ConstantOfShape" and n.input[0] in shapes]:
        shape = shapes[node.input[0]]
        graph.initializer.append(numpy_helper.from_array(np.zeros(shape, np.float32), node.output[0]))
        graph.node.remove(node)
    for weight in graph.initializer:
        if weight.data_type == TensorProto.FLOAT:
            values = drawn(rng, tuple(weight.dims), roles.get(weight.name))
            weight.CopyFrom(numpy_helper.from_array(values.astype(np.float32), weight.name))
    model.ir_version = max(model.ir_version, 8)
    return model


def drawn(rng: np.random.Generator, shape: tuple[int, ...], role: int | None) -> Any:
    """A weight; `role` is the input of a batch norm that it is: scale, shift, mean or variance."""
    if role in (1, 4):
        return rng.uniform(0.6, 1.4, shape)
    if len(shape) < 2 or role is not None:
        return rng.normal(0.0, 0.1, shape)
    return rng.normal(0.0, np.sqrt(1.0 / np.prod(shape[1:])), shape)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in ALL])
def test_matches_onnxruntime(name: str, tmp_path: Path) -> None:
    import onnxruntime

    shipped = files("onnx") / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
    path = tmp_path / f"{name}.onnx"
    onnx.save(with_varied_weights(onnx.load(str(shipped))), path)
    request = LowerRequest(ModelRequest(str(path), "onnx"), target=Target(chip=""), runs=tmp_path / "runs")
    trace = lower(request)
    with np.load(trace.root / "numerics" / "inputs.npz") as inputs:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        (want,) = session.run(None, dict(inputs))
    (outputs,) = (trace.root / "stages").glob("*outputs.npz")
    with np.load(outputs) as file:
        (got,) = file.values()
    assert want.std() > 0, "a constant output would be matched by a constant result"
    np.testing.assert_allclose(got, want, atol=2e-5 * np.abs(want).max(), rtol=0)
