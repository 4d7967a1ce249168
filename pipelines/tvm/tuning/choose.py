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
CLEARLY = 1.25
"""The same for a second try: an operator left at default between tuned ones costs transposes."""
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
    history = tuner.history(job.log)
    rows = _with_log(default_rows(tasks, default), history, job.excluded)
    without = {key: row.reason for key, row in rows.items() if row.reason}
    job.tell({"doing": "building with the schedules found"})
    builds = {"default": default, "tuned": build(job, tuner.schedules(job, without.keys()))}
    lefts = {"default": dict.fromkeys(rows, "the default build as a whole is not slower") | without, "tuned": without}
    rows = {key: replace(row, tuned_ms=_sum(tasks[key][1], builds["tuned"])) for key, row in rows.items()}
    for name, slack in (("better of both", NOISE), ("clearly better of both", CLEARLY)):
        left = without | _slower(rows, without, slack)
        if left not in lefts.values():
            job.tell({"doing": f"building with {len(left)} tasks left at default"})
            builds[name], lefts[name] = build(job, tuner.schedules(job, left.keys())), left
    models_ms = whole_ms(job, {name: b for name, b in builds.items() if not b.wrong}, MEASURE_SECONDS)
    best = _best(models_ms)
    final = [_decided(row, lefts[best].get(key, "")) for key, row in rows.items()]
    notes = [f"the '{name}' build gives wrong numbers: {b.wrong}" for name, b in builds.items() if b.wrong]
    notes += [_disagreement(row, job, tuner) for row in final if row.chosen == "tuned" and not _agrees(row)]
    schedules = builds[best].schedules.to_json()
    models_ms["chosen"] = models_ms[best]
    return Choice(tuple(final), models_ms, builds[best].error, tuple(notes), schedules, tuple(history))


def _slower(rows: Mapping[str, TaskRow], without: Mapping[str, str], slack: float) -> dict[str, str]:
    """Tasks whose group takes more than `slack` of its default time in the build that has everything found."""
    found: dict[str, str] = {}
    for key, row in rows.items():
        group = [r for r in rows.values() if (r.group or r.key) == (row.group or key)]
        before, after = sum(r.default_ms for r in group), sum(r.tuned_ms or 0.0 for r in group)
        if key not in without and after > before * slack:
            found[key] = f"slower in the model: {after:.3f} ms, default {before:.3f} ms"
    return found


def _best(models_ms: Mapping[str, float]) -> str:
    """The fastest build; the default one unless another beats it by more than noise."""
    best = min(models_ms, key=lambda name: models_ms[name])
    return best if models_ms["default"] > models_ms[best] * NOISE else "default"


def _decided(row: TaskRow, left: str) -> TaskRow:
    return replace(row, chosen="default" if left else "tuned", reason=left)


def _with_log(
    rows: Mapping[str, TaskRow], history: Sequence[tuple[str, float | None]], excluded: Mapping[str, str]
) -> dict[str, TaskRow]:
    """The rows with what the log has of each; `reason` says why one has no schedule."""
    found: dict[str, TaskRow] = {}
    for key, row in rows.items():
        times = [ms for of, ms in history if of == key]
        ran = [ms for ms in times if ms is not None]
        none = excluded.get(key) or (f"none of {len(times)} candidates ran" if times else "not searched")
        logged = min(ran) * row.calls if ran else None
        reason = "" if ran else none
        found[key] = replace(row, candidates=len(times), valid=len(ran), logged_ms=logged, reason=reason)
    return found


def _agrees(row: TaskRow) -> bool:
    return not row.logged_ms or not row.tuned_ms or 1 / AGREES <= row.tuned_ms / row.logged_ms <= AGREES


def _disagreement(row: TaskRow, job: Job, tuner: Tuner) -> str:
    """Why a task's time in the model is not what was logged, by measuring it alone once more, caches warm and cold."""
    job.tell({"doing": f"measuring {row.name} alone"})
    warm, cold = (ms * row.calls for ms in tuner.alone(job, row.key))
    logged, there = row.logged_ms or 0.0, row.tuned_ms or 0.0
    said = f"{row.name}: {there:.3f} ms in the model, {logged:.3f} ms logged ({there / logged:.2f}x); alone now "
    said += f"{warm:.3f} ms, {cold:.3f} ms with cold caches: "
    if 1 / AGREES <= there / cold <= AGREES or warm < there < cold:
        return said + "in the model its weights come from memory"
    if not 1 / AGREES <= warm / logged <= AGREES:
        return said + "it was logged on a machine that was busier or idler than now"
    return said + "not explained by caches"


def _sum(anchors: Sequence[Anchor], measured: Measured) -> float:
    """Milliseconds of all places of a task; a place that a build fused into another one counts as the others' mean."""
    times = [measured.node_ms[a] for a in anchors if a in measured.node_ms]
    return fmean(times) * len(anchors) if times else 0.0
