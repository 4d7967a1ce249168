"""Each .mlir file says which stages to apply (`// STAGES: a | b{x=1}`) and what to expect.

In this folder: FileCheck directives on the result. In invalid/: `// REFUSED: text` that the refusal must contain.
A `// TARGET: cuda:sm_80` line sets the target, `// ACCEL: lab4` the accelerator.
"""

import re
import subprocess
from pathlib import Path

import pytest

from workbench.core.errors import WorkbenchError
from workbench.core.tools import FILECHECK
from workbench.worker import run_job

HERE = Path(__file__).parent
FOLDERS = (HERE, HERE / "npu")


def case(path: Path) -> str:
    return str(path.relative_to(HERE).with_suffix(""))


def directive(text: str, name: str) -> list[str]:
    return re.findall(rf"^// {name}: (.*)$", text, re.MULTILINE)


def apply(path: Path, log: Path) -> str:
    text = path.read_text()
    params = {
        "text": text,
        "stages": directive(text, "STAGES")[0].split("|"),
        "target": (directive(text, "TARGET") or [""])[0],
        "accel": (directive(text, "ACCEL") or [""])[0],
    }
    return run_job("tests.filecheck.job:apply", params, log / "log", lambda _: None, 120)


@pytest.mark.parametrize("path", sorted(p for f in FOLDERS for p in f.glob("*.mlir")), ids=case)
def test_stage(path: Path, tmp_path: Path) -> None:
    assert "CHECK" in path.read_text(), f"{path.name} checks nothing"
    done = subprocess.run(
        [FILECHECK.path(), path], input=apply(path, tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", sorted(p for f in FOLDERS for p in (f / "invalid").glob("*.mlir")), ids=case)
def test_refusal(path: Path, tmp_path: Path) -> None:
    wanted = directive(path.read_text(), "REFUSED")
    assert wanted, f"{path.name} expects nothing"
    with pytest.raises(WorkbenchError) as refusal:
        apply(path, tmp_path)
    for text in wanted:
        assert text in str(refusal.value)
