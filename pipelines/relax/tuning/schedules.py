"""A build by MetaSchedule's records: each TIR function that has one takes its schedule from it."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from pipelines.relax.bindings import load
from pipelines.tvm.tuning.logs import check_target
from pipelines.tvm.tuning.metaschedule.records import parse_line, scratch_database, target_text
from pipelines.tvm.tuning.schedules import DefaultSchedules, Schedules
from workbench.core.errors import UsageError

PACKAGE = "s_tir.meta_schedule"
"""MetaSchedule's own name in TVM 0.27."""


class RelaxSchedules(Schedules):
    """`records` are lines of MetaSchedule's log, one for each task that takes its schedule from it.

    They count the lines of `workloads`. Functions without a record stay plain loops.
    """

    def __init__(self, workloads: tuple[str, ...], records: tuple[str, ...]) -> None:
        self.workloads = workloads
        self.records = records

    def to_json(self) -> dict[str, Any]:
        """The route, the tuner's name, workloads and records."""
        names = {"route": "relax", "tuner": "metaschedule"}
        return names | {"workloads": list(self.workloads), "records": list(self.records)}

    def facts(self) -> dict[str, Any]:
        """How many tasks have a recorded schedule."""
        return {"tuned_tasks": len(self.records)}

    def target(self, target: Any) -> Any:
        """The same target. Raises UsageError when the records are of another one."""
        for line in self.records:
            check_target(target, target_text(parse_line(line)), "the tuned schedules")
        return target

    def prepared(self, module: Any) -> Any:
        """The module with the recorded schedules applied; call it in `active`."""
        return load("relax").transform.MetaScheduleApplyDatabase()(module)

    @contextmanager
    def active(self) -> Generator[None]:
        """TVM sees the records."""
        with self._database:
            yield

    @cached_property
    def _database(self) -> Any:
        return scratch_database(load(PACKAGE), self.workloads, self.records)


def read_schedules(path: Path) -> Schedules:
    """Schedules of a file; raises UsageError when it is not one for this route."""
    try:
        data = json.loads(path.read_text())
        if data["tuner"] == "":
            return DefaultSchedules()
        if data["route"] != "relax":
            raise KeyError("another route's")
        return RelaxSchedules(tuple(data["workloads"]), tuple(data["records"]))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: not schedules that `workbench tune --via relax` chose ({error})") from None
