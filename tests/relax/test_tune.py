"""`tune --via relax`: plain loops against what MetaSchedule finds for them, and logs that are refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tvm.tuned import conv_dense, request, resumed
from workbench.core.errors import UsageError
from workbench.core.target import parse_target
from workbench.run import LowerRequest, lower
from workbench.tune import Tuned, tune

pytestmark = pytest.mark.slow

TRIALS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("relax-tune")


@pytest.fixture(scope="module")
def tuned(folder: Path) -> Tuned:
    return tune(request(folder, "metaschedule", TRIALS, route="relax"))


def test_what_was_found_beats_plain_loops_and_is_right(tuned: Tuned) -> None:
    heavy = [row for row in tuned.choice.rows if row.share > 0.2]
    assert heavy
    assert all(0 < row.valid <= row.candidates and row.logged_ms and row.flop > 0 for row in heavy)
    assert any(row.chosen == "tuned" for row in heavy)
    assert tuned.choice.models_ms["chosen"] < tuned.choice.models_ms["default"]
    assert 0 < tuned.choice.largest_error < 2e-5
    assert all(v["ok"] for trace in (tuned.before, tuned.after) for v in trace.manifest["verdicts"])
    assert tuned.after.stage("plan")["facts"]["tuned_tasks"] == sum(r.chosen == "tuned" for r in tuned.choice.rows)
    assert json.loads(tuned.entry.meta.read_text())["packages"]["apache-tvm"] == "0.27.0.post1"


def test_a_later_lower_takes_the_schedules(tuned: Tuned, folder: Path) -> None:
    model, target = conv_dense(folder), parse_target("cpu")
    trace = lower(LowerRequest(model, "relax", target=target, runs=folder / "runs", tuned=tuned.entry.schedules))
    assert trace.manifest["verdicts"][0]["ok"]
    assert trace.stage("plan")["facts"]["tuned_tasks"] > 0


def test_going_on_repairs_the_log(tuned: Tuned, folder: Path) -> None:
    again = resumed(tuned, folder, "metaschedule", 2, route="relax")
    assert again.facts["records"] >= tuned.facts["records"] + 2


def test_a_log_of_another_target_is_refused(tuned: Tuned, folder: Path) -> None:
    asked = request(folder, "metaschedule", 4, tuned.entry.log, route="relax", resume=True)
    with pytest.raises(UsageError, match="line 1: measured for "):
        tune(replace(asked, target=parse_target("cpu:x86-64-v3")))


def test_schedules_of_the_other_route_are_refused(folder: Path, tmp_path: Path) -> None:
    schedules = tmp_path / "schedules.json"
    schedules.write_text(json.dumps({"tuner": "autotvm", "records": []}))
    target = parse_target("cpu")
    with pytest.raises(UsageError, match="not schedules that `workbench tune --via relax` chose"):
        lower(LowerRequest(conv_dense(folder), "relax", target=target, runs=tmp_path, tuned=schedules))


def test_a_tuner_that_the_route_lacks_is_named(folder: Path) -> None:
    with pytest.raises(UsageError, match="route 'relax' has no tuner 'ansor'; it has: metaschedule"):
        tune(request(folder, "ansor", 4, route="relax"))
