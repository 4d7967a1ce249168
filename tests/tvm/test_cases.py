"""The small models after public bug reports: each gives its own expected numbers, or is refused by name."""

import json
from pathlib import Path

import numpy as np
import pytest

from workbench.worker import run_job

CASES = Path(__file__).parents[1] / "cases"
FOLDERS = sorted(folder for folder in CASES.iterdir() if (folder / "model.onnx").is_file())


def test_every_case_ends_right_or_is_refused_by_name(tmp_path: Path) -> None:
    params = {"folders": [str(f) for f in FOLDERS], "out": str(tmp_path)}
    refused = run_job("tests.tvm.job:run_models", params, tmp_path / "log", lambda _: None, 300)
    problems = [problem_with(f, tmp_path / f"{f.name}.npz", refused.get(f.name, "")) for f in FOLDERS]
    assert not any(problems), "\n".join(filter(None, problems))


def problem_with(folder: Path, outputs: Path, refusal: str) -> str:
    case = json.loads((folder / "case.json").read_text())
    if refusal:
        if case["kind"] != "refusal" and "refusal" not in case.get("also_ok", ""):
            return f"{folder.name}: {refusal}"
        missing = [n for n in case["must_name"] if not any(m.lower() in refusal.lower() for m in n.split("|"))]
        return f"{folder.name}: the refusal names no {missing[0]}: {refusal}" if missing else ""
    with np.load(outputs) as got, np.load(folder / "expected.npz") as expected:
        for name in set(expected.files) - set(case.get("report_only", [])):
            if got[name].dtype != expected[name].dtype or got[name].shape != expected[name].shape:
                return f"{folder.name}: {name} is {got[name].dtype} {got[name].shape}"
            try:
                np.testing.assert_allclose(got[name], expected[name], case["rtol"], case["atol"], equal_nan=True)
            except AssertionError as error:
                return f"{folder.name}: {name}: {' '.join(str(error).split())[:200]}"
    return ""


@pytest.mark.parametrize("said", ["", "nothing of note"])
def test_the_judge_accepts_no_refusal_of_a_value(said: str, tmp_path: Path) -> None:
    folder = CASES / "14-round-half-even"
    np.savez(tmp_path / "wrong.npz", **{n: a + 1 for n, a in np.load(folder / "expected.npz").items()})
    assert problem_with(folder, tmp_path / "wrong.npz", said)
