"""Rewrites of ONNX graphs compute what the original computes, judged by ONNX's own evaluator."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from pipelines.importers.onnx.batch_norm import fold_batch_norms
from pipelines.importers.onnx.check import check_model, check_static, named
from pipelines.importers.onnx.graph import Graph
from pipelines.importers.onnx.legalize import legalize
from pipelines.importers.onnx.rules import RULES
from pipelines.importers.onnx.shapes import settle, upgrade
from workbench.core.errors import CompileError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def model_of(
    kind: str, inputs: dict[str, Array], constants: dict[str, Array], opset: int = 19, results: int = 1, **options: Any
) -> onnx.ModelProto:
    """A model of one node; inputs are read in the order given, "" among the constants' names is left out."""
    order = [*inputs, *constants]
    outputs = [f"y{i}" for i in range(results)]
    node = helper.make_node(kind, [n if not n.startswith("none") else "" for n in order], outputs, name="it", **options)
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in inputs.items()
        ],
        [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in outputs],
        [numpy_helper.from_array(a, n) for n, a in constants.items() if not n.startswith("none")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def rewritten(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, int]]:
    graph = settle(Graph(named(model)))
    check_static(graph)
    replaced = legalize(graph, RULES)
    return graph.to_model(), replaced


def assert_same(model: onnx.ModelProto, inputs: dict[str, Array], tolerance: float = 1e-5) -> None:
    """The rewritten model gives what the original gives, without the original operator."""
    want = ReferenceEvaluator(settle(Graph(named(model))).to_model()).run(None, inputs)
    changed, replaced = rewritten(model)
    assert replaced, "no rule applied"
    got = ReferenceEvaluator(changed).run(None, inputs)
    for a, b in zip(got, want, strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("mode", "antialias"), [("nearest", 0), ("linear", 0), ("linear", 1), ("cubic", 0), ("cubic", 1)]
)
@pytest.mark.parametrize(
    "coordinates", ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
)
def test_resize_by_scales(mode: str, coordinates: str, antialias: int) -> None:
    for scales in ([1, 1, 1.5, 2.5], [1, 1, 0.6, 0.8]):
        x = {"x": floats(1, 2, 5, 4)}
        constants = {"none": floats(0), "scales": np.asarray(scales, np.float32)}
        options = {"mode": mode, "coordinate_transformation_mode": coordinates, "antialias": antialias}
        assert_same(model_of("Resize", x, constants, **options), x)


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_resize_nearest_takes_the_neighbour_asked_for(rounding: str) -> None:
    x = {"x": np.arange(8, dtype=np.float32).reshape(1, 1, 2, 4)}
    constants = {"none": floats(0), "scales": np.asarray([1, 1, 1.5, 2.5], np.float32)}
    assert_same(model_of("Resize", x, constants, nearest_mode=rounding), x, 0)


