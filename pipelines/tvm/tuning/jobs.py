"""The worker's jobs of `workbench tune` for this route."""

from collections.abc import Callable
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from pipelines.tvm.bindings import load, machine, refusals
from pipelines.tvm.tuning.job import Job, read_job
from pipelines.tvm.tuning.tuner import Tuner
from workbench.core.errors import UsageError
from workbench.core.target import Target
from workbench.core.tuning import Devices, Progress, SearchLimits

Message = dict[str, Any]

LEAST_SHARE = 1 / 300
"""Share of the default build's time below which a task is not searched."""


def _ansor() -> Tuner:
    from pipelines.tvm.tuning.ansor.tuner import AnsorTuner

    return AnsorTuner()


def _autotvm() -> Tuner:
    from pipelines.tvm.tuning.autotvm.tuner import AutoTvmTuner

    return AutoTvmTuner()


def _metaschedule() -> Tuner:
    from pipelines.tvm.tuning.metaschedule.tuner import MetaScheduleTuner

    return MetaScheduleTuner()


TUNERS: dict[str, Callable[[], Tuner]] = {"ansor": _ansor, "autotvm": _autotvm, "metaschedule": _metaschedule}


def check(params: Message, tell: Progress) -> Message:
    """What can be wrong with a log before anything was compiled. Gives its number of records."""
    target = Target(**params["target"])
    load(threads=target.threads)
    tuner = TUNERS[params["tuner"]]()
    return checked(tuner, params, machine(target))


def checked(tuner: Tuner, params: Message, target: Any) -> Message:
    """The log and the one to begin with; raises UsageError for what either has no use for."""
    transfer = SearchLimits(**params["limits"]).transfer
    if transfer and not tuner.transfers:
        raise UsageError(f"--transfer is for Ansor; '{params['tuner']}' cannot begin with another target's log")
    if transfer:
        tuner.records(Path(transfer))
    log = Path(params["log"])
    return {"records": tuner.check(log, target) if log.exists() else 0}


def reach(params: Message, tell: Progress) -> Message:
    """What can be wrong with a tracker and its devices."""
    from pipelines.tvm.tuning.fleet import check_tracker

    check_tracker(Devices(**params["devices"]))
    return {}


def queues(params: Message, tell: Progress) -> list[Message]:
    """What a tracker has of each key."""
    from pipelines.tvm.tuning.fleet import queues as queues_of

    return [asdict(queue) for queue in queues_of(Devices(**params["devices"]))]


def serve(params: Message, tell: Progress) -> Message:
    """A tracker and devices on this machine, until the job is ended."""
    from pipelines.tvm.tuning.serve import serve as keep

    keep(params["host"], params["port"], params["key"], params["devices"], params["threads"], tell)
    return {}


def search(params: Message, tell: Progress) -> Message:
    """Search the model of a trace; see `searched`."""

    load(threads=params["target"]["threads"])
    with refusals("TVM cannot tune the model"):
        return searched(read_job(params, tell), TUNERS[params["tuner"]]())


def searched(job: Job, tuner: Tuner) -> Message:
    """List the tasks, say which have no valid candidate, and search the others. Gives facts of the search.

    What is about to run is told first, so that a crash of TVM's can be laid at a task's door.
    """
    from pipelines.tvm.tuning.choose import default_rows
    from pipelines.tvm.tuning.measure import build
    from pipelines.tvm.tuning.schedules import DefaultSchedules

    job.tell({"doing": "timing the default build"})
    default = build(job, DefaultSchedules())
    job.tell({"doing": "listing tasks"})
    tasks = tuner.tasks(job)
    rows = default_rows(tasks, default)
    reasons = dict(job.excluded)
    for key, row in rows.items():
        if key in reasons:
            continue
        job.tell({"checking": key, "name": row.name})
        reason = tuner.valid(job, key)
        if not fnmatch(row.name, job.limits.tasks) and not reason:
            reason = f"not among --tasks '{job.limits.tasks}'"
        if not reason and row.share < LEAST_SHARE:
            reason = f"with {row.share:.1%} of the time it cannot repay its trials"
        if reason:
            reasons[key] = reason
    listed = [row.to_json() | {"reason": reasons.get(key, "")} for key, row in rows.items()]
    job.tell({"tasks": listed, "default_ms": sum(default.node_ms.values())})
    keys = sorted((key for key in rows if key not in reasons), key=lambda key: -rows[key].share)
    keys = keys[: job.limits.trials]
    if not keys:
        raise UsageError(f"no task to search: {next(iter(reasons.values()), 'the model has none')}")
    return {"excluded": reasons, "tasks": listed, **tuner.search(job, [rows[key] for key in keys])}


def choose(params: Message, tell: Progress) -> Message:
    """Build with what the log has, task by task the better of it and the default; gives the Choice."""
    from pipelines.tvm.tuning.choose import choose as better_of

    load(threads=params["target"]["threads"])
    with refusals("TVM cannot build the tuned model"):
        job = read_job(params, tell)
        tuner = TUNERS[params["tuner"]]()
        return better_of(job, tuner, tuner.tasks(job)).to_json()
