"""A dense layer by way of Relax to the array, in the relax toolchain."""

from pathlib import Path

from tests.relax.conftest import toolchain as toolchain  # the fixture
from workbench.toolchain import worker_command
from workbench.worker import run_job


def test_products_go_to_the_array_and_are_right(tmp_path: Path) -> None:
    command = worker_command("relax")
    log = tmp_path / "log"
    assert run_job("tests.byoc.relax.checks:run_checks", {}, log, lambda _: None, 300, command) == []