@pytest.mark.parametrize(
    "equation, shapes",
    [
        ("...pk , ...qk -> ...qp", [(1, 2, 3, 4), (5, 2, 6, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ii->i", [(3, 3)]),
        ("iij->j", [(3, 3, 2)]),
        ("bi,bj,bk->kij", [(2, 3), (2, 4), (2, 5)]),
        (",->", [(), ()]),
        ("ij->", [(2, 3)]),
        ("a,b->ba", [(2,), (3,)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    inputs = {f"x{i}": floats(*s) for i, s in enumerate(shapes)}
    assert_same(model_of("Einsum", inputs, {}, equation=equation), inputs)


@pytest.mark.parametrize("a, b", [((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((5, 1, 2, 3), (2, 3, 4)), ((2, 2, 3), (3, 4))])
def test_matmul_broadcasts_its_batch(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    inputs = {"a": floats(*a), "b": floats(*b)}
    assert_same(model_of("MatMul", inputs, {}), inputs)


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_pads_that_repeat_the_input(mode: str) -> None:
    x = {"x": floats(3, 5)}
    assert_same(model_of("Pad", x, {"pads": np.asarray([1, 2, 2, 3], np.int64)}, mode=mode), x)


def test_a_negative_pad_cuts_off() -> None:
    x = floats(3, 5)
    changed, _ = rewritten(model_of("Pad", {"x": x}, {"pads": np.asarray([1, -1, 2, 3], np.int64)}))
    (got,) = ReferenceEvaluator(changed).run(None, {"x": x})
    np.testing.assert_array_equal(got, np.pad(x[:, 1:], ((1, 2), (0, 3))))


@pytest.mark.parametrize("start, end, step", [(-1, -9, -1), (3, 0, -2), (9, -(2**62), -1)])
def test_slices_backwards(start: int, end: int, step: int) -> None:
    x = {"x": floats(4, 6)}
    bounds = {n: np.asarray([v], np.int64) for n, v in (("s", start), ("e", end), ("axes", 1), ("steps", step))}
    assert_same(model_of("Slice", x, bounds), x)


@pytest.mark.parametrize("shape, axis", [((), 1), ((3,), 1), ((3,), -3)])
def test_quantisation_and_back(shape: tuple[int, ...], axis: int) -> None:
    x = {"x": floats(2, 3, 4, 2) if axis > 0 else floats(3, 4, 2)}
    scale = np.abs(RNG.standard_normal(shape)).astype(np.float32) * 0.1 + 0.01
    zero = np.asarray(RNG.integers(90, 140, shape), np.uint8)
    assert_same(model_of("QuantizeLinear", x, {"s": scale, "z": zero}, axis=axis), x, 0)
    q = {"q": RNG.integers(0, 255, x["x"].shape).astype(np.uint8)}
    assert_same(model_of("DequantizeLinear", q, {"s": scale, "z": zero}, axis=axis), q)


@pytest.mark.parametrize(
    "options",
    [
        {"group": 4, "strides": [2, 1]},
        {"pads": [1, 0, 0, 1], "strides": [2, 2]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"output_padding": [1, 0], "strides": [2, 2], "pads": [0, 1, 1, 0]},
    ],
)
def test_transposed_convolution(options: dict[str, Any]) -> None:
    x = {"x": floats(1, 4, 3, 5)}
    groups = options.get("group", 1)  # the evaluator takes one channel a group, and no bias
    weights = {"w": floats(4, 2 if groups == 1 else 1, 3, 3)} | ({"b": floats(2)} if groups == 1 else {})
    assert_same(model_of("ConvTranspose", x, weights, **options), x, 1e-4)


@pytest.mark.parametrize("kind, gates, states", [("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)])
def test_recurrent_layers(kind: str, gates: int, states: int) -> None:
    x = {"x": floats(5, 2, 3)}
    weights = {"w": floats(1, gates * 4, 3), "r": floats(1, gates * 4, 4), "b": floats(1, 2 * gates * 4)}
    assert_same(model_of(kind, x, weights, results=1 + states, hidden_size=4), x)


@pytest.mark.parametrize("inverse, onesided", [(0, 0), (1, 0), (0, 1)])
def test_fourier_transform(inverse: int, onesided: int) -> None:
    x = {"x": floats(2, 6, 1 if onesided else 2)}
    constants = {"none": floats(0), "axis": np.asarray(1, np.int64)}
    assert_same(model_of("DFT", x, constants, 20, inverse=inverse, onesided=onesided), x)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border"])
@pytest.mark.parametrize("corners", [0, 1])
def test_grid_sample_stays_inside_the_image(mode: str, padding: str, corners: int) -> None:
    x = {"x": floats(2, 3, 4, 5), "grid": (floats(2, 3, 2, 2) * 1.3)}
    assert_same(model_of("GridSample", x, {}, 20, mode=mode, padding_mode=padding, align_corners=corners), x)


def test_batch_norm_folds_into_a_convolution_and_a_product() -> None:
    norm = {n: np.abs(floats(4)) + 0.5 for n in ("g", "b", "m", "v")}
    weights = {"w": floats(4, 2, 3, 3), **norm}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["h"], name="conv"),
        helper.make_node("BatchNormalization", ["h", "g", "b", "m", "v"], ["y"], name="norm"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 5, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    x = floats(1, 2, 5, 5)
    folded = Graph(model)
    assert fold_batch_norms(folded) == 1
    assert [n.op_type for n in folded.nodes] == ["Conv"]
    got, want = (ReferenceEvaluator(m).run(None, {"x": x})[0] for m in (folded.to_model(), model))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "kind, options, named_in_message",
    [
        ("NonZero", {}, "NonZero at node 'it'"),
        ("Bernoulli", {}, "Bernoulli at node 'it' draws random numbers"),
        ("Det", {}, "Det at node 'it'"),
    ],
)
def test_refusals_name_the_operator_and_the_node(kind: str, options: dict[str, Any], named_in_message: str) -> None:
    model = named(model_of(kind, {"x": floats(3, 3)}, {}, **options))
    check_model(model)
    with pytest.raises(CompileError, match=named_in_message):
        check_static(settle(Graph(model)))


def test_old_models_are_raised_to_one_opset() -> None:
    model = model_of("Softmax", {"x": floats(2, 3, 4)}, {}, opset=9, axis=1)
    raised, problem = upgrade(model, 18)
    assert not problem and raised.opset_import[0].version == 18
    x = floats(2, 3, 4)
    rows = np.exp(x.reshape(2, 12) - x.reshape(2, 12).max(1, keepdims=True))
    (got,) = ReferenceEvaluator(raised).run(None, {"x": x})
    np.testing.assert_allclose(got, (rows / rows.sum(1, keepdims=True)).reshape(x.shape), rtol=1e-5)


def test_gelu_by_tanh() -> None:
    x = {"x": np.linspace(-3, 3, 31, dtype=np.float32)}
    assert_same(model_of("Gelu", x, {}, opset=20, approximate="tanh"), x, 1e-6)
