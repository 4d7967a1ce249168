"""A build by MetaSchedule's records."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar

from pipelines.tvm.bindings import load
from pipelines.tvm.tuning.ansor.build import channels_last
from pipelines.tvm.tuning.ansor.variants import Variant, chosen
from pipelines.tvm.tuning.logs import check_target
from pipelines.tvm.tuning.metaschedule.records import parse_line, scratch_database, target_text
from pipelines.tvm.tuning.schedules import Schedules


class MetaSchedules(Schedules):
    """`records` are lines of MetaSchedule's log, one for each task that takes its schedule from it.

    They count the lines of `workloads`. `variants` say which operators stay in TVM's layout and schedule.
    """

    config: ClassVar[Mapping[str, Any]] = {
        "relay.backend.use_meta_schedule": True,
        "relay.backend.use_meta_schedule_dispatch": 1,
        "relay.backend.tir_converter": "default",
    }

    def __init__(self, workloads: tuple[str, ...], records: tuple[str, ...], variants: Mapping[str, Variant]) -> None:
        self.workloads = workloads
        self.records = records
        self.variants = dict(variants)

    def to_json(self) -> dict[str, Any]:
        """The tuner's name, workloads, records and variants."""
        return {
            "tuner": "metaschedule",
            "workloads": list(self.workloads),
            "records": list(self.records),
            "variants": self.variants,
        }

    def facts(self) -> dict[str, Any]:
        """How many tasks have a recorded schedule."""
        return {"tuned_tasks": len(self.records)}

    def target(self, target: Any) -> Any:
        """The same target with MetaSchedule's key first. Raises UsageError when the records are of another one."""
        from pipelines.tvm.tuning.metaschedule.strategies import KEY, register

        for line in self.records:
            check_target(target, target_text(parse_line(line)), "the tuned schedules")
        register()
        words = [w for w in str(target).split() if not w.startswith("-keys=")]
        return load().target.Target(" ".join([*words, f"-keys={KEY},cpu"]))

    def prepared(self, module: Any) -> Any:
        """The convolutions that are not left to TVM in NHWC: MetaSchedule chooses the layout of weights there."""
        return channels_last(module, self.variants)

    @contextmanager
    def active(self) -> Generator[None]:
        """TVM sees the records and what was decided."""
        with chosen(self.variants), self._database:
            yield

    def code(self) -> str:
        """The schedule of each record, as the Python that TVM gives for it."""
        return "\n".join(str(record.trace) for record in self._database.get_all_tuning_records())

    @cached_property
    def _database(self) -> Any:
        # One object for the whole build: the layout rewrite adds what it made of the recorded workloads to it.
        return scratch_database(load("meta_schedule"), self.workloads, self.records)
