"""Observers see a pipeline run: recording, timing, verifying and progress are observers. Stages print nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.core.kinds import IRKind

if TYPE_CHECKING:
    from workbench.core.artefact import Artefact
    from workbench.core.stage import Stage


@dataclass(frozen=True)
class PassRecord:
    """One pass over a module.

    `pipeline` is the textual pass pipeline that repeats it, or "" for a rewrite that has none. `after` gives the text,
    and `before` too where passes do not follow one another on one module (nested ones, one function at a time); they
    are called only when it is needed, so an unchanged pass costs no printing. `kind` is the level of that text, `depth`
    how many passes this one ran inside of, `symbol` the function it worked on where that is not the whole module.
    """

    name: str
    pipeline: str
    changed: bool
    seconds: float
    after: Callable[[], str]
    error: str = ""
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    before: Callable[[], str] | None = None
    kind: IRKind = IRKind.LINALG
    depth: int = 0
    symbol: str = ""


class Observer:
    """Callbacks of a run, all optional. `index` is the stage's position in its pipeline."""

    def before_stage(self, index: int, stage: "Stage") -> None:
        """`stage` is about to run."""

    def after_stage(self, index: int, stage: "Stage", out: "Artefact", seconds: float) -> None:
        """`stage` gave `out`."""

    def skipped_stage(self, index: int, stage: "Stage", reason: str) -> None:
        """`stage` does not apply, because `reason`."""

    def failed_stage(self, index: int, stage: "Stage", error: BaseException) -> None:
        """`stage` raised `error`."""

    def enter_module(self, text: Callable[[], str]) -> None:
        """Passes of the running stage start from this module text."""

    def before_pass(self, name: str, pipeline: str) -> None:
        """A pass is about to run. Passes nest: each one is ended by `after_pass` after those inside of it."""

    def after_pass(self, record: PassRecord) -> None:
        """A pass ran, or failed with `record.error`."""


class Observers(Observer):
    """Several observers as one."""

    def __init__(self) -> None:
        self._all: list[Observer] = []

    def add(self, observer: Observer) -> None:
        """Append an observer; they are called in order."""
        self._all.append(observer)

    def before_stage(self, index: int, stage: "Stage") -> None:
        for o in self._all:
            o.before_stage(index, stage)

    def after_stage(self, index: int, stage: "Stage", out: "Artefact", seconds: float) -> None:
        for o in self._all:
            o.after_stage(index, stage, out, seconds)

    def skipped_stage(self, index: int, stage: "Stage", reason: str) -> None:
        for o in self._all:
            o.skipped_stage(index, stage, reason)

    def failed_stage(self, index: int, stage: "Stage", error: BaseException) -> None:
        for o in self._all:
            o.failed_stage(index, stage, error)

    def enter_module(self, text: Callable[[], str]) -> None:
        for o in self._all:
            o.enter_module(text)

    def before_pass(self, name: str, pipeline: str) -> None:
        for o in self._all:
            o.before_pass(name, pipeline)

    def after_pass(self, record: PassRecord) -> None:
        for o in self._all:
            o.after_pass(record)
