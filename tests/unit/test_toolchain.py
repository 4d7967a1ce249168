"""Toolchains: where they are looked for, made whole or not at all, and who runs in them. pip is a stand-in."""

import fcntl
import json
import re
from pathlib import Path

import pytest

from workbench.core.errors import ExitCode, ToolMissing, UsageError, WorkbenchError
from workbench.toolchain import STAMP, TOOLCHAINS, default_root, python_of, worker_command
from workbench.toolchain.install import install
from workbench.worker import HERE, run_job

RELAX = TOOLCHAINS["relax"]
OFFLINE = "WARNING: Retrying: NewConnectionError('...: Temporary failure in name resolution')\n"
NO_MATCH = "ERROR: No matching distribution found for apache-tvm==0.27.0.post1\n"
FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"


class StandIn:
    """A program that makes environments out of itself; its pip says `output` and exits with `code`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.path, self._output, self._code = folder / "python", folder / "output", folder / "code"
        self.calls = folder / "calls"
        self.pip("Collecting torch==2.13.0\nInstalling collected packages: torch\n")
        self.path.write_text(
            "#!/bin/sh\n"
            f"echo $1 $2 >> {self.calls}\n"
            'case "$1 $2" in\n'
            f'"-m venv") mkdir -p "$3/bin" && cp {self.path} "$3/bin/python" ;;\n'
            f'"-m pip") cat {self._output}; exit $(cat {self._code}) ;;\n'
            "esac\n"
        )
        self.path.chmod(0o755)

    def pip(self, output: str, code: int = 0) -> None:
        """What pip says from now on."""
        self._output.write_text(output)
        self._code.write_text(str(code))


@pytest.fixture
def python(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path / "stand-in")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "toolchains"


def test_the_list_is_pinned() -> None:
    assert all(re.fullmatch(r"[\w-]+==[\w.]+", line) for line in RELAX.requirements)
    assert RELAX.packages["apache-tvm"] == "0.27.0.post1"


def test_where_toolchains_are_looked_for() -> None:
    assert default_root({"WORKBENCH_TOOLCHAINS": "/opt/t"}) == Path("/opt/t")
    assert default_root({"XDG_CACHE_HOME": "/c"}) == Path("/c/workbench/toolchains")
    assert default_root({}) == Path.home() / ".cache/workbench/toolchains"


def test_a_missing_one_names_the_line_that_makes_it(root: Path) -> None:
    assert worker_command("torch", root) == HERE
    with pytest.raises(ToolMissing, match="is not installed; run: workbench toolchain install relax"):
        worker_command("relax", root)


def test_install_makes_a_whole_environment_once(root: Path, python: StandIn) -> None:
    told: list[str] = []
    folder = install(RELAX, root, told.append, str(python.path))
    assert folder == root / "relax"
    assert RELAX.problem(root) == ""
    assert told[0] == "making an environment"
    assert "collecting torch==2.13.0" in told
    assert worker_command("relax", root)[0] == str(python_of(folder))
    calls = python.calls.read_text()
    install(RELAX, root, told.append, str(python.path))
    assert python.calls.read_text() == calls
    assert [p.name for p in root.iterdir() if p.is_dir()] == ["relax"]


@pytest.mark.parametrize(
    ("output", "kind", "says"),
    [
        (OFFLINE + NO_MATCH, ToolMissing, "index cannot be reached.*PIP_INDEX_URL"),
        (NO_MATCH, ToolMissing, r"apache-tvm==0\.27\.0\.post1 has no wheel for Python"),
        (FULL, UsageError, "no space left.*--dir"),
        ("ERROR: something else\n", ToolMissing, "pip could not install the relax toolchain: something else"),
    ],
    ids=["offline", "no-wheel", "full", "other"],
)
def test_a_failed_install_is_one_line_and_leaves_nothing(
    output: str, kind: type[WorkbenchError], says: str, root: Path, python: StandIn
) -> None:
    python.pip(output, 1)
    with pytest.raises(kind, match=says) as caught:
        install(RELAX, root, lambda _: None, str(python.path))
    assert "\n" not in str(caught.value)
    assert RELAX.problem(root) == "not installed"
    assert [p for p in root.iterdir() if p.is_dir()] == []


def test_without_the_venv_module(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'No module named venv' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(ToolMissing, match="apt-get install python3-venv"):
        install(RELAX, root, lambda _: None, str(broken))


def test_a_half_made_environment_is_not_taken_for_a_whole_one(root: Path, python: StandIn) -> None:
    half = root / "relax" / "bin" / "python"
    half.parent.mkdir(parents=True)
    half.write_text("")
    left = root / ".relax.partial-dead"
    left.mkdir()
    with pytest.raises(ToolMissing, match="not installed"):
        RELAX.python(root)
    install(RELAX, root, lambda _: None, str(python.path))
    assert RELAX.problem(root) == ""
    assert not left.exists()


def test_an_interrupted_install_leaves_the_old_environment(root: Path, python: StandIn) -> None:
    old = install(RELAX, root, lambda _: None, str(python.path)) / STAMP
    old.write_text(json.dumps({"requirements": ["torch==1.0"]}))
    assert RELAX.problem(root) == "made from another pinned list"

    def interrupt(doing: str) -> None:
        if doing.startswith("loading"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install(RELAX, root, interrupt, str(python.path))
    assert json.loads(old.read_text()) == {"requirements": ["torch==1.0"]}
    install(RELAX, root, lambda _: None, str(python.path))
    assert RELAX.problem(root) == ""


def test_two_installs_at_once(root: Path, python: StandIn) -> None:
    root.mkdir()
    with (root / ".relax.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another install"):
            install(RELAX, root, lambda _: None, str(python.path))


def test_a_folder_that_cannot_be_written(tmp_path: Path, python: StandIn) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--dir") as caught:
        install(RELAX, tmp_path / "file" / "toolchains", lambda _: None, str(python.path))
    assert caught.value.exit_code == ExitCode.USAGE


def test_a_job_runs_in_the_toolchains_python(root: Path, python: StandIn, tmp_path: Path) -> None:
    """With this package last on its path, so that the toolchain's own packages win."""
    folder = install(RELAX, root, lambda _: None, str(python.path))
    inner = python_of(folder)
    inner.unlink()
    inner.symlink_to(Path(HERE[0]))
    where, last = run_job(
        "tests.unit.whoami:whoami", {}, tmp_path / "log", lambda _: None, 60, worker_command("relax", root)
    )
    assert where == str(inner)
    assert last == str(Path(__file__).parents[2])
