"""Ansor as one of the tuners."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from pipelines.tvm.tuning.anchors import Anchor
from pipelines.tvm.tuning.ansor.build import AnsorSchedules
from pipelines.tvm.tuning.ansor.records import read_log
from pipelines.tvm.tuning.ansor.tasks import Task, divided, tasks_of
from pipelines.tvm.tuning.ansor.variants import Variant
from pipelines.tvm.tuning.job import Job
from pipelines.tvm.tuning.logs import Record, best_lines
from pipelines.tvm.tuning.remote import Fleet
from pipelines.tvm.tuning.schedules import Schedules
from pipelines.tvm.tuning.tuner import Tuner
from workbench.core.tuning import TaskRow


class AnsorTuner(Tuner):
    """Sketches, evolution and a cost model; the log is `auto_scheduler`'s."""

    transfers: ClassVar[bool] = True

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def records(self, log: Path) -> list[Record]:
        """See Tuner."""
        return read_log(log)

    def tasks(self, job: Job) -> Mapping[str, tuple[TaskRow, tuple[Anchor, ...]]]:
        """See Tuner."""
        found = tasks_of(job.module, job.parameters, job.target, AnsorSchedules((), {}))
        self._tasks = {task.key: task for task in found}
        return {t.key: (TaskRow(t.key, t.name, t.calls, t.flop * t.calls, t.workload), t.anchors) for t in found}

    def valid(self, job: Job, key: str) -> str:
        """See Tuner."""
        from pipelines.tvm.tuning.ansor.search import valid_candidates

        task = self._tasks[key]
        if task.variant is Variant.DEFAULT:
            return "its operator is left to TVM's own schedule"
        return "" if valid_candidates(task, job.limits.seed) else "none of Ansor's candidates can be lowered"

    def search(self, job: Job, rows: Sequence[TaskRow]) -> Mapping[str, Any]:
        """See Tuner."""
        from pipelines.tvm.tuning.ansor.measure import fleet_runner, local_runner, timing
        from pipelines.tvm.tuning.ansor.model import rank_correlation
        from pipelines.tvm.tuning.ansor.search import search

        how, fleet = timing(job.cold), Fleet(job.devices, job.tell)
        local = not job.devices.tracker
        with nullcontext(local_runner(how)) if local else fleet_runner(fleet, how, job.log) as runner:
            model, errors = search([self._tasks[row.key] for row in rows], job.limits, job.log, runner, job.tell)
        return {
            "errors": errors,
            "lost": fleet.lost,
            "rank_correlation": rank_correlation(model.predictions),
            "predictions": [asdict(p) for p in model.predictions],
        }

    def alone(self, job: Job, key: str) -> tuple[float, float]:
        """See Tuner."""
        from pipelines.tvm.tuning.ansor.search import measured_alone

        record = best_lines(read_log(job.log))[key]
        return measured_alone(self._tasks[key], record, cold=False), measured_alone(self._tasks[key], record, cold=True)

    def schedules(self, job: Job, default: Collection[str]) -> Schedules:
        """See Tuner. A workload that several tasks share is left to TVM when one of them is."""
        best = best_lines(read_log(job.log))
        taken, variants = divided(self._tasks.values(), best, default)
        return AnsorSchedules(tuple(best[key].line for key in taken), variants)
