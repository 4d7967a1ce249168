"""What TVM cannot compile although it imports it: one line that names the node, whichever stage it fails in."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.cli.conftest import Workbench
from tests.cli.conftest import workbench as workbench  # the fixture
from workbench.worker import run_job

Layer = tuple[str, dict[str, Any], int, tuple[int, ...], tuple[int, ...]]
"""Operator, attributes, element type, shape of its input, shape of its weight."""

LAYERS: dict[str, tuple[Layer, str]] = {
    "remainder": (("Mod", {}, TensorProto.INT16, (4, 8), (4, 8)), "LLVM module verification failed"),
    "dilated": (
        ("ConvTranspose", {"dilations": [2, 2], "group": 2}, TensorProto.FLOAT, (1, 16, 8, 8), (16, 4, 3, 3)),
        "cannot lower the model to TIR: AssertionError: not support dilate now",
    ),
    "volume": (
        ("ConvTranspose", {"group": 2}, TensorProto.DOUBLE, (1, 4, 4, 4, 4), (4, 2, 3, 3, 3)),
        "cannot lower the model to TIR: AssertionError: only support groups == 1",
    ),
}
"""By the name of the node that is refused: the layer, and what must be said besides its name."""


def write(folder: Path, name: str, layer: Layer) -> None:
    """A model of three nodes, the second of which TVM cannot compile."""
    kind, attributes, dtype, shape, weight = layer
    nodes = [
        helper.make_node("Add", ["x", "x"], ["a"], "before"),
        helper.make_node(kind, ["a", "w"], ["b"], name, **attributes),
        helper.make_node("Mul", ["b", "b"], ["y"], "after"),
    ]
    value = np.ones(weight, helper.tensor_dtype_to_np_dtype(dtype))
    graph = helper.make_graph(
        nodes,
        "layer",
        [helper.make_tensor_value_info("x", dtype, shape)],
        [helper.make_tensor_value_info("y", dtype, None)],
        [numpy_helper.from_array(value, "w")],
    )
    folder.mkdir()
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), folder / "model.onnx")


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("refusals")
    for name, (layer, _) in LAYERS.items():
        write(root / name, name, layer)
    params = {"folders": [str(root / name) for name in LAYERS], "out": str(root)}
    return run_job("tests.tvm.job:run_models", params, root / "log", lambda _: None, 300)


def test_what_tvm_has_in_float32_only_is_refused_in_float64(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Gelu", ["x"], ["y"], "activation")],
        "gelu",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, (4, 8))],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)],
    )
    (tmp_path / "gelu").mkdir()
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), tmp_path / "gelu" / "model.onnx")
    params = {"folders": [str(tmp_path / "gelu")], "out": str(tmp_path)}
    (said,) = run_job("tests.tvm.job:run_models", params, tmp_path / "log", lambda _: None, 100).values()
    assert said.startswith("Erf at node 'activation': TVM's importer refuses it: ValueError: TVM's erf is exact")


def test_bfloat16_comes_out_as_numbers(workbench: Workbench, tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "x"], ["y"], "square")],
        "bfloat16",
        [helper.make_tensor_value_info("x", TensorProto.BFLOAT16, (8, 8))],
        [helper.make_tensor_value_info("y", TensorProto.BFLOAT16, None)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), tmp_path / "square.onnx")
    done = workbench("lower", str(tmp_path / "square.onnx"), "--via", "tvm", "--target", "cpu")
    assert done.code == 0, done.err


@pytest.mark.parametrize("name", LAYERS)
def test_a_failure_after_the_import_names_the_node(name: str, refused: dict[str, str]) -> None:
    (kind, *_), said = LAYERS[name]
    assert refused[name].startswith(f"{kind} at node '{name}': TVM cannot ")
    assert said in refused[name]


@pytest.mark.parametrize(
    ("case", "arguments", "code", "said"),
    [
        ("50-bad-truncated-file", (), 2, "model.onnx"),
        ("53-bad-unknown-operator", (), 1, "WarpField (domain org.example.ops)"),
        ("54-bad-missing-weight", (), 1, "kernel_w"),
        ("56-bad-symbolic-size-unset", (), 2, "n_rows"),
        ("57-zero-size-input", ("--to", "nowhere"), 2, "no stage 'nowhere' in this route"),
        ("57-zero-size-input", ("--from", "nowhere:import"), 2, "nowhere"),
        ("57-zero-size-input", ("--target", "cpu:zen44"), 2, "LLVM knows no CPU 'zen44'"),
        ("57-zero-size-input", ("--target", "gpu"), 2, "gpu"),
        ("57-zero-size-input", ("--threads", "0"), 2, "threads"),
    ],
)
def test_bad_input_is_one_line(
    case: str, arguments: tuple[str, ...], code: int, said: str, workbench: Workbench
) -> None:
    done = workbench("lower", f"tests/cases/{case}/model.onnx", "--via", "tvm", *arguments)
    assert done.code == code, done.err
    assert len(done.error_lines) == 1, done.err
    assert said in done.error_lines[0]
