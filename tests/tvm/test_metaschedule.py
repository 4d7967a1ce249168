"""`tune --tuner metaschedule` on a small model: valid candidates, the better of both, going on, and refused logs."""

import json
from pathlib import Path

import pytest

from pipelines.tvm.tuning.metaschedule.records import FAILED_SECONDS, parse_line, workloads_of
from tests.tvm.tuned import check_found, lowered_with, request, resumed
from workbench.core.errors import UsageError
from workbench.tune import Tuned, tune
from workbench.worker import run_job

slow = pytest.mark.slow

TRIALS = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("metaschedule")


@pytest.fixture(scope="module")
def tuned(folder: Path) -> Tuned:
    return tune(request(folder, "metaschedule", TRIALS))


@slow
def test_candidates_run_and_the_better_build_is_taken(tuned: Tuned) -> None:
    check_found(tuned)
    assert tuned.facts["records"] >= TRIALS


@slow
def test_tvm_reads_the_log(tuned: Tuned, tmp_path: Path) -> None:
    log = tuned.entry.log
    code = f"""
from tvm.meta_schedule.database import JSONDatabase
found = JSONDatabase(path_workload={str(workloads_of(log))!r}, path_tuning_record={str(log)!r})
assert len(found) >= {TRIALS}
assert len({{str(r.workload.mod) for r in found.get_all_tuning_records()}}) == 2
"""
    run_job("tests.tvm.job:execute", {"code": code}, tmp_path / "log", lambda _: None, 60)


@slow
def test_all_that_was_found_gives_the_right_numbers(tuned: Tuned, folder: Path, tmp_path: Path) -> None:
    log = tuned.entry.log
    best: dict[int, tuple[float, str]] = {}
    for line in log.read_text().splitlines():
        row = parse_line(line)
        best[row.workload] = min(best.get(row.workload, (FAILED_SECONDS, "")), (row.seconds, line))
    schedules = tmp_path / "schedules.json"
    lines = [line for _, line in best.values()]
    workloads = workloads_of(log).read_text().splitlines()
    schedules.write_text(
        json.dumps({"tuner": "metaschedule", "workloads": workloads, "records": lines, "variants": {}})
    )
    trace = lowered_with(schedules, folder)
    assert trace.manifest["verdicts"][0]["ok"]
    assert trace.stage("optimize")["facts"]["tuned_tasks"] == 2
    assert "nn.conv2d_NCHWc" not in trace.text(trace.stage("optimize"))
    (code,) = (trace.root / "stages").glob("*tir.schedules.py")
    assert "sch.split(" in code.read_text()


@slow
def test_going_on_repairs_the_log(tuned: Tuned, folder: Path) -> None:
    again = resumed(tuned, folder, "metaschedule", 2)
    assert again.facts["records"] >= tuned.facts["records"] + 2


@slow
def test_a_log_that_exists_is_not_written_to_unasked(tuned: Tuned, folder: Path) -> None:
    with pytest.raises(UsageError, match="go on from it with --resume"):
        tune(request(folder, "metaschedule", 4, tuned.entry.log))


@slow
def test_a_log_of_another_number_of_threads_is_refused(tuned: Tuned, folder: Path) -> None:
    with pytest.raises(UsageError, match=r"line 1: measured for '.*num-cores=1.*', not for '.*num-cores=2"):
        tune(request(folder, "metaschedule", 4, tuned.entry.log, resume=True, threads=2))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no records"),
        ("{}\n", "line 1: not a record of MetaSchedule's"),
        ('{"i": [["[]", "llvm"], [[], []]], "r": [[1.0], 0, 1.0, 1], "v": "v0.6"}\n', "line 1: not a record of Meta"),
    ],
)
def test_a_foreign_log_is_refused(text: str, said: str, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text(text)
    workloads_of(log).write_text("")
    with pytest.raises(UsageError, match=said):
        tune(request(tmp_path, "metaschedule", 4, log, resume=True))


def test_a_log_without_its_table_of_workloads_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text("[0, [[], [1.0], {}, []]]\n")
    with pytest.raises(UsageError, match=r"log.workloads.json: not the table of workloads"):
        tune(request(tmp_path, "metaschedule", 4, log, resume=True))
