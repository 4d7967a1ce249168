"""AutoTVM as one of the tuners."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipelines.tvm.tuning.anchors import Anchor
from pipelines.tvm.tuning.autotvm.build import AutoTvmSchedules
from pipelines.tvm.tuning.autotvm.records import read_log
from pipelines.tvm.tuning.autotvm.tasks import Task, lowers, tasks_of
from pipelines.tvm.tuning.job import Job
from pipelines.tvm.tuning.logs import Record, best_lines
from pipelines.tvm.tuning.schedules import Schedules
from pipelines.tvm.tuning.tuner import Tuner
from workbench.core.tuning import TaskRow


class AutoTvmTuner(Tuner):
    """Knobs of TVM's templates and a cost model; the log is `autotvm`'s."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def records(self, log: Path) -> list[Record]:
        """See Tuner."""
        return read_log(log)

    def tasks(self, job: Job) -> Mapping[str, tuple[TaskRow, tuple[Anchor, ...]]]:
        """See Tuner."""
        found = tasks_of(job.module, job.parameters, job.target)
        self._tasks = {task.key: task for task in found}
        return {t.key: (TaskRow(t.key, t.name, t.calls, t.flop * t.calls), t.anchors) for t in found}

    def valid(self, job: Job, key: str) -> str:
        """See Tuner."""
        return "" if lowers(self._tasks[key], job.limits.seed) else "none of AutoTVM's candidates can be lowered"

    def search(self, job: Job, rows: Sequence[TaskRow]) -> Mapping[str, Any]:
        """See Tuner."""
        from pipelines.tvm.tuning.autotvm.search import runner, search

        shares = [(self._tasks[row.key], row.share) for row in rows]
        return {"errors": search(shares, job.limits, job.log, runner(job.devices, job.cold), job.tell)}

    def alone(self, job: Job, key: str) -> tuple[float, float]:
        """See Tuner."""
        from pipelines.tvm.tuning.autotvm.search import measured_alone

        line, task = best_lines(read_log(job.log))[key].line, self._tasks[key]
        return measured_alone(task, line, cold=False), measured_alone(task, line, cold=True)

    def schedules(self, job: Job, default: Collection[str]) -> Schedules:
        """See Tuner."""
        best = best_lines(read_log(job.log))
        return AutoTvmSchedules(tuple(best[k].line for k in self._tasks if k in best and k not in default))
