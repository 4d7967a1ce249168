"""The verb `tune`: search for schedules, keep what was found, and build with what of it helps."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.core.errors import Interrupted, UsageError
from workbench.core.route import Tuning as RouteTuning
from workbench.core.source import ModelRequest
from workbench.core.target import Target
from workbench.core.trace import Trace
from workbench.core.trace.layout import write_json
from workbench.core.tuning import Choice, Devices, SearchLimits
from workbench.database import Entry, database_entry, host_facts
from workbench.run import LowerRequest, lower, plan, tuning_of
from workbench.toolchain import TOOLCHAINS, worker_command
from workbench.viewer.tuning import write_curve
from workbench.worker import Message, WorkerCrashed, run_job

Progress = Callable[[Message], None]

MOST_CRASHES = 3
"""Crashes of TVM's in one task's search before that is given up."""


@dataclass(frozen=True)
class TuneRequest:
    """Everything `tune` depends on. `log` is None for the database's own; `cold` measures with cold weights.

    `limits.trials` 0 builds with what the log has already.
    """

    model: ModelRequest
    route: str
    tuner: str
    limits: SearchLimits
    target: Target = field(default_factory=Target)
    devices: Devices = field(default_factory=Devices)
    log: Path | None = None
    resume: bool = False
    cold: bool = False
    database: Path = Path("traces/tuned")
    runs: Path = Path("traces/runs")
    seconds: float = 6 * 3600
    command: str = ""


@dataclass(frozen=True)
class Tuned:
    """What `tune` made: the log and its companions, the traces of both builds, and the choice between them."""

    entry: Entry
    before: Trace
    after: Trace
    choice: Choice
    facts: Message


def tune(request: TuneRequest, progress: Progress = lambda _: None) -> Tuned:
    """Tune a model. Every record is on disk as soon as it is measured.

    Raises UsageError before anything is compiled for an unknown tuner, a foreign log or too few trials, Interrupted
    naming the log when the user stopped it, and what `lower` raises.
    """
    tuning = _tuning(request)
    entry = database_entry(request.database, request.model.model, request.route, request.tuner, request.target)
    entry = entry if request.log is None else Entry(request.log)
    _check_log(request, entry)
    entry.log.parent.mkdir(parents=True, exist_ok=True)
    if request.devices.tracker:
        _job(request, tuning, entry, "reach", Path(), {}, progress)
    before_count = _job(request, tuning, entry, "check", Path(), {}, progress)["records"]
    base = LowerRequest(request.model, request.route, target=request.target, runs=request.runs, command=request.command)
    progress({"doing": "lowering with default schedules"})
    before = lower(base, progress)
    facts = _search(request, tuning, entry, before.root, progress)
    records = _job(request, tuning, entry, "check", before.root, {}, progress)["records"]
    chosen = _job(request, tuning, entry, "choose", before.root, facts["excluded"], progress)
    choice = Choice.from_json(chosen | {"notes": [*chosen["notes"], *_of_fleet(request.devices)]})
    write_json(entry.schedules, dict(choice.schedules))
    facts |= {"records": records, "new_records": records - before_count}
    write_json(entry.meta, _meta(request, tuning, facts, choice))
    write_curve(entry.curve, json.loads(entry.meta.read_text()))
    progress({"doing": "lowering with the chosen schedules"})
    after = lower(replace(base, tuned=entry.schedules.resolve(), start=(before.root, tuning.start)), progress)
    return Tuned(entry, before, after, choice, facts)


def _of_fleet(devices: Devices) -> tuple[str, ...]:
    if not devices.tracker:
        return ()
    return (
        f"logged times are of the devices '{devices.key}' at {devices.tracker}; "
        "times of builds, and so what was chosen, are of this machine",
    )


def _tuning(request: TuneRequest) -> RouteTuning:
    plan(LowerRequest(request.model, request.route, target=request.target))
    tuning = tuning_of(request.route)
    if request.tuner not in tuning.tuners:
        raise UsageError(f"route '{request.route}' has no tuner '{request.tuner}'; it has: {', '.join(tuning.tuners)}")
    return tuning


def _check_log(request: TuneRequest, entry: Entry) -> None:
    if request.limits.trials < 1:
        raise UsageError(f"--trials takes at least 1, not {request.limits.trials}")
    if entry.log.exists() and not request.resume:
        raise UsageError(f"{entry.log} exists; go on from it with --resume, or give another file with --log")


def _search(request: TuneRequest, tuning: RouteTuning, entry: Entry, root: Path, progress: Progress) -> Message:
    """Search until the trials are used up; a crash costs the round that crashed, and in the end its task."""
    excluded: dict[str, str] = {}
    crashes: dict[str, int] = {}
    state: Message = {"task": "", "done": 0}

    def tell(message: Message) -> None:
        state["task"] = message.get("checking") or message.get("searching") or state["task"]
        state["done"] = message.get("trials", state["done"])
        progress(message)

    left = request.limits.trials
    while True:
        limits = replace(request.limits, trials=left, seed=request.limits.seed + sum(crashes.values()))
        try:
            facts = _job(replace(request, limits=limits), tuning, entry, "search", root, excluded, tell)
            return facts | {"crashes": sum(crashes.values())}
        except WorkerCrashed as crash:
            task = state["task"]
            if not task or crash.signal_name == "time limit":
                raise
            request = replace(request, limits=replace(request.limits, transfer=""))
            crashes[task] = crashes.get(task, 0) + 1
            left = max(left - state["done"], 1)
            if crashes[task] == MOST_CRASHES:
                excluded[task] = f"TVM dies in its search ({crash.signal_name})"
            _job(request, tuning, entry, "check", root, excluded, progress)  # the crash may have cut a record short
            progress({"crashed": task, "how": crash.signal_name, "times": crashes[task]})
            state |= {"task": "", "done": 0}
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; what was measured is in {entry.log}: go on with --resume") from None


def _job(
    request: TuneRequest,
    tuning: RouteTuning,
    entry: Entry,
    job: str,
    root: Path,
    excluded: dict[str, str],
    progress: Progress,
) -> Any:
    params = {
        "root": str(root.resolve()),
        "target": asdict(request.target),
        "tuner": request.tuner,
        "log": str(entry.log.resolve()),
        "limits": asdict(request.limits),
        "devices": asdict(request.devices),
        "excluded": excluded,
        "cold": request.cold,
    }
    command = worker_command(tuning.process)
    return run_job(f"{tuning.jobs}:{job}", params, entry.worker_log, progress, request.seconds, command)


def _meta(request: TuneRequest, tuning: RouteTuning, facts: Message, choice: Choice) -> Message:
    facts_here = host_facts()
    if tuning.process in TOOLCHAINS:
        facts_here["packages"] = TOOLCHAINS[tuning.process].packages
    return {
        "model": request.model.model,
        "request": request.model.to_json(),
        "route": request.route,
        "tuner": request.tuner,
        "target": asdict(request.target),
        "limits": asdict(request.limits),
        "cold": request.cold,
        "devices": asdict(request.devices),
        "command": request.command,
        "workbench": __version__,
        **facts_here,
        "search": {k: v for k, v in facts.items() if k not in ("tasks", "excluded")},
        "rows": [row.to_json() for row in choice.rows],
        "models_ms": dict(choice.models_ms),
        "largest_error": choice.largest_error,
        "notes": list(choice.notes),
        "history": [list(point) for point in choice.history],
    }
