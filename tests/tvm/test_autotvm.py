"""`tune --tuner autotvm` on a small model: valid candidates, the better of both, going on, and refused logs."""

import json
from pathlib import Path

import pytest

from tests.tvm.tuned import check_found, lowered_with, request, resumed
from workbench.core.errors import UsageError
from workbench.tune import Tuned, tune
from workbench.worker import run_job

slow = pytest.mark.slow

TRIALS = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("autotvm")


@pytest.fixture(scope="module")
def tuned(folder: Path) -> Tuned:
    return tune(request(folder, "autotvm", TRIALS))


@slow
def test_candidates_run_and_the_better_build_is_taken(tuned: Tuned) -> None:
    check_found(tuned)
    assert tuned.facts["records"] == TRIALS


@slow
def test_tvm_reads_the_log(tuned: Tuned, tmp_path: Path) -> None:
    code = f"""
from tvm.autotvm.record import load_from_file
pairs = list(load_from_file({str(tuned.entry.log)!r}))
assert len(pairs) == {TRIALS}
assert {{i.task.name for i, _ in pairs}} == {{"conv2d_NCHWc.x86", "dense_pack.x86"}}
assert all(r.error_no or r.costs[0] > 0 for _, r in pairs)
"""
    run_job("tests.tvm.job:execute", {"code": code}, tmp_path / "log", lambda _: None, 60)


@slow
def test_all_that_was_found_gives_the_right_numbers(tuned: Tuned, folder: Path, tmp_path: Path) -> None:
    best: dict[str, tuple[float, str]] = {}
    for line in tuned.entry.log.read_text().splitlines():
        row = json.loads(line)
        if not row["result"][1]:
            best[row["input"][1]] = min(best.get(row["input"][1], (1e9, "")), (row["result"][0][0], line))
    schedules = tmp_path / "schedules.json"
    schedules.write_text(json.dumps({"tuner": "autotvm", "records": [line for _, line in best.values()]}))
    trace = lowered_with(schedules, folder)
    assert trace.manifest["verdicts"][0]["ok"]
    assert trace.stage("optimize")["facts"]["tuned_tasks"] == 2
    (code,) = (trace.root / "stages").glob("*tir.schedules.py")
    assert "conv2d_NCHWc.x86" in code.read_text()
    assert "dense_pack.x86" in code.read_text()


@slow
def test_going_on_repairs_the_log_and_measures_nothing_twice(tuned: Tuned, folder: Path) -> None:
    again = resumed(tuned, folder, "autotvm", 2)
    assert again.facts["records"] == TRIALS + 2
    rows = [json.loads(line) for line in again.entry.log.read_text().splitlines()]
    assert len({(row["input"][1], row["config"]["index"]) for row in rows}) == len(rows)


@slow
def test_a_log_that_exists_is_not_written_to_unasked(tuned: Tuned, folder: Path) -> None:
    with pytest.raises(UsageError, match="go on from it with --resume"):
        tune(request(folder, "autotvm", 4, tuned.entry.log))


@slow
def test_a_log_of_another_number_of_threads_is_refused(tuned: Tuned, folder: Path) -> None:
    with pytest.raises(UsageError, match=r"line 1: measured for '.*num-cores=1.*', not for '.*num-cores=2"):
        tune(request(folder, "autotvm", 4, tuned.entry.log, resume=True, threads=2))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no records"),
        ("{}\n", "line 1: not a record of AutoTVM's"),
        ('{"i": [["[]", "llvm"], [[], []]], "r": [[1.0], 0, 1.0, 1], "v": "v0.6"}\n', "line 1: not a record of Auto"),
    ],
)
def test_a_foreign_log_is_refused(text: str, said: str, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text(text)
    with pytest.raises(UsageError, match=said):
        tune(request(tmp_path, "autotvm", 4, log, resume=True))
