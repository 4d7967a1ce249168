"""`lower --via relax`: what it leaves, going on from any form of it, and refusals."""

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from workbench.catalog import MODELS
from workbench.core.errors import CompileError, NumbersDiffer
from workbench.core.source import Frontend, ModelRequest
from workbench.core.target import parse_target
from workbench.core.trace import Trace
from workbench.core.trace.check import damage
from workbench.run import LowerRequest, lower

pytestmark = pytest.mark.slow

TINY = f"{Path(__file__).parents[1]}/filecheck/tiny.py:make"

FP32 = [name for name in MODELS if MODELS.load(name).dtype == "float32"]


def lowered(model: ModelRequest, runs: Path, target: str = "cpu", start: tuple[Path, str] | None = None) -> Trace:
    return lower(LowerRequest(model, route="relax", target=parse_target(target), start=start, runs=runs))


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """The tiny model, for the host and for a GPU, its SASS left out."""
    runs = tmp_path_factory.mktemp("relax") / "runs"
    target = parse_target("cuda:sm_90a")
    return lower(LowerRequest(ModelRequest(TINY), route="relax", target=target, stop="ptx", runs=runs))


def test_the_trace_is_whole_and_the_numbers_are_right(trace: Trace) -> None:
    assert damage(trace) == []
    (verdict,) = trace.manifest["verdicts"]
    assert verdict["ok"]
    assert 0 < verdict["outputs"][0]["error"] < 1e-6
    assert trace.manifest["packages"]["apache-tvm"] == "0.27.0.post1"


def test_every_pass_is_recorded_and_the_text_of_those_that_changed_something(trace: Trace) -> None:
    records = trace.passes()
    assert [r["seq"] for r in records] == list(range(1, trace.manifest["passes"] + 1))
    assert {"LegalizeOps", "FuseTIR", "StaticPlanBlockMemory", "tirx.MakePackedAPI"} <= {r["name"] for r in records}
    changed = [r for r in records if r["changed"]]
    assert 0 < len(changed) < len(records) / 2
    assert all(r["in_blob"] and r["out_blob"] for r in changed)
    legalised = next(r for r in changed if r["name"] == "LegalizeOps")
    assert "R.matmul(" in trace.blob(legalised["in_blob"])
    assert "R.matmul(" not in trace.blob(legalised["out_blob"])
    assert legalised["ops"]["call_tir"] > 0


def test_cuda_source_and_ptx(trace: Trace) -> None:
    kernels = trace.stage("cuda")["facts"]["kernels"]
    assert kernels > 0
    assert trace.text(trace.stage("cuda")).count('extern "C" __global__') >= kernels
    ptx = trace.text(trace.stage("ptx"))
    assert ptx.count(".visible .entry") == kernels
    assert ".target sm_90a" in ptx


@pytest.mark.parametrize("stage", ["import", "legalize-ops", "fuse", "plan", "tir", "llvm-ir"])
def test_going_on_from_a_form_gives_the_same_numbers(stage: str, trace: Trace) -> None:
    again = lowered(ModelRequest(TINY), trace.root.parent, start=(trace.root, stage))
    assert again.manifest["verdicts"][0]["ok"]


@pytest.mark.parametrize(("stage", "old", "new"), [("import", "R.tanh(", "R.exp("), ("tir", "T.tanh(", "T.exp(")])
def test_an_edit_that_changes_the_numbers_is_found(stage: str, old: str, new: str, trace: Trace) -> None:
    file = trace.root / trace.stage(stage)["file"]
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    try:
        with pytest.raises(NumbersDiffer):
            lowered(ModelRequest(TINY), trace.root.parent, start=(trace.root, stage))
    finally:
        file.write_text(text)


def test_an_operator_without_converter_names_the_node(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text(
        "import torch\n"
        "class M(torch.nn.Module):\n"
        "    def forward(self, x): return torch.linalg.svd(x)[1]\n"
        "def make(): return M(), (torch.randn(3, 3),)\n"
    )
    with pytest.raises(CompileError, match=r"svd.* at node '.*': TVM has no converter for it"):
        lowered(ModelRequest(f"{source}:make"), tmp_path / "runs")


def test_an_onnx_operator_without_converter_names_the_node(tmp_path: Path) -> None:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 1, 8]) for n in "xy")
    node = helper.make_node("Celu", ["x"], ["y"], "bend")
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 18)])
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(CompileError, match="Celu at node 'bend': TVM"):
        lowered(ModelRequest(str(tmp_path / "model.onnx"), "onnx"), tmp_path / "runs")


@pytest.mark.parametrize("frontend", ["fx", "onnx"])
@pytest.mark.parametrize("name", FP32)
def test_zoo(name: str, frontend: Frontend, tmp_path: Path) -> None:
    assert all(v["ok"] for v in lowered(ModelRequest(name, frontend), tmp_path).manifest["verdicts"])
