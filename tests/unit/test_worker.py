"""Jobs that die say why."""

import os
from pathlib import Path
from typing import Any

import pytest

from workbench.worker import Send, WorkerCrashed, run_job


def abort(params: dict[str, Any], send: Send) -> None:
    """A job that ends as a failed run-time check does."""
    os.write(1, f"{params['reason']}\n".encode())
    os.abort()


def test_an_abort_is_reported_with_the_line_printed_last(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("an older reason\nFatal Python error: Aborted\n")
    with pytest.raises(WorkerCrashed, match=r"SIGABRT.*: index out of range") as crash:
        run_job("tests.unit.test_worker:abort", {"reason": "index out of range"}, log, lambda _: None, 60)
    assert (crash.value.signal_name, crash.value.reason) == ("SIGABRT", "index out of range")
