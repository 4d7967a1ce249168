"""`lower --via tvm` on the smallest model: what it leaves, what it looks like, and going on from any of it."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.conftest import Workbench
from tests.cli.conftest import workbench as workbench  # the fixture
from workbench.core.errors import NumbersDiffer
from workbench.core.source import ModelRequest
from workbench.core.target import parse_target
from workbench.core.trace import Trace
from workbench.core.trace.check import damage
from workbench.run import LowerRequest, lower

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "traces" / "golden" / "tiny-tvm"
GOLDEN_STAGES = ("import", "optimize", "tir", "tir-host")
TINY = f"{ROOT}/tests/filecheck/tiny.py:make"


def lowered(runs: Path, start: tuple[Path, str] | None = None) -> Trace:
    """The tiny model for a CPU that every x86 machine of these days has the instructions of."""
    target = parse_target("cpu:x86-64-v3")
    return lower(LowerRequest(ModelRequest(TINY), route="tvm", target=target, start=start, runs=runs))


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return lowered(tmp_path_factory.mktemp("tvm") / "runs")


def test_the_trace_is_whole_and_the_numbers_are_right(trace: Trace) -> None:
    assert damage(trace) == []
    assert [s["status"] for s in trace.stages].count("done") == len(trace.stages) - 1
    (verdict,) = trace.manifest["verdicts"]
    assert verdict["ok"]
    assert 0 < verdict["outputs"][0]["error"] < 1e-6
    assert verdict["threads"] == 1


def test_every_form_is_as_committed(trace: Trace, request: pytest.FixtureRequest) -> None:
    forms = {Path(trace.stage(n)["file"]).name[3:]: trace.text(trace.stage(n)) for n in GOLDEN_STAGES}
    if request.config.getoption("--update-golden"):
        GOLDEN.mkdir(parents=True, exist_ok=True)
        for name, text in forms.items():
            (GOLDEN / name).write_text(text)
    for name, text in forms.items():
        assert text == (GOLDEN / name).read_text(), f"{name} changed; if intended: make golden"


def test_every_pass_is_recorded_and_the_text_of_those_that_changed_something(trace: Trace) -> None:
    records = trace.passes()
    assert [r["seq"] for r in records] == list(range(1, trace.manifest["passes"] + 1))
    names = {r["name"] for r in records}
    assert {"KeepNan", "FoldConstant", "FuseOps", "LowerTE", "tir.VectorizeLoop", "tir.MakePackedAPI"} <= names
    changed = [r for r in records if r["changed"]]
    assert 20 < len(changed) < len(records) / 3
    assert all(r["in_blob"] and r["out_blob"] for r in changed)
    assert not any(r["in_blob"] or r["out_blob"] for r in records if not r["changed"])
    vectorised = next(r for r in changed if r["name"] == "tir.VectorizeLoop")
    assert "T.vectorized" in trace.blob(vectorised["in_blob"])
    assert "T.vectorized" not in trace.blob(vectorised["out_blob"])
    assert vectorised["ops"]["for.vectorized"] < 0
    assert vectorised["symbol"].startswith("tvmgen_default_fused")


def test_passes_inside_of_passes_are_numbered_after_them(trace: Trace) -> None:
    records = trace.passes()
    assert records[0]["depth"] == 0
    assert all(after["depth"] <= before["depth"] + 1 for before, after in pairwise(records))
    outer = next(r for r in records if r["name"] == "tir.StorageFlatten")
    inner = next(r for r in records if r["name"] == "tir.StorageFlatten_impl")
    assert (inner["seq"], inner["depth"]) == (outer["seq"] + 1, outer["depth"] + 1)


def test_the_table_of_functions(trace: Trace) -> None:
    (path,) = (trace.root / "stages").glob("*functions.json")
    (row,) = json.loads(path.read_text())
    assert row["ops"] == ["nn.contrib_dense_pack", "add", "tanh"]
    assert row["flop"] == 2 * (2 * 8 * 4) + 2 * (2 * 4)
    assert row["bytes"] == 4 * (2 * 8 + 8 * 4 + 4 + 2 * 4)
    assert row["calls"] == 1
    assert json.loads(next((trace.root / "stages").glob("*graph.json")).read_text())["nodes"]


@pytest.mark.parametrize("stage", ["import", "tir", "tir-host", "llvm-ir"])
def test_going_on_from_a_form_gives_the_same_numbers(stage: str, trace: Trace) -> None:
    again = lowered(trace.root.parent, (trace.root, stage))
    assert again.manifest["verdicts"][0]["ok"]


@pytest.mark.parametrize(("stage", "old", "new"), [("import", "tanh(", "sigmoid("), ("tir", "T.tanh(", "T.exp(")])
def test_an_edit_that_changes_the_numbers_is_found(stage: str, old: str, new: str, trace: Trace) -> None:
    file = trace.root / trace.stage(stage)["file"]
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    try:
        with pytest.raises(NumbersDiffer):
            lowered(trace.root.parent, (trace.root, stage))
    finally:
        file.write_text(text)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--target", "cpu:znver44"), 2, "LLVM knows no CPU 'znver44'; give one that it knows, such as znver4"),
        (("--target", "cuda"), 2, "host code only"),
        (("--opt", "magic"), 2, "no level 'magic'"),
    ],
)
def test_bad_requests_are_one_line(arguments: tuple[str, ...], code: int, said: str, workbench: Workbench) -> None:
    done = workbench("lower", "tests/cases/22-prelu-slope-broadcast/model.onnx", "--via", "tvm", *arguments)
    assert done.code == code
    assert len(done.error_lines) == 1
    assert said in done.error_lines[0]


def test_two_threads(workbench: Workbench) -> None:
    model = "tests/cases/34-weights-over-print-limit/model.onnx"
    done = workbench("lower", model, "--via", "tvm", "--threads", "2", "--target", "cpu", "--json")
    assert done.code == 0, done.err
    assert done.json()["verdicts"][0]["threads"] == 2
    (lowered_file,) = Path(done.json()["trace"]).glob("stages/*tir.tir")
    assert '"num-cores": 2' in lowered_file.read_text()
