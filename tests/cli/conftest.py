"""Runs the command as a user does."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str

    @property
    def error_lines(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("error:")]

    def json(self) -> Any:
        return json.loads(self.out)


Workbench = Callable[..., Outcome]


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    """`workbench(*arguments)`, with traces under tmp_path/runs."""

    def call(*arguments: str, runs: Path | None = None, env: dict[str, str] | None = None) -> Outcome:
        command = [sys.executable, "-m", "workbench", *arguments]
        if arguments[0] in ("lower", "trace"):
            command += ["--runs", str(runs or tmp_path / "runs")]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, env=os.environ | (env or {})
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    return call
