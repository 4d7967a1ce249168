"""Every model of the zoo, through both front ends: right on the host, accepted by ptxas, whole traces."""

from pathlib import Path

import pytest

from workbench.catalog import MODELS
from workbench.core.source import Frontend, ModelRequest
from workbench.core.target import Target
from workbench.core.trace import Trace
from workbench.core.trace.check import damage
from workbench.run import LowerRequest, lower


def check(trace: Trace) -> None:
    """Right, whole, and nothing skipped but what says why it may be."""
    assert trace.manifest["status"] == "done"
    assert [v["ok"] for v in trace.manifest["verdicts"]], "nothing was executed"
    assert all(v["ok"] for v in trace.manifest["verdicts"])
    assert not any(o["weak"] for v in trace.manifest["verdicts"] for o in v["outputs"])
    assert damage(trace) == []
    skipped = {s["name"] for s in trace.stages if s["status"] == "skipped"}
    assert skipped <= {"fold-batch-norm", "upgrade-opset", "legalize", "share", "emulate"}


@pytest.mark.parametrize("frontend", ["fx", "onnx"])
@pytest.mark.parametrize("model", MODELS)
def test_both_legs(model: str, frontend: Frontend, tmp_path: Path) -> None:
    trace = lower(LowerRequest(ModelRequest(model, frontend), target=Target(require_cuda=True), runs=tmp_path / "runs"))
    check(trace)
    sass = trace.stage("sass")
    assert sass["status"] == "done"
    assert sass["facts"]["kernels"] > 0


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_tiled(model: str, threads: int, tmp_path: Path) -> None:
    target = Target(chip="", threads=threads)
    check(lower(LowerRequest(ModelRequest(model), level="tiled", target=target, runs=tmp_path / "runs")))
