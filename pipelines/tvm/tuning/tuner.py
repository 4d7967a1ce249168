"""What the jobs ask of a tuner."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pipelines.tvm.tuning.anchors import Anchor
from pipelines.tvm.tuning.job import Job
from pipelines.tvm.tuning.logs import Record, check_target, repair
from pipelines.tvm.tuning.schedules import Schedules
from workbench.core.tuning import TaskRow


class Tuner(ABC):
    """One of TVM's searches for schedules. `log` is in the tuner's own format.

    `transfers` says that it can begin with what a log for another target has.
    """

    transfers: ClassVar[bool] = False

    def check(self, log: Path, target: Any) -> int:
        """How many records a log has; then a half-written last line is cut off.

        Raises UsageError for a foreign log, which is left as it is, or one of another target but for keys.
        """
        records = self.records(log)
        for number, record in enumerate(records, 1):
            check_target(target, record.target, f"{log}, line {number}")
        self.mend(log)
        return len(records)

    def mend(self, log: Path) -> None:
        """Cut off what was not written to its end."""
        repair(log)

    def history(self, log: Path) -> list[tuple[str, float | None]]:
        """(task, milliseconds of a call, None when it did not run) of each record of a log."""
        return [(r.key, None if r.seconds is None else r.seconds * 1e3) for r in self.records(log)]

    @abstractmethod
    def records(self, log: Path) -> list[Record]:
        """All records of a log; raises UsageError for an empty or a foreign one."""

    @abstractmethod
    def tasks(self, job: Job) -> Mapping[str, tuple[TaskRow, tuple[Anchor, ...]]]:
        """The model's tasks by key, with the places of the model that each computes."""

    @abstractmethod
    def valid(self, job: Job, key: str) -> str:
        """Why a task would have no valid candidate, "" when it has some."""

    @abstractmethod
    def search(self, job: Job, rows: Sequence[TaskRow]) -> Mapping[str, Any]:
        """Measure candidates of the tasks, the one with the largest share first, into the log.

        Gives facts of the search (`errors`, `rank_correlation` ...)."""

    @abstractmethod
    def alone(self, job: Job, key: str) -> tuple[float, float]:
        """Milliseconds of a call of a task's best candidate measured alone on this machine: warm and cold caches."""

    @abstractmethod
    def schedules(self, job: Job, default: Collection[str]) -> Schedules:
        """The log's best schedule for each task with one, but TVM's own for those in `default`."""
