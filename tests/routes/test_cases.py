"""Every situation under tests/cases through the whole MLIR route, from the command line: right numbers or one line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases"


def cases() -> list[Any]:
    return [pytest.param(folder, id=folder.name) for folder in sorted(p for p in CASES.iterdir() if p.is_dir())]


def lower(folder: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    """`workbench lower` on a case, with its inputs where it has some."""
    onnx = folder / "model.onnx"
    model = str(onnx) if onnx.is_file() else f"{folder / 'model.py'}:make"
    inputs = ["--inputs", str(folder / "inputs.npz")] if (folder / "inputs.npz").is_file() else []
    options = [*inputs, "--target", "cpu", "--runs", str(out / "runs"), "--save-outputs", str(out / "outputs.npz")]
    command = [sys.executable, "-m", "workbench", "lower", model, *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("folder", cases())
def test_right_numbers_or_one_line_that_says_why_not(folder: Path, tmp_path: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    done = lower(folder, tmp_path)
    if done.returncode == 0:
        assert (folder / "expected.npz").is_file(), "lowered, but it must be refused"
        compare(case, folder, tmp_path / "outputs.npz")
        return
    assert case["kind"] == "refusal" or "also_ok" in case, f"exit code {done.returncode}: {done.stderr}"
    assert done.returncode in (1, 2), done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(lines) == 1 and "Traceback" not in done.stderr, done.stderr
    for names in case["must_name"]:
        assert any(name.lower() in lines[0].lower() for name in names.split("|")), f"{lines[0]} must name {names}"


def compare(case: dict[str, Any], folder: Path, outputs: Path) -> None:
    """Same names, dtypes and shapes; values within the case's tolerance, NaN where NaN is expected."""
    with np.load(outputs) as got, np.load(folder / "expected.npz") as want:
        assert sorted(got.files) == sorted(want.files)
        for name in want.files:
            assert got[name].dtype == want[name].dtype and got[name].shape == want[name].shape, name
            if name not in case.get("report_only", []):
                np.testing.assert_allclose(
                    got[name], want[name], rtol=case["rtol"], atol=case["atol"], equal_nan=True, err_msg=name
                )
