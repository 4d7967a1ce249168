"""What TVM's ONNX importer gets wrong and ours does not, judged by ONNX's evaluator."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from workbench.worker import run_job

X = np.random.default_rng(7).standard_normal((2, 3, 4, 5)).astype(np.float32)
NAN = np.where(np.random.default_rng(8).random((2, 3, 4, 5)) < 0.2, np.nan, X).astype(np.float32)

GIVEN = {"x": X, "positive": np.abs(X) + 1, "nan": NAN, "steps": X[:, 0], "halves": np.round(X * 4) / 2}

Node = tuple[str, list[Any], dict[str, Any]]
"""Operator, inputs ("x", "", or the values of a constant), attributes; "outputs" says how many it has."""

PAIRS = (["nan", "x"], ["x", "nan"], ["nan", np.array(-0.5, np.float32)])
REDUCTIONS = ("Max", "Min", "Sum", "Mean", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")


def reductions() -> Iterator[Node]:
    """Axes are an input from opset 18 on, of which TVM reads the first alone."""
    for kind in REDUCTIONS:
        name = "x" if kind != "LogSum" else "positive"
        yield f"Reduce{kind}", [name, np.array([1, -1])], {"keepdims": 0}
        yield f"Reduce{kind}", [name, np.array([3, 0])], {}
        yield f"Reduce{kind}", [name], {}
        yield f"Reduce{kind}", [name], {"noop_with_empty_axes": 1}


def splits() -> Iterator[Node]:
    yield "Split", ["x"], {"num_outputs": 3, "axis": 3, "outputs": 3}
    yield "Split", ["x"], {"num_outputs": 2, "axis": -3, "outputs": 2}
    yield "Split", ["x", np.array([1, 3])], {"axis": 2, "outputs": 2}


def resizes() -> Iterator[Node]:
    scales, sizes = np.array([1, 1, 1.5, 2.5], np.float32), np.array([2, 3, 7, 3])
    for mode in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"):
        for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            yield "Resize", ["x", "", scales], {"coordinate_transformation_mode": mode, "nearest_mode": nearest}
        for kind in ("linear", "cubic"):
            yield "Resize", ["x", "", "", sizes], {"coordinate_transformation_mode": mode, "mode": kind}
    yield "Resize", ["x", "", "", np.array([2, 3])], {"mode": "linear", "antialias": 1, "axes": [2, 3]}
    yield "Resize", ["x", "", np.array([0.5, 2], np.float32)], {"mode": "cubic", "exclude_outside": 1, "axes": [3, 1]}


def products() -> Iterator[Node]:
    rng = np.random.default_rng(3)
    for shape in ((5,), (5, 6), (4, 5, 6)[1:], (3, 5, 6), (2, 1, 5, 6), (4, 1, 3, 5, 2)):
        yield "MatMul", ["x", rng.standard_normal(shape).astype(np.float32)], {}
    yield "MatMul", [rng.standard_normal(4).astype(np.float32), "x"], {}


def definitions() -> Iterator[Node]:
    """Operators that TVM lacks: ONNX's own definition of them is imported."""
    one = np.array([1.5, -2, 0.5], np.float32)
    yield "GroupNormalization", ["x", one, one], {"num_groups": 3}
    yield "RMSNormalization", ["x", np.arange(5, dtype=np.float32)], {"axis": -1}
    yield "Swish", ["x"], {}


def clamps() -> Iterator[Node]:
    """NaN goes through all of them but not through TVM's."""
    bounds = [np.array(-0.5, np.float32), np.array(0.5, np.float32)]
    yield from (("Relu", ["nan"], {}), ("Clip", ["nan", *bounds], {}), ("Elu", ["nan"], {}), ("Selu", ["nan"], {}))
    yield from (
        (kind, pair, {}) for kind in ("Max", "Min") for pair in (["nan", "x"], ["x", "nan"], ["nan", bounds[0]])
    )
    yield from (
        (f"Reduce{m}", ["nan", np.array(a)], {"keepdims": k}) for m, a, k in (("Max", [1], 1), ("Min", [0, 3], 0))
    )
    yield from (("ReduceMax", ["nan"], {}), ("ReduceLogSumExp", ["nan", np.array([2])], {}))
    yield from (("HardSigmoid", ["nan"], {}), ("HardSwish", ["nan"], {}), ("LeakyRelu", ["nan"], {}))


