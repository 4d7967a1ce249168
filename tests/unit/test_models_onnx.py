"""ONNX files: damage, sizes, inputs, and references that hold for old opsets and foreign operators."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from models.load import load_source
from workbench.core.errors import CompileError, UsageError
from workbench.core.source import ModelRequest

Shape = Sequence[int | str | None] | None


def value(name: str, shape: Shape, kind: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: list[NodeProto],
    inputs: list[ValueInfoProto],
    outputs: list[ValueInfoProto],
    opset: int = 18,
    **weights: "np.ndarray[Any, Any]",
) -> ModelProto:
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, stored), opset_imports=opsets, ir_version=8)


def save(path: Path, proto: ModelProto) -> str:
    onnx.save(proto, path)
    return str(path)


def refusal(request: ModelRequest) -> str:
    with pytest.raises(UsageError) as caught:
        load_source(request)
    message = str(caught.value)
    assert "\n" not in message and request.model in message
    return message


@pytest.fixture
def pair(tmp_path: Path) -> str:
    """y = a @ b, with a of [n, k] and b of [k, 3]."""
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    return save(
        tmp_path / "pair.onnx", model([node], [value("a", ["n", "k"]), value("b", ["k", 3])], [value("y", None)])
    )


def test_damaged_files_are_refused(tmp_path: Path, pair: str) -> None:
    assert "no such file" in refusal(ModelRequest(str(tmp_path / "none.onnx")))
    for content in (b"", b"\x00\xff not a protobuf", Path(pair).read_bytes()[:-40]):
        (tmp_path / "bad.onnx").write_bytes(content)
        assert "damaged" in refusal(ModelRequest(str(tmp_path / "bad.onnx")))
    (tmp_path / "folder.onnx").mkdir()
    assert "not a file" in refusal(ModelRequest(str(tmp_path / "folder.onnx")))


def test_missing_external_weights_are_refused(tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "w"], ["y"])
    proto = model([node], [value("x", [2048])], [value("y", [2048])], w=np.ones(2048, np.float32))
    path = tmp_path / "split.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="split.data")
    assert load_source(ModelRequest(str(path))).inputs["x"].shape == (2048,)
    (tmp_path / "split.data").write_bytes(b"short")
    assert "external weights" in refusal(ModelRequest(str(path)))
    (tmp_path / "split.data").unlink()
    assert "external weights" in refusal(ModelRequest(str(path)))


def test_inputs_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    node = helper.make_node("Identity", ["x"], ["y"])
    text = model([node], [value("x", [2], TensorProto.STRING)], [value("y", [2], TensorProto.STRING)])
    assert "input 'x' has element type string" in refusal(ModelRequest(save(tmp_path / "t.onnx", text)))
    sequence = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [2])
    several = model([helper.make_node("SequenceLength", ["x"], ["y"])], [sequence], [value("y", [], TensorProto.INT64)])
    assert "input 'x' is a sequence" in refusal(ModelRequest(save(tmp_path / "s.onnx", several)))


def test_a_size_holds_for_every_input_that_names_it(pair: str) -> None:
    source = load_source(ModelRequest(pair, sizes={"a": (2, 5)}))
    assert {n: x.shape for n, x in source.inputs.items()} == {"a": (2, 5), "b": (5, 3)}
    output = source.program.graph.output[0].type.tensor_type.shape.dim
    assert [dim.dim_value for dim in output] == [2, 3]
    want = source.reference(source.inputs)["y"]
    np.testing.assert_allclose(want, source.inputs["a"].astype(float) @ source.inputs["b"].astype(float), rtol=1e-12)


@pytest.mark.parametrize(
    "sizes, names",
    [
        ({}, "input 'a' is [n, k] and n, k has no value; give the shape, for example --input a=1x1"),
        ({"b": (5, 3)}, "input 'a' is [n, k] and n has no value; give the shape, for example --input a=1x5"),
        ({"a": (2, 5), "b": (4, 3)}, "size 'k' cannot be both 5 and 4"),
        ({"a": (2, 5, 1)}, "input 'a' is [n, k], which [2, 5, 1] does not fit"),
        ({"b": (5, 4)}, "input 'b' is [k, 3], which [5, 4] does not fit"),
        ({"c": (5, 4)}, "no input 'c'; it has: a, b"),
    ],
)
def test_sizes_that_are_missing_or_wrong_are_refused(pair: str, sizes: dict[str, tuple[int, ...]], names: str) -> None:
    assert names in refusal(ModelRequest(pair, sizes=sizes))


def test_sizes_without_a_name_and_shapes_without_sizes(tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "z"], ["y"])
    path = save(tmp_path / "m.onnx", model([node], [value("x", [None, 2]), value("z", None)], [value("y", None)]))
    assert "input 'z' has no shape" in refusal(ModelRequest(path, sizes={"x": (3, 2)}))
    assert "x[0] has no value" in refusal(ModelRequest(path, sizes={"z": (1,)}))
    source = load_source(ModelRequest(path, sizes={"x": (3, 2), "z": ()}))
    assert source.reference(source.inputs)["y"].shape == (3, 2)


def test_sizes_that_contradict_the_graph_are_refused(tmp_path: Path) -> None:
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    proto = model([node], [value("x", [1, "k"])], [value("y", None)], w=np.ones((4, 3), np.float32))
    path = save(tmp_path / "m.onnx", proto)
    assert "shapes do not fit together with k=5" in refusal(ModelRequest(path, sizes={"x": (1, 5)}))


def test_sizes_are_taken_from_the_inputs(tmp_path: Path, pair: str) -> None:
    a, b = np.ones((2, 4), np.float32), np.ones((4, 3), np.float32)
    np.savez(tmp_path / "x.npz", a=a, b=b)
    source = load_source(ModelRequest(pair, inputs=str(tmp_path / "x.npz")))
    np.testing.assert_array_equal(source.reference(source.inputs)["y"], np.full((2, 3), 4.0))
    np.savez(tmp_path / "x.npz", a=a)
    with pytest.raises(UsageError, match=r"x\.npz: input 'b' is missing"):
        load_source(ModelRequest(pair, inputs=str(tmp_path / "x.npz")))


def test_weights_are_for_torch(pair: str) -> None:
    assert "carries its own weights" in refusal(ModelRequest(pair, weights="w.safetensors"))


def test_weights_listed_as_inputs_are_not_asked_for(tmp_path: Path) -> None:
    node = helper.make_node("Add", ["x", "w"], ["y"])
    proto = model([node], [value("x", [2]), value("w", [2])], [value("y", [2])], w=np.ones(2, np.float32))
    proto.ir_version = 3
    assert list(load_source(ModelRequest(save(tmp_path / "m.onnx", proto))).inputs) == ["x"]


def test_inputs_follow_the_seed_and_their_use(tmp_path: Path) -> None:
    kinds = {"i": TensorProto.INT64, "f": TensorProto.FLOAT, "g": TensorProto.FLOAT, "b": TensorProto.BOOL}
    nodes = [
        helper.make_node("Gather", ["w", "i"], ["t"]),
        helper.make_node("Where", ["b", "f", "g"], ["s"]),
        helper.make_node("Add", ["t", "s"], ["y"]),
    ]
    inputs = [value(name, [400], kind) for name, kind in kinds.items()]
    path = save(tmp_path / "m.onnx", model(nodes, inputs, [value("y", [400])], w=np.arange(7, dtype=np.float32)))
    first, again, other = (load_source(ModelRequest(path, seed=seed)).inputs for seed in (0, 0, 1))
    assert all(np.array_equal(first[n], again[n]) and not np.array_equal(first[n], other[n]) for n in kinds)
    assert not np.array_equal(first["f"], first["g"])
    assert set(first["i"].tolist()) == set(range(7))
    assert set(first["b"].tolist()) == {False, True}
    assert abs(first["f"].std() - 1) < 0.2


def test_inputs_of_eight_bits_take_all_their_values(tmp_path: Path) -> None:
    node = helper.make_node("Identity", ["x"], ["y"])
    proto = model([node], [value("x", [999], TensorProto.INT8)], [value("y", [999], TensorProto.INT8)])
    x = load_source(ModelRequest(save(tmp_path / "m.onnx", proto))).inputs["x"]
    assert x.min() < -100 and x.max() > 100


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [11, 13])
def test_softmax_follows_its_opset(tmp_path: Path, op: str, opset: int) -> None:
    node = helper.make_node(op, ["x"], ["y"])
    check_against_onnxruntime(
        save(tmp_path / "m.onnx", model([node], [value("x", [2, 3, 4])], [value("y", None)], opset))
    )


@pytest.mark.parametrize("opset", [7, 9, 15])
def test_batch_norm_does_not_train(tmp_path: Path, opset: int) -> None:
    weights = {n: np.array([0.5, 1.0, 2.0], np.float32) for n in ("scale", "bias", "mean", "var")}
    node = helper.make_node("BatchNormalization", ["x", *weights], ["y"])
    proto = model([node], [value("x", [2, 3, 4, 4])], [value("y", None)], opset, **weights)
    check_against_onnxruntime(save(tmp_path / "m.onnx", proto))


def check_against_onnxruntime(path: str) -> None:
    source = load_source(ModelRequest(path))
    assert source.reference_kind == "onnx.reference float64"
    session = onnxruntime.InferenceSession(source.program.SerializeToString())
    want: list[Any] = session.run(list(source.output_names), source.inputs)
    for got, expected in zip(source.reference(source.inputs).values(), want, strict=True):
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_low_precision_inside_is_widened(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
        helper.make_node("Constant", [], ["c"], value_float=0.1),
        helper.make_node("Cast", ["h"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "c"], ["y"]),
    ]
    source = load_source(ModelRequest(save(tmp_path / "m.onnx", model(nodes, [value("x", [9])], [value("y", [9])]))))
    want = source.inputs["x"].astype(np.float64) * float(np.float32(0.1))
    np.testing.assert_array_equal(source.reference(source.inputs)["y"], want)


def test_foreign_operators_get_onnxruntime_as_reference(tmp_path: Path) -> None:
    node = helper.make_node("QuickGelu", ["x"], ["y"], domain="com.microsoft", alpha=1.0)
    source = load_source(ModelRequest(save(tmp_path / "m.onnx", model([node], [value("x", [9])], [value("y", [9])]))))
    assert source.reference_kind == "onnxruntime float32"
    x = source.inputs["x"].astype(np.float64)
    np.testing.assert_allclose(source.reference(source.inputs)["y"], x / (1 + np.exp(-x)), rtol=1e-5)


def test_unknown_operators_load_and_have_no_reference(tmp_path: Path) -> None:
    node = helper.make_node("WarpField", ["x"], ["y"], domain="com.microsoft")
    source = load_source(ModelRequest(save(tmp_path / "m.onnx", model([node], [value("x", [9])], [value("y", [9])]))))
    with pytest.raises(CompileError, match=r"m has no reference: .*WarpField"):
        source.reference(source.inputs)


@pytest.mark.parametrize("op", ["Conv", "AveragePool", "MaxPool"])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"pads": [1, 0, 2, 1], "strides": [2, 3]},
        {"dilations": [2, 1], "pads": [1, 1, 1, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    ],
    ids=["plain", "padded", "dilated", "same"],
)
def test_windows_match_onnxruntime(tmp_path: Path, op: str, attributes: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    weights = {
        "w": rng.standard_normal((6, 2, 3, 2)).astype(np.float32),
        "b": rng.standard_normal(6).astype(np.float32),
    }
    if op == "Conv":
        node = helper.make_node("Conv", ["x", "w", "b"], ["y"], group=2, **attributes)
    else:
        counted = {"count_include_pad": 1} if op == "AveragePool" and "strides" in attributes else {}
        node = helper.make_node(op, ["x"], ["y"], kernel_shape=[3, 2], **attributes, **counted)
        weights = {}
    proto = model([node], [value("x", [2, 4, 9, 10])], [value("y", None)], 19, **weights)
    check_against_onnxruntime(save(tmp_path / "m.onnx", proto))


@pytest.mark.parametrize("size", [1, 3, 5])
def test_every_channel_is_normalised(size: int, tmp_path: Path) -> None:
    node = helper.make_node("LRN", ["x"], ["y"], size=size, alpha=0.5, bias=2.0)
    path = save(tmp_path / "lrn.onnx", model([node], [value("x", [2, 7, 3, 4])], [value("y", [2, 7, 3, 4])]))
    source = load_source(ModelRequest(path))
    (want,) = onnxruntime.InferenceSession(path).run(None, source.inputs)
    np.testing.assert_allclose(source.reference(source.inputs)["y"], want, rtol=1e-6)
