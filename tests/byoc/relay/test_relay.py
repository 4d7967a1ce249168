"""Runs the checks of `checks.py`, all in one process that has TVM loaded."""

import re
from pathlib import Path

import pytest

from workbench.worker import run_job

SOURCE = (Path(__file__).parent / "checks.py").read_text()
NAMES = re.findall(r"^    (\w+),$", SOURCE[SOURCE.index("CHECKS = (") :], re.MULTILINE)


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    log = tmp_path_factory.mktemp("relay") / "log"
    return run_job("tests.byoc.relay.checks:run_checks", {}, log, lambda _: None, 300)


@pytest.mark.parametrize("name", NAMES)
def test_check(name: str, failures: dict[str, str]) -> None:
    assert name not in failures, failures[name]
