"""`workbench toolchain`, and what a user is told where one is missing."""

import json
from pathlib import Path

from tests.cli.conftest import Workbench


def test_lowering_without_the_toolchain(workbench: Workbench, tmp_path: Path) -> None:
    done = workbench("lower", "mlp", "--via", "relax", env={"WORKBENCH_TOOLCHAINS": str(tmp_path / "none")})
    assert done.code == 3
    (line,) = done.err.splitlines()
    assert "workbench toolchain install relax" in line
    assert not (tmp_path / "runs").exists()


def test_list_and_doctor(workbench: Workbench, tmp_path: Path) -> None:
    env = {"WORKBENCH_TOOLCHAINS": str(tmp_path / "none")}
    (row,) = workbench("toolchain", "list", "--json", env=env).json()
    assert row["name"] == "relax"
    assert row["state"] == "not installed"
    assert row["packages"]["torch"] == "2.13.0"
    check = next(c for c in json.loads(workbench("doctor", "--json", env=env).out) if c["what"] == "toolchain relax")
    assert (check["ok"], check["fix"]) == (False, "workbench toolchain install relax")


def test_an_unknown_toolchain(workbench: Workbench) -> None:
    done = workbench("toolchain", "install", "rocm")
    assert done.code == 2
    assert done.error_lines == ["error: no toolchain 'rocm'; known: relax"]
