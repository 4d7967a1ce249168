"""Compilers that need an environment of their own: which there are, where they lie, and who runs what in them.

A stage's `process` that names a toolchain runs in its Python; nothing else in the code knows of them.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from workbench.core.errors import ToolMissing
from workbench.worker import HERE

STAMP = "toolchain.json"
"""Written last into an environment: one without it is not whole."""


@dataclass(frozen=True)
class Toolchain:
    """An environment made of a pinned list. `modules` must import in it; `gigabytes` is about what it takes."""

    name: str
    summary: str
    modules: tuple[str, ...]
    gigabytes: float

    @cached_property
    def requirements(self) -> tuple[str, ...]:
        """The pinned list, as pip reads it."""
        text = files("workbench.toolchain").joinpath(f"{self.name}.txt").read_text(encoding="utf-8")
        lines = (line.partition("#")[0].strip() for line in text.splitlines())
        return tuple(line for line in lines if line)

    @property
    def packages(self) -> dict[str, str]:
        """Versions of the pinned list by package."""
        return dict(line.split("==") for line in self.requirements)

    @property
    def install_command(self) -> str:
        """The line that makes it."""
        return f"workbench toolchain install {self.name}"

    def problem(self, root: Path) -> str:
        """Why the environment in `root` cannot be used, "" when it can."""
        stamp = root / self.name / STAMP
        if not stamp.is_file():
            return "not installed"
        if not python_of(root / self.name).exists():
            return "without the Python it was made with"
        if json.loads(stamp.read_text())["requirements"] != list(self.requirements):
            return "made from another pinned list"
        return ""

    def python(self, root: Path) -> Path:
        """Its interpreter; raises ToolMissing with the line that installs it."""
        problem = self.problem(root)
        if problem:
            raise ToolMissing(
                f"the {self.name} toolchain in {root / self.name} is {problem}; run: {self.install_command}"
            )
        return python_of(root / self.name)


TOOLCHAINS: Mapping[str, Toolchain] = MappingProxyType(
    {
        t.name: t
        for t in (
            Toolchain(
                "relax", "TVM 0.27: Relax, MetaSchedule, CUDA source", ("tvm", "torch", "onnx", "onnxscript"), 1.7
            ),
        )
    }
)


def default_root(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of toolchains: WORKBENCH_TOOLCHAINS, else one in the user's cache."""
    if environ.get("WORKBENCH_TOOLCHAINS"):
        return Path(environ["WORKBENCH_TOOLCHAINS"]).expanduser().absolute()
    cache = environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "workbench" / "toolchains"


def python_of(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / "bin" / "python"


# The rooms of this package come last on the path, so that the toolchain's own packages win over those beside them.
_FOREIGN = (
    "import sys; sys.path.append(sys.argv.pop(1)); from workbench.worker import main; sys.exit(main(sys.argv[1:]))"
)


def worker_command(process: str, root: Path | None = None) -> tuple[str, ...]:
    """The command that starts a worker for stages of `process`; raises ToolMissing when its toolchain is not there."""
    if process not in TOOLCHAINS:
        return HERE
    python = TOOLCHAINS[process].python(root or default_root())
    return (str(python), "-c", _FOREIGN, str(Path(__file__).parents[2]))
