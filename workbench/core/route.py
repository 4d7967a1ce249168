"""A route is a named way to build a pipeline from a few choices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.core.pipeline import Pipeline
from workbench.core.source import Frontend
from workbench.core.stage import Stage
from workbench.core.target import Target


@dataclass(frozen=True)
class RouteChoices:
    """What a pipeline depends on: how the model comes in, what it is made for, and the optimisation level.

    `tuned` is a file of schedules that a tuner chose, "" for the compiler's own.
    """

    frontend: Frontend
    target: Target
    level: str
    tuned: str = ""


@dataclass(frozen=True)
class Tuning:
    """How a route is tuned: the tuners' names, and the module whose jobs `check`, `search` and `choose` do it.

    The jobs run in worker process `process`, on what stage `start` left in a trace.
    """

    tuners: tuple[str, ...]
    jobs: str
    process: str
    start: str


@dataclass(frozen=True)
class Route:
    """`levels` are the optimisation levels, the first the default; `stages` every stage class by name.

    A route without `tuning` has nothing to search.
    """

    name: str
    summary: str
    levels: tuple[str, ...]
    stages: Mapping[str, type[Stage]]
    build: Callable[[RouteChoices], Pipeline]
    tuning: Tuning | None = None
