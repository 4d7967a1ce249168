"""`tune --tuner ansor` on one convolution and one dense layer: what it finds, keeps, survives and refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pipelines.tvm.tuning.ansor.records import read_log
from pipelines.tvm.tuning.logs import best_lines
from tests.cli.conftest import Workbench
from tests.cli.conftest import workbench as workbench  # the fixture
from workbench.core.source import ModelRequest
from workbench.core.target import parse_target
from workbench.core.trace import Trace
from workbench.core.trace.check import damage
from workbench.run import LowerRequest, lower
from workbench.toolchain import worker_command
from workbench.worker import run_job

ROOT = Path(__file__).parents[2]
MODEL = f"{ROOT}/tests/tvm/conv_dense.py:make"
TRIALS = 32
NOISE = 1.03


def tune(folder: Path, *options: str) -> list[str]:
    where = ("--database", str(folder / "tuned"), "--runs", str(folder / "runs"))
    return [sys.executable, "-m", "workbench", "tune", MODEL, *where, *options]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tune")
    done = subprocess.run(tune(folder, "--trials", str(TRIALS), "--json"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) | {"folder": str(folder)}


def test_both_tasks_have_candidates_that_run(tuned: dict[str, Any]) -> None:
    rows = {row["name"].split("+")[0]: row for row in tuned["rows"]}
    assert {"conv2d(winograd)", "dense"} <= rows.keys()
    for row in rows.values():
        assert row["valid"] > 0
        assert row["logged_ms"] > 0
        assert row["default_ms"] > 0
    assert abs(sum(row["share"] for row in rows.values()) - 1) < 0.5
    assert 0 < tuned["search"]["new_records"] <= TRIALS


def test_what_is_kept_is_the_better_of_both(tuned: dict[str, Any]) -> None:
    ms = tuned["models_ms"]
    fastest = min(ms.values())
    # The default build stays unless another is faster by more than noise.
    assert ms["chosen"] == fastest or (ms["chosen"] == ms["default"] and fastest * NOISE >= ms["default"])
    for row in tuned["rows"]:
        assert row["chosen"] in ("tuned", "default")
        assert row["reason"] if row["chosen"] == "default" else row["logged_ms"]
    assert tuned["largest_error"] < 2e-5


def test_both_traces_are_whole_and_right_and_name_the_schedules(tuned: dict[str, Any]) -> None:
    before, after = Trace.open(Path(tuned["before"])), Trace.open(Path(tuned["after"]))
    for trace in (before, after):
        assert damage(trace) == []
        assert all(v["ok"] for v in trace.manifest["verdicts"])
    optimise = after.stage("optimize")
    assert optimise["facts"]["tuned_tasks"] == sum(row["chosen"] == "tuned" for row in tuned["rows"])


def test_every_task_with_a_record_can_be_built_from_it(tuned: dict[str, Any], tmp_path: Path) -> None:
    best = best_lines(read_log(Path(tuned["log"])))
    schedules = tmp_path / "all.schedules.json"
    schedules.write_text(json.dumps({"tuner": "ansor", "records": [r.line for r in best.values()], "variants": {}}))
    target = parse_target("cpu")
    after = lower(
        LowerRequest(ModelRequest(MODEL), route="tvm", target=target, runs=tmp_path / "runs", tuned=schedules)
    )
    assert all(v["ok"] for v in after.manifest["verdicts"])
    assert after.stage("optimize")["facts"]["tuned_tasks"] == len(best)
    assert "winograd_without_weight_transform" in after.text(after.stage("optimize"))
    code = next(after.root / c for c in after.stage("tir")["companions"] if c.endswith("schedules.py")).read_text()
    assert code.count("# task ") == len(best)
    names = re.findall(r"^# (tvmgen_\w+)$", code, re.MULTILINE)
    assert names
    assert all(f"def {name}(" in after.text(after.stage("tir")) for name in names)


def test_the_log_is_tvms_and_its_companions_tell_the_rest(tuned: dict[str, Any]) -> None:
    log = Path(tuned["log"])
    code = "from tvm import auto_scheduler as a; import sys; n = len(list(a.RecordReader(%r))); assert n == %d, n"
    records = len(log.read_text().splitlines())
    run_job(
        "tests.tvm.job:execute",
        {"code": code % (str(log), records)},
        log.with_suffix(".read.log"),
        lambda _: None,
        120,
        worker_command("tvm"),
    )
    meta = json.loads(log.with_name(log.name.replace(".json", ".meta.json")).read_text())
    assert meta["limits"]["seed"] == 0
    assert meta["host"]["machine"]
    assert "xtc-tvm-python-bindings" in meta["packages"]
    assert len(meta["history"]) == records
    assert log.with_name(log.name.replace(".json", ".curve.svg")).read_text().startswith("<?xml")


def test_a_later_lower_takes_the_schedules(tuned: dict[str, Any], workbench: Workbench) -> None:
    folder = Path(tuned["folder"])
    done = workbench("lower", MODEL, "--via", "tvm", "--target", "cpu", "--tuned", "--database", str(folder / "tuned"))
    assert done.code == 0, done.err
    assert "matches float64" in done.out
    assert "tuned tasks" in done.out


def test_schedules_of_another_target_are_refused(tuned: dict[str, Any], workbench: Workbench) -> None:
    log = tuned["log"]
    done = workbench("lower", MODEL, "--via", "tvm", "--target", "cpu:x86-64-v3", "--tuned", "--database", log)
    taken = any(row["chosen"] == "tuned" for row in tuned["rows"])
    assert done.code == (2 if taken else 0)
    assert ("measured for" in done.err) == taken


def test_a_log_of_another_target_is_refused(tuned: dict[str, Any]) -> None:
    done = refused("--log", tuned["log"], "--resume", "--target", "cpu:x86-64-v3", "--trials", "2")
    assert "measured for 'llvm" in done.stderr


def test_killed_in_the_middle_it_loses_no_record(tmp_path: Path) -> None:
    running = subprocess.Popen(
        tune(tmp_path, "--trials", "200"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    log = None
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        log = next((tmp_path / "tuned").glob("*1t.json"), None)
        if log is not None and log.read_bytes().count(b"\n") >= 4:
            break
        assert running.poll() is None
        time.sleep(0.2)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert log is not None
    before = log.read_text()
    whole = before[: before.rfind("\n") + 1]
    log.write_text(whole + '{"i": [["half')
    done = subprocess.run(
        tune(tmp_path, "--trials", "4", "--resume", "--json"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    after = log.read_text()
    assert after.startswith(whole)
    assert len(after.splitlines()) > len(whole.splitlines())
    assert all(json.loads(line) for line in after.splitlines())


def refused(*options: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "tune", MODEL, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode in (2, 3), done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    return done


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tuner", "magic"), "has no tuner 'magic'"),
        (("--trials", "0"), "at least 1"),
        (("--tracker", "127.0.0.1:1", "--key", "k", "--trials", "4"), "no tracker answers at 127.0.0.1:1"),
        (("--tracker", "nowhere", "--trials", "4"), "HOST:PORT"),
        (("--via", "mlir"), "nothing to tune"),
        (("--transfer", "nowhere.json", "--trials", "4"), "nowhere.json: cannot be read"),
        (("--tuner", "autotvm", "--transfer", "nowhere.json", "--trials", "4"), "--transfer is for Ansor"),
    ],
)
def test_bad_requests_are_one_line(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    assert said in refused("--database", str(tmp_path), *options).stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no records"),
        ("my notes", "has no records"),
        ("hello\n", "line 1: not a record"),
        ('{"i": 1}\n', "line 1: not a record"),
    ],
)
def test_empty_and_foreign_logs_are_one_line(text: str, said: str, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text(text)
    assert said in refused("--log", str(log), "--resume", "--trials", "4").stderr
    assert log.read_text() == text, "a file that is not ours is left as it is"


def test_schedules_for_a_route_that_takes_none_are_refused(workbench: Workbench, tmp_path: Path) -> None:
    done = workbench("lower", MODEL, "--via", "mlir", "--tuned", "--database", str(tmp_path))
    assert done.code == 2
    assert done.error_lines == ["error: route 'mlir' has nothing to tune, and takes no tuned schedules"]


def test_an_existing_log_is_not_touched_without_resume(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text("kept")
    assert "--resume" in refused("--log", str(log), "--trials", "4").stderr
    assert log.read_text() == "kept"
