"""`lower`, from the outside: what it leaves, and how it refuses."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import ROOT, Workbench
from workbench.core.trace import Trace, list_traces
from workbench.core.trace.check import damage

SMALL = """
import torch

class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)
    def forward(self, x):
        return torch.relu(self.linear(x))

def make():
    torch.manual_seed(0)
    return Small(), (torch.randn(3, 8),)

def make_unlowerable():
    class Sort(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.svd(x)[1]
    return Sort(), (torch.randn(3, 3),)

def make_random():
    class Random(torch.nn.Module):
        def forward(self, x):
            return x + torch.rand_like(x)
    return Random(), (torch.randn(3, 3),)

def make_silent():
    class Silent(torch.nn.Module):
        def forward(self, x):
            return None
    return Silent(), (torch.randn(3, 3),)

def make_raising():
    raise RuntimeError("no such weather")
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(SMALL)
    return path


def only_trace(tmp_path: Path) -> Trace:
    (trace,) = list_traces(tmp_path / "runs")
    return trace


def test_a_factory_lowers_to_right_numbers(workbench: Workbench, small: Path, tmp_path: Path) -> None:
    saved = tmp_path / "out.npz"
    done = workbench("lower", f"{small}:make", "--target", "cpu", "--save-outputs", str(saved))
    assert done.code == 0, done.err
    trace = only_trace(tmp_path)
    assert damage(trace) == []
    assert trace.manifest["status"] == "done"
    (verdict,) = trace.manifest["verdicts"]
    assert verdict["ok"]
    assert 0 <= verdict["outputs"][0]["error"] < 1e-6
    assert verdict["seconds_per_run"] > 0
    reference = np.load(trace.root / "numerics" / "reference.npz")["out0"]
    with np.load(saved) as outputs:
        assert outputs.files == ["out0"]
        np.testing.assert_allclose(outputs["out0"], reference, rtol=1e-5, atol=1e-6)
    assert (trace.root / "report.html").read_text().startswith("<!doctype html>")


def test_the_users_own_inputs(workbench: Workbench, small: Path, tmp_path: Path) -> None:
    given = np.random.default_rng(5).normal(size=(3, 8)).astype(np.float32)
    np.savez(tmp_path / "in.npz", arg0=given)
    done = workbench("lower", f"{small}:make", "--target", "cpu", "--inputs", str(tmp_path / "in.npz"))
    assert done.code == 0, done.err
    with np.load(only_trace(tmp_path).root / "numerics" / "inputs.npz") as used:
        np.testing.assert_array_equal(used["arg0"], given)


def test_stop_go_on_and_json(workbench: Workbench, small: Path) -> None:
    first = workbench("lower", f"{small}:make", "--target", "cpu", "--to", "fuse", "--json")
    assert first.code == 0, first.err
    trace = Path(first.json()["trace"])
    assert [s["status"] for s in first.json()["stages"]][-1] == "skipped"
    second = workbench("lower", f"{small}:make", "--target", "cpu", "--from", f"{trace}:fuse", "--json")
    assert second.code == 0, second.err
    mixed = workbench("lower", f"{small}:make", "--from", f"{trace}:fuse", "--inputs", "other.npz")
    assert mixed.code == 2
    assert "keeps the inputs" in mixed.error_lines[0]
    assert second.json()["verdicts"][0]["ok"]


def test_an_edit_that_changes_the_numbers_is_found(workbench: Workbench, small: Path) -> None:
    """Exit code 4, and no time is given for the wrong result."""
    first = workbench("lower", f"{small}:make", "--target", "cpu", "--to", "fuse", "--json")
    trace = Path(first.json()["trace"])
    (stage,) = (trace / "stages").glob("*-fuse.mlir")
    text = stage.read_text()
    assert "arith.addf" in text
    stage.write_text(text.replace("arith.addf", "arith.subf"))
    saved = trace / "wrong.npz"
    options = ("--target", "cpu", "--from", f"{trace}:fuse", "--json", "--save-outputs", str(saved))
    done = workbench("lower", f"{small}:make", *options)
    assert done.code == 4
    assert saved.is_file(), "wrong outputs are what one wants to look at"
    assert "not the reference's" in done.error_lines[0]
    assert done.json()["verdicts"][0]["seconds_per_run"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nothing",), 2, "no model 'nothing'"),
        (("resnet18", "--via", "tpu"), 2, "no route 'tpu'"),
        (("resnet18", "--opt", "magic"), 2, "no level 'magic'"),
        (("resnet18", "--target", "cuda:sm_12345"), 2, "sm_12345"),
        (("resnet18", "--to", "nowhere"), 2, "no stage 'nowhere'"),
        (("resnet18", "--from", "x:fuse"), 2, "no trace 'x'"),
        (("resnet18", "--input", "x=axb"), 2, "--input takes"),
        (("missing.onnx",), 2, "missing.onnx"),
        (("tests/cli/nofile.py:make",), 2, "nofile.py"),
        (("no.such.package:make",), 2, "no.such.package"),
    ],
)
def test_wrong_requests(workbench: Workbench, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = workbench("lower", *arguments)
    assert done.code == code, done.err
    assert len(done.error_lines) == 1
    assert said in done.error_lines[0]


@pytest.mark.parametrize(
    "content", [b"", b"not a model", b"\x08\x01\x12" + b"\xff" * 40], ids=["empty", "text", "junk"]
)
def test_damaged_onnx_files(workbench: Workbench, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    done = workbench("lower", str(path))
    assert done.code == 2, done.err
    assert "bad.onnx" in done.error_lines[0]


def test_a_raising_factory_is_one_line(workbench: Workbench, small: Path) -> None:
    done = workbench("lower", f"{small}:make_raising")
    assert done.code == 2, done.err
    assert "no such weather" in done.error_lines[0]


def test_an_operation_without_lowering_is_named(workbench: Workbench, small: Path, tmp_path: Path) -> None:
    done = workbench("lower", f"{small}:make_unlowerable")
    assert done.code == 1, done.err
    assert "svd" in done.error_lines[0]
    assert only_trace(tmp_path).manifest["error"]["exit_code"] == 1


def test_random_numbers_are_refused(workbench: Workbench, small: Path) -> None:
    done = workbench("lower", f"{small}:make_random")
    assert done.code == 1, done.err
    assert "rand_like" in done.error_lines[0]
    assert "cannot be judged" in done.error_lines[0]


def test_a_model_without_outputs(workbench: Workbench, small: Path) -> None:
    done = workbench("lower", f"{small}:make_silent", "--target", "cpu")
    assert done.code == 0, done.err
    assert "no output to compare" in done.out


def test_an_unwritable_folder(workbench: Workbench, tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    done = workbench("lower", "mlp", runs=blocker / "runs")
    assert done.code == 2
    assert "--runs" in done.error_lines[0]


def test_interrupt_leaves_a_readable_trace(small: Path, tmp_path: Path) -> None:
    small.write_text(
        SMALL
        + textwrap.dedent("""
        def make_slow():
            import time
            print("loading", flush=True)
            time.sleep(60)
    """)
    )
    runs = tmp_path / "runs"
    command = [sys.executable, "-m", "workbench", "lower", f"{small}:make_slow", "--runs", str(runs)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any("loading" in p.read_text() for p in runs.glob("*/worker.log")):
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    (trace,) = list_traces(runs)
    assert trace.manifest["status"] == "interrupted"
    assert trace.stages[0]["status"] == "failed"
    assert damage(trace) == []


def test_killing_the_program_leaves_a_readable_trace(small: Path, tmp_path: Path) -> None:
    small.write_text(
        SMALL + "\ndef make_slow():\n    import time\n    print('loading', flush=True)\n    time.sleep(20)\n"
    )
    runs = tmp_path / "runs"
    command = [sys.executable, "-m", "workbench", "lower", f"{small}:make_slow", "--runs", str(runs)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any("loading" in p.read_text() for p in runs.glob("*/worker.log")):
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)
    (trace,) = list_traces(runs)
    assert trace.manifest["status"] == "running"
    assert trace.stages[0]["status"] == "running"


def test_a_crash_ends_the_job_and_not_the_program(workbench: Workbench, small: Path, tmp_path: Path) -> None:
    small.write_text(SMALL + "\ndef make_crash():\n    import os, signal\n    os.kill(os.getpid(), signal.SIGSEGV)\n")
    done = workbench("lower", f"{small}:make_crash")
    assert done.code == 1
    assert "SIGSEGV" in done.error_lines[0]
    trace = only_trace(tmp_path)
    assert trace.manifest["status"] == "failed"
    assert trace.stages[0]["status"] == "failed"


def test_a_time_limit(workbench: Workbench, small: Path) -> None:
    small.write_text(SMALL + "\ndef make_slow():\n    import time\n    time.sleep(60)\n")
    done = workbench("lower", f"{small}:make_slow", "--timeout", "3")
    assert done.code == 1
    assert "time limit" in done.error_lines[0]


def test_trace_commands(workbench: Workbench, small: Path) -> None:
    done = workbench("lower", f"{small}:make", "--target", "cpu", "--to", "loops", "--json")
    name = Path(done.json()["trace"]).name
    assert json.loads(workbench("trace", "ls", "--json").out)[0]["name"] == name
    assert "linalg" in workbench("trace", "show", name).out
    assert "affine.for" in workbench("trace", "show", "last", "loops").out
    passes = json.loads(workbench("trace", "passes", "last", "--json").out)
    assert [p["seq"] for p in passes] == list(range(1, len(passes) + 1))
    assert {p["changed"] for p in passes} == {True, False}
    changed = next(p for p in passes if p["changed"])
    assert "@@" in workbench("trace", "diff", "last", f"#{changed['seq']}").out
    assert "affine" in workbench("trace", "diff", "last", "bufferize", "loops").out
    assert workbench("trace", "check", "last").code == 0
    assert workbench("trace", "show", "last", "nowhere").code == 2
