"""What the tests of all tuners share: a model with one convolution and one dense product, and what must hold of it."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from workbench.core.source import ModelRequest
from workbench.core.target import parse_target
from workbench.core.trace import Trace
from workbench.core.tuning import SearchLimits
from workbench.run import LowerRequest, lower
from workbench.tune import Tuned, TuneRequest, tune

NOISE = 1.03


def conv_dense(folder: Path) -> ModelRequest:
    """relu(conv3x3(x)), then relu(x @ w.T + b): [1, 16, 12, 12] to [1, 64]."""
    rng = np.random.default_rng(0)
    shapes = {"k": (32, 16, 3, 3), "kb": (32,), "w": (64, 32 * 12 * 12), "b": (64,)}
    weights = {name: rng.normal(0, 0.05, shape).astype(np.float32) for name, shape in shapes.items()}
    nodes = [
        helper.make_node("Conv", ["x", "k", "kb"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Flatten", ["r"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "w", "b"], ["d"], "dense", transB=1),
        helper.make_node("Relu", ["d"], ["y"], "last"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 12, 12])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64])
    initializers = [numpy_helper.from_array(a, n) for n, a in weights.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    path = folder / "conv_dense.onnx"
    onnx.save(model, path)
    return ModelRequest(str(path), "onnx")


def request(folder: Path, tuner: str, trials: int, log: Path | None = None, **options: object) -> TuneRequest:
    """A request for the model in `folder`, with its traces and its database there."""
    limits = SearchLimits(trials, seed=int(trials))
    target = parse_target("cpu", int(str(options.get("threads", 1))))
    return TuneRequest(
        conv_dense(folder),
        str(options.get("route", "tvm")),
        tuner,
        limits,
        target,
        log=log,
        resume=bool(options.get("resume", False)),
        database=folder / "tuned",
        runs=folder / "runs",
    )


def check_found(tuned: Tuned) -> None:
    """Both tasks were searched and have candidates that ran; what was built is right and not slower than default."""
    rows = tuned.choice.rows
    heavy = [row for row in rows if row.name.startswith(("conv2d", "dense"))]
    assert len(heavy) == 2
    assert all(0 < row.valid <= row.candidates for row in heavy)
    assert all(row.logged_ms and row.default_ms > 0 for row in heavy)
    assert 0.1 < sum(row.share for row in rows) <= 1 + 1e-6
    assert sum(row.candidates for row in rows) == tuned.facts["records"] == tuned.facts["new_records"]
    assert all(v["ok"] for trace in (tuned.before, tuned.after) for v in trace.manifest["verdicts"])
    assert tuned.choice.models_ms["chosen"] <= tuned.choice.models_ms["default"] * NOISE
    for row in rows:
        assert row.chosen == "default" or (row.tuned_ms or 0.0) <= row.default_ms * NOISE
        assert bool(row.reason) == (row.chosen == "default")


def resumed(tuned: Tuned, folder: Path, tuner: str, trials: int, route: str = "tvm") -> Tuned:
    """The same search gone on with, after its last record was cut in half."""
    data = tuned.entry.log.read_bytes()
    tuned.entry.log.write_bytes(data + data.splitlines()[-1][: len(data.splitlines()[-1]) // 2])
    again = tune(request(folder, tuner, trials, tuned.entry.log, resume=True, route=route))
    assert tuned.entry.log.read_bytes().startswith(data)
    return again


def lowered_with(schedules: Path, folder: Path) -> Trace:
    """The model built with schedules of a file."""
    target = parse_target("cpu")
    return lower(LowerRequest(conv_dense(folder), "tvm", target=target, runs=folder / "runs", tuned=schedules))