def recurrent() -> Iterator[Node]:
    """TVM's run a layer of direction "reverse" forwards."""
    rng = np.random.default_rng(4)
    for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for way in ("forward", "reverse", "bidirectional"):
            ways = 2 if way == "bidirectional" else 1
            weights = [rng.standard_normal((ways, gates * 3, n)).astype(np.float32) * 0.3 for n in (5, 3)]
            yield kind, ["steps", *weights], {"direction": way, "hidden_size": 3}


def dropouts() -> Iterator[Node]:
    yield "Dropout", ["x", np.array(0.3, np.float32)], {}
    yield "Dropout", ["x", np.array(0.3, np.float32)], {"outputs": 2}


def grids() -> Iterator[Node]:
    """Halves go to the even step; TVM's go away from zero."""
    one, each = np.array(1, np.float32), np.array([0.5, 1, 2], np.float32)
    yield "QuantizeLinear", ["halves", one, np.array(0, np.int8)], {}
    yield "QuantizeLinear", ["halves", one, np.array(3, np.uint8)], {}
    yield "QuantizeLinear", ["halves", each, np.array([1, -2, 0], np.int8)], {"axis": 1}


_GROUPS = (reductions, splits, resizes, products, definitions, clamps, dropouts, recurrent, grids)
GROUPS = {f.__name__: f for f in _GROUPS}


def model_of(nodes: list[Node]) -> onnx.ModelProto:
    """One graph of all nodes."""
    made: list[onnx.NodeProto] = []
    weights: list[TensorProto] = []
    for i, (kind, values, options) in enumerate(nodes):
        names: list[str] = []
        for j, value in enumerate(values):
            if not isinstance(value, str):
                weights.append(numpy_helper.from_array(value, f"c{i}_{j}"))
            names.append(value if isinstance(value, str) else f"c{i}_{j}")
        outputs = [f"y{i}_{k}" for k in range(options.get("outputs", 1))]
        attributes = {k: v for k, v in options.items() if k != "outputs"}
        made.append(helper.make_node(kind, names, outputs, f"{kind}-{i}", **attributes))
    used = {n for node in made for n in node.input}
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, GIVEN[n].shape) for n in GIVEN if n in used]
    kinds = {n.output[1]: TensorProto.BOOL for n in made if n.op_type == "Dropout" and len(n.output) > 1}
    zeros = {w.name: w.data_type for w in weights}
    kinds |= {n.output[0]: zeros[n.input[2]] for n in made if n.op_type == "QuantizeLinear"}
    results = [
        helper.make_tensor_value_info(o, kinds.get(o, TensorProto.FLOAT), None) for node in made for o in node.output
    ]
    opset = 24 if any(node.op_type in ("Swish", "RMSNormalization") for node in made) else 18
    graph = helper.make_graph(made, "nodes", inputs, results, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every group lowered and run in one process."""
    root = tmp_path_factory.mktemp("corrections")
    for name, nodes in GROUPS.items():
        folder = root / name
        folder.mkdir()
        model = model_of(list(nodes()))
        onnx.save(model, folder / "model.onnx")
        np.savez(folder / "inputs.npz", **{v.name: GIVEN[v.name] for v in model.graph.input})
    params = {"folders": [str(root / name) for name in GROUPS], "out": str(root)}
    refused = run_job("tests.tvm.job:run_models", params, root / "log", lambda _: None, 300)
    assert not refused, refused
    return root


@pytest.mark.parametrize("group", GROUPS)
def test_every_node_gives_what_onnx_says(group: str, ran: Path) -> None:
    model = onnx.load(ran / group / "model.onnx")
    with np.load(ran / f"{group}.npz") as got, np.load(ran / group / "inputs.npz") as inputs:
        names = [o.name for o in model.graph.output]
        expected = dict(zip(names, ReferenceEvaluator(model).run(None, dict(inputs)), strict=True))
        for node in model.graph.node:
            for name in node.output:
                np.testing.assert_allclose(got[name], expected[name], 2e-5, 2e-5, equal_nan=True, err_msg=str(node))


def test_the_table_that_onnx_dropped_is_there_during_the_import_only(ran: Path) -> None:
    check = "import sys; import pipelines.tvm.importer as i\nwith i.onnx_mapping(): import onnx.mapping\n"
    params = {"code": check + "assert 'onnx.mapping' not in sys.modules"}
    run_job("tests.tvm.job:execute", params, ran / "log", lambda _: None, 60)
