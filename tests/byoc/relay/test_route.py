"""`lower --via byoc`: right numbers, what went to the array, what stayed and why, and what the trace keeps."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from byoc.systolic.assembly import parse_program
from byoc.systolic.fast import simulate
from byoc.systolic.machine import load_machine
from tests.cli.conftest import Workbench
from tests.cli.conftest import workbench as workbench  # the fixture
from workbench.core.errors import UsageError
from workbench.core.source import ModelRequest
from workbench.core.target import Target
from workbench.core.trace import Trace
from workbench.core.trace.check import damage
from workbench.run import LowerRequest, lower
from workbench.viewer.offload import read_offload

NETS = Path(__file__).parent / "nets.py"


def lowered(model: str, runs: Path, accel: str = "gemmini16", start: tuple[Path, str] | None = None) -> Trace:
    """Raises NumbersDiffer for a wrong result."""
    target = Target(cpu="x86-64-v3", chip="", accel=accel)
    return lower(LowerRequest(ModelRequest(model), route="byoc", target=target, runs=runs, start=start))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("byoc") / "runs"


@pytest.fixture(scope="module")
def convolutions(runs: Path) -> Trace:
    return lowered(f"{NETS}:convolutions", runs)


def test_convolutions_go_to_the_array(convolutions: Trace) -> None:
    assert damage(convolutions) == []
    assert convolutions.manifest["verdicts"][0]["ok"]
    offload = read_offload(convolutions)
    assert offload.share == 1
    assert [(r.kind, r.fused) for r in offload.regions] == [
        ("conv2d", ("bias", "relu")),
        ("conv2d_1x1", ("bias", "relu")),
        ("conv2d", ("bias",)),
        ("conv2d", ("bias",)),
        ("dense", ("bias",)),
    ]
    assert {row.op for row in offload.left} == {"add", "mean"}


def test_every_form_is_kept(convolutions: Trace) -> None:
    names = [s["name"] for s in convolutions.stages if s["status"] == "done"]
    assert names[2:] == [
        *("infer-shapes", "import", "annotate", "partition", "region-tir", "program"),
        *("optimize", "tir", "tir-host", "llvm-ir", "asm", "run"),
    ]
    assert 'Composite="systolic.conv2d.bias.relu"' in convolutions.text(convolutions.stage("annotate"))
    assert 'Compiler="systolic"' in convolutions.text(convolutions.stage("partition"))
    assert 'T.call_packed("systolic.run"' in convolutions.text(convolutions.stage("region-tir"))
    passes = {p["name"] for p in convolutions.passes()}
    assert {"TidyForSystolic", "MergeComposite", "AnnotateTarget", "MergeCompilerRegions", "PartitionGraph"} <= passes


def test_the_programs_in_the_trace_cost_what_it_says(convolutions: Trace) -> None:
    machine = load_machine("gemmini16")
    texts = re.split(r"\n(?=; )", convolutions.text(convolutions.stage("program")))
    cycles = {r.node: r.figures["ws"].cycles for r in read_offload(convolutions).regions}
    assert len(texts) == len(cycles)
    for text in texts:
        node = text.partition("\n")[0].removeprefix("; ")
        assert simulate(parse_program(text), machine).cycles == cycles[node]


def test_going_on_from_the_import_gives_the_same_numbers(convolutions: Trace, runs: Path) -> None:
    again = lowered(f"{NETS}:convolutions", runs, start=(convolutions.root, "import"))
    assert again.manifest["verdicts"][0]["outputs"] == convolutions.manifest["verdicts"][0]["outputs"]


def test_tir_alone_is_not_enough_to_go_on_from(convolutions: Trace, runs: Path) -> None:
    with pytest.raises(UsageError, match="without the regions' code; start at import"):
        lowered(f"{NETS}:convolutions", runs, start=(convolutions.root, "tir"))


def test_what_the_array_cannot_take_stays_with_its_reason(runs: Path) -> None:
    offload = read_offload(lowered(f"{NETS}:awkward", runs))
    assert [r.kind for r in offload.regions] == ["conv2d"]
    said = [row.reason for row in offload.left if row.macs]
    assert said[:2] == [
        "it is dilated by 2x2; the array's DMA takes windows without gaps",
        "its 2 groups would be as many small products; the array takes one group",
    ]
    assert said[2].startswith("the array has no form of nn.conv2d_transpose")
    assert {row.reason for row in offload.left if not row.macs} == {"no matrix product"}


@pytest.mark.parametrize("name", ["mlp", "attention", "encoder_int8"])
def test_products_of_the_zoo_go_to_the_array(name: str, runs: Path) -> None:
    trace = lowered(name, runs)
    assert read_offload(trace).share >= 0.99
    if name.endswith("int8"):
        assert {r.dtype for r in read_offload(trace).regions} == {"int8"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet18", "resnet18_int8", "encoder", "mobile"])
def test_larger_models(name: str, runs: Path) -> None:
    trace = lowered(name, runs)
    assert read_offload(trace).share >= (0.8 if name == "mobile" else 0.99)  # mobile's depthwise ones stay
    error = trace.manifest["verdicts"][0]["outputs"][0]["error"]
    assert error == 0 if name == "resnet18_int8" else error < 1e-5


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--accel", "warp9"), 2, "no accelerator 'warp9'; known: gemmini16, lab4, tpu128"),
        (("--target", "cuda"), 2, "host and an array"),
    ],
)
def test_bad_requests_are_one_line(arguments: tuple[str, ...], code: int, said: str, workbench: Workbench) -> None:
    done = workbench("lower", "mlp", "--via", "byoc", *arguments)
    assert (done.code, len(done.error_lines)) == (code, 1)
    assert said in done.error_lines[0]


def test_report(convolutions: Trace, workbench: Workbench) -> None:
    done = workbench("accel", "report", convolutions.root.name, "--runs", str(convolutions.root.parent))
    assert done.code == 0, done.err
    assert "100.00% of" in done.out and "ws (ran)" in done.out and "no matrix product" in done.out
    asked = ("accel", "report", convolutions.root.name, "--runs", str(convolutions.root.parent), "--json")
    data = workbench(*asked).json()
    assert data["share_of_macs"] == 1
    assert data["totals"].keys() == {"ws", "os", "is"}
    assert sum(r["figures"]["ws"]["cycles"] for r in data["regions"]) == data["totals"]["ws"]["cycles"]
    assert ElementTree.parse(data["picture"]).getroot().tag.endswith("svg")
    assert json.dumps(data)


def test_report_of_another_route_is_refused(workbench: Workbench, tmp_path: Path) -> None:
    done = workbench("lower", "tests/cases/14-round-half-even/model.onnx", "--via", "tvm", "--to", "import")
    assert done.code == 0, done.err
    done = workbench("accel", "report", "last", "--runs", str(tmp_path / "runs"))
    assert done.code == 2
    assert "was not lowered for an accelerator" in done.error_lines[0]
