"""MetaSchedule as one of the tuners."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pipelines.tvm.bindings import load
from pipelines.tvm.tuning.anchors import Anchor
from pipelines.tvm.tuning.ansor.tasks import Task, divided
from pipelines.tvm.tuning.ansor.variants import Variant
from pipelines.tvm.tuning.job import Job
from pipelines.tvm.tuning.logs import Record, best_lines
from pipelines.tvm.tuning.metaschedule.build import MetaSchedules
from pipelines.tvm.tuning.metaschedule.records import read_log, repair_both, scratch_database, workload_lines
from pipelines.tvm.tuning.metaschedule.tasks import tasks_of
from pipelines.tvm.tuning.schedules import Schedules
from pipelines.tvm.tuning.tuner import Tuner
from workbench.core.tuning import TaskRow


class MetaScheduleTuner(Tuner):
    """Rules, evolution and a cost model; the log is `meta_schedule`'s, with its table of workloads beside it."""

    package: ClassVar[str] = "meta_schedule"
    """MetaSchedule's own name in TVM."""

    def __init__(self) -> None:
        self.found: dict[str, Task] = {}

    def records(self, log: Path) -> list[Record]:
        """See Tuner."""
        return read_log(log)

    def mend(self, log: Path) -> None:
        """See Tuner; both files."""
        repair_both(log)

    def tasks(self, job: Job) -> Mapping[str, tuple[TaskRow, tuple[Anchor, ...]]]:
        """See Tuner."""
        found = tasks_of(job.module, job.parameters, job.target)
        self.found = {task.key: task for task in found}
        return {t.key: (TaskRow(t.key, t.name, t.calls, t.flop * t.calls, t.workload), t.anchors) for t in found}

    def valid(self, job: Job, key: str) -> str:
        """See Tuner."""
        from pipelines.tvm.tuning.metaschedule.search import context

        task = self.found[key]
        if task.variant is Variant.DEFAULT:
            return "its operator is left to TVM's own schedule"
        spaces = context(load(self.package), task, job.target, job.limits.seed + 1).generate_design_space()
        lowered = any(self.lowers(schedule.mod, job.target) for schedule in spaces)
        return "" if lowered else "none of MetaSchedule's candidates can be lowered"

    def search(self, job: Job, rows: Sequence[TaskRow]) -> Mapping[str, Any]:
        """See Tuner."""
        from pipelines.tvm.tuning.metaschedule.search import runner, search

        tasks = [self.found[row.key] for row in rows]
        ms = load(self.package)
        measuring = runner(ms, job.devices, job.cold)
        errors = search(ms, tasks, job.target, job.limits, job.log, measuring, job.tell)
        return {"errors": errors}

    def alone(self, job: Job, key: str) -> tuple[float, float]:
        """See Tuner."""
        from pipelines.tvm.tuning.metaschedule.search import measured_alone

        ms, line = load(self.package), best_lines(read_log(job.log))[key].line
        database = scratch_database(ms, workload_lines(job.log), [line])
        warm, cold = (measured_alone(ms, database, job.target, flush) for flush in (False, True))
        return warm, cold

    def schedules(self, job: Job, default: Collection[str]) -> Schedules:
        """See Tuner. A workload that several tasks share is left to TVM when one of them is."""
        best = best_lines(read_log(job.log))
        taken, variants = divided(self.found.values(), best, default)
        return MetaSchedules(tuple(workload_lines(job.log)), tuple(best[key].line for key in taken), variants)

    def lowers(self, module: Any, target: Any) -> bool:
        """Whether TVM can lower a scheduled function."""
        tvm = load()
        try:
            with target:
                tvm.lower(module)
        except (tvm.error.TVMError, ValueError, RuntimeError):
            return False
        return True
