"""Golden IR: what a tiny model looks like at every stage, committed under traces/golden/.

`make golden` rewrites it after an intended change; the diff is then read like code.
"""

from pathlib import Path

import pytest

from workbench.core.source import ModelRequest
from workbench.core.target import parse_target
from workbench.run import LowerRequest, lower

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "traces" / "golden" / "tiny-mlir"
TARGETS = {"cpu": "cpu:x86-64-v3", "cuda": "cuda:sm_90a"}
FIRST = "lift-constants"
"""Stages before it quote file paths of the installation."""


@pytest.mark.parametrize("leg", TARGETS)
def test_every_form_is_as_committed(leg: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    target = parse_target(TARGETS[leg], verify=leg == "cpu")
    trace = lower(
        LowerRequest(ModelRequest(f"{ROOT}/tests/filecheck/tiny.py:make"), target=target, runs=tmp_path / "runs")
    )
    names = [s["name"] for s in trace.stages]
    forms = {
        f"{leg}/{s['name']}{Path(s['file']).suffix}": trace.text(s)
        for s in trace.stages[names.index(FIRST) :]
        if s["status"] == "done" and s["kind"] not in ("result", "sass")
    }
    if request.config.getoption("--update-golden"):
        for old in (GOLDEN / leg).glob("*"):
            old.unlink()
        for file, text in forms.items():
            (GOLDEN / file).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / file).write_text(text)
    committed = {str(p.relative_to(GOLDEN)): p.read_text() for p in (GOLDEN / leg).glob("*")}
    assert forms.keys() == committed.keys(), "stages were added or removed; if intended: make golden"
    for file, text in forms.items():
        assert text == committed[file], f"{file} changed; if intended: make golden"
