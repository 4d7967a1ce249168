"""Which tasks of a model take the schedule that was found: those that are faster with it in the model itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from pipelines.tvm.tuning.anchors import Anchor
from pipelines.tvm.tuning.job import Job
from pipelines.tvm.tuning.measure import Measured, build, whole_ms
from pipelines.tvm.tuning.schedules import DefaultSchedules
from pipelines.tvm.tuning.tuner import Tuner
from workbench.core.tuning import Choice, TaskRow

NOISE = 1.03
"""A ratio of times that two measurements of one build may have."""
AGREES = 1.15
"""Largest ratio of the time in the model to the logged one that needs no remark."""
MEASURE_SECONDS = 2.0

Tasks = Mapping[str, tuple[TaskRow, tuple[Anchor, ...]]]


def default_rows(tasks: Tasks, default: Measured) -> dict[str, TaskRow]:
    """The tasks with the time of their places in the default build, and their share of all places' time."""
    total = sum(default.node_ms.values())
    times = {key: _sum(anchors, default) for key, (_, anchors) in tasks.items()}
    return {key: replace(row, default_ms=times[key], share=times[key] / total) for key, (row, _) in tasks.items()}


def choose(job: Job, tuner: Tuner, tasks: Tasks) -> Choice:
    """Build the model by default, with all that was found, and with what of it is faster there; take the fastest.

    A build whose numbers are wrong is never taken. The default build is taken when nothing beats it by more than noise.
    """
    job.tell({"doing": "building with default schedules"})
    default = build(job, DefaultSchedules())
    rows = _with_log(default_rows(tasks, default), tuner, job)
    without = {key: row.reason for key, row in rows.items() if row.reason}
    job.tell({"doing": "building with the schedules found"})
    tuned = build(job, tuner.schedules(job, without.keys()))
    rows = {key: replace(row, tuned_ms=_sum(tasks[key][1], tuned)) for key, row in rows.items()}
    slower = {
        key: f"slower in the model: {row.tuned_ms:.3f} ms, default {row.default_ms:.3f} ms"
        for key, row in rows.items()
        if key not in without and (row.tuned_ms or 0.0) > row.default_ms * NOISE
    }
    builds = {"default": default, "tuned": tuned}
    if slower:
        job.tell({"doing": f"building with {len(slower)} tasks left at default"})
        builds["chosen"] = build(job, tuner.schedules(job, (without | slower).keys()))
    return _taken(job, builds, rows, without, slower)


def _taken(
    job: Job,
    builds: Mapping[str, Measured],
    rows: Mapping[str, TaskRow],
    without: Mapping[str, str],
    slower: Mapping[str, str],
) -> Choice:
    right = {name: b for name, b in builds.items() if not b.wrong}
    models_ms = whole_ms(job, right, MEASURE_SECONDS)
    best = min(models_ms, key=lambda name: models_ms[name])
    if best != "default" and models_ms["default"] < models_ms[best] * NOISE:
        best = "default"
    left = dict(without)
    if best == "chosen":
        left |= slower
    if best == "default":
        left = dict.fromkeys(rows, "the default build as a whole is not slower") | left
    notes = [f"the {name} build gives wrong numbers: {b.wrong}" for name, b in builds.items() if b.wrong]
    final = tuple(
        replace(row, chosen="default" if key in left else "tuned", reason=left.get(key, ""))
        for key, row in rows.items()
    )
    notes += [_disagreement(row) for row in final if row.chosen == "tuned" and _disagreement(row)]
    chosen = builds[best]
    return Choice(
        final, models_ms | {"chosen": models_ms[best]}, chosen.error, tuple(notes), chosen.schedules.to_json()
    )


def _with_log(rows: Mapping[str, TaskRow], tuner: Tuner, job: Job) -> dict[str, TaskRow]:
    logged = tuner.logged(job.log)
    found: dict[str, TaskRow] = {}
    for key, row in rows.items():
        ms, tried, ran = logged.get(key, (None, 0, 0))
        none = job.excluded.get(key) or (f"none of {tried} candidates ran" if tried else "not searched")
        found[key] = replace(
            row,
            candidates=tried,
            valid=ran,
            logged_ms=None if ms is None else ms * row.calls,
            reason="" if ms is not None else none,
        )
    return found


def _disagreement(row: TaskRow) -> str:
    """A remark when the time in the model is not what was logged."""
    if not row.logged_ms or not row.tuned_ms or 1 / AGREES <= row.tuned_ms / row.logged_ms <= AGREES:
        return ""
    ratio = row.tuned_ms / row.logged_ms
    return f"{row.name}: {row.tuned_ms:.3f} ms in the model, {row.logged_ms:.3f} ms logged ({ratio:.2f}x)"


def _sum(anchors: Sequence[Anchor], measured: Measured) -> float:
    """Milliseconds of all places of a task; a place that a build fused into another one counts as the others' mean."""
    times = [measured.node_ms[a] for a in anchors if a in measured.node_ms]
    return fmean(times) * len(anchors) if times else 0.0
