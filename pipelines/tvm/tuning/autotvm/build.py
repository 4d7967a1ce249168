"""A build by AutoTVM's records: TVM's own templates, with the recorded knobs."""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from pipelines.tvm.tuning.autotvm.records import parse_record, read_records
from pipelines.tvm.tuning.logs import check_target
from pipelines.tvm.tuning.schedules import Schedules


class AutoTvmSchedules(Schedules):
    """`records` are lines of AutoTVM's log, one for each task that takes its schedule from it."""

    def __init__(self, records: tuple[str, ...]) -> None:
        self.records = records

    def to_json(self) -> dict[str, Any]:
        """The tuner's name and the records."""
        return {"tuner": "autotvm", "records": list(self.records)}

    def facts(self) -> dict[str, Any]:
        """How many tasks have a recorded schedule."""
        return {"tuned_tasks": len(self.records)}

    def target(self, target: Any) -> Any:
        """The same target. Raises UsageError when the records are of another one."""
        for line in self.records:
            check_target(target, parse_record(line).target, "the tuned schedules")
        return target

    @contextmanager
    def active(self) -> Generator[None]:
        """TVM sees the records, in Relay's passes for the layouts and in the lowering for the loops."""
        with self._history:
            yield

    def code(self) -> str:
        """The knobs that each workload of the last lowering took."""
        return "\n".join(f"# {workload}\n{config}" for workload, config in self._history.used.items())

    @cached_property
    def _history(self) -> Any:
        # One object for the whole build: Relay's passes add the knobs of operators whose layout they change.
        from pipelines.tvm.tuning.autotvm.watch import History

        return History(read_records(self.records))
