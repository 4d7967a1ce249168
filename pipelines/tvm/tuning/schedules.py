"""What decides the layouts and schedules of a build: TVM's defaults, or what a tuner found."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar


class Schedules(ABC):
    """One build's schedules; the same object serves Relay's passes and the lowering to TIR that follows them.

    `config` goes into TVM's PassContext.
    """

    config: ClassVar[Mapping[str, Any]] = {}

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """JSON that `pipelines.tvm.tuning.read.schedules_of` makes the same schedules of."""

    def target(self, target: Any) -> Any:
        """The target under whose keys TVM looks for schedules."""
        return target

    def prepared(self, module: Any) -> Any:
        """The Relay module in the layouts that the schedules are for."""
        return module

    def facts(self) -> dict[str, Any]:
        """What a build's summary says of them."""
        return {}

    def code(self) -> str:
        """The tuned schedules of the last lowering by function, "" where there are none."""
        return ""

    def active(self) -> AbstractContextManager[Any]:
        """A block in which TVM takes these schedules."""
        return nullcontext()


class DefaultSchedules(Schedules):
    """TVM's own schedules."""

    def to_json(self) -> dict[str, Any]:
        """Nothing but the name."""
        return {"tuner": ""}

    def facts(self) -> dict[str, Any]:
        """No task has a tuned schedule."""
        return {"tuned_tasks": 0}
