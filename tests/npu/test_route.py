"""Models through the route: right, whole, and on the array."""

from pathlib import Path

import pytest

from workbench.catalog import MODELS
from workbench.core.errors import CompileError, UsageError
from workbench.core.offload import REGIONS, Offload
from workbench.core.source import Frontend, ModelRequest
from workbench.core.target import Target
from workbench.core.trace import Trace
from workbench.core.trace.check import damage
from workbench.run import LowerRequest, lower


def through(
    model: str, folder: Path, accel: str = "", frontend: Frontend = "fx", start: tuple[Path, str] | None = None
) -> Trace:
    request = LowerRequest(
        ModelRequest(model, frontend), "npu", target=Target(chip="", accel=accel), start=start, runs=folder / "runs"
    )
    trace = lower(request)
    assert trace.manifest["status"] == "done"
    assert [v["ok"] for v in trace.manifest["verdicts"]] == [True]
    assert damage(trace) == []
    return trace


def offload_of(trace: Trace) -> Offload:
    (file,) = [c for c in trace.stage("program")["companions"] if c.endswith(REGIONS)]
    return Offload.from_json((trace.root / file).read_text())


def test_mlp(tmp_path: Path) -> None:
    """All of its products, on the default machine; from host code on, the programs are those of the trace."""
    trace = through("mlp", tmp_path)
    found = offload_of(trace)
    assert found.share == 1.0
    assert [r.node for r in found.regions] == ["up", "mid", "down"]
    cycles = sum(r.figures["ws"].cycles for r in found.regions)
    assert trace.stage("program")["facts"]["cycles"] == cycles
    assert trace.stage("run")["facts"]["array_calls"] == 3
    again = through("mlp", tmp_path, start=(trace.root, "asm"))
    assert again.text(again.stage("program")) == trace.text(trace.stage("program"))


def test_int8_is_exact(tmp_path: Path) -> None:
    """To the last bit; an edited form whose tiles do not fit its machine is refused when a run takes it up."""
    trace = through("mlp_int8", tmp_path, "lab4")
    (output,) = trace.manifest["verdicts"][0]["outputs"]
    assert output["error"] == 0
    found = offload_of(trace)
    assert [(r.dtype, r.fused) for r in found.regions] == [("int8", ("bias", "requantise")), ("int8", ("bias",))]
    path = trace.root / trace.stage("npu")["file"]
    path.write_text(path.read_text().replace("scratchpad_bytes = 4096", "scratchpad_bytes = 64"))
    with pytest.raises(CompileError, match=r"npu\.memory in @matmul\w+ reaches byte 4096 of the scratchpad.* has 64"):
        through("mlp_int8", tmp_path, "lab4", start=(trace.root, "npu"))


@pytest.mark.parametrize(
    ("model", "frontend", "share"),
    [("attention", "fx", 1.0), ("mlp_fp16", "fx", 1.0), ("mobile", "onnx", 0.85)],
)
def test_other_models(model: str, frontend: Frontend, share: float, tmp_path: Path) -> None:
    assert offload_of(through(model, tmp_path, "tpu128", frontend)).share >= share


@pytest.mark.slow
@pytest.mark.parametrize("frontend", ["fx", "onnx"])
@pytest.mark.parametrize("model", list(MODELS))
def test_the_zoo(model: str, frontend: Frontend, tmp_path: Path) -> None:
    assert offload_of(through(model, tmp_path, "tpu128", frontend)).share > 0.8


@pytest.mark.slow
def test_resnet18(tmp_path: Path) -> None:
    found = offload_of(through("resnet18", tmp_path))
    assert found.share == 1.0
    assert len(found.regions) == 21


def test_an_unknown_accelerator(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no accelerator 'abacus'; known: gemmini16, lab4, tpu128"):
        through("mlp", tmp_path, "abacus")
    assert not (tmp_path / "runs").exists()
