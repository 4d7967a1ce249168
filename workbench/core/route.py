"""A route is a named way to build a pipeline from a few choices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.core.pipeline import Pipeline
from workbench.core.source import Frontend
from workbench.core.stage import Stage
from workbench.core.target import Target


@dataclass(frozen=True)
class RouteChoices:
    """What a pipeline depends on: how the model comes in, what it is made for, and the optimisation level."""

    frontend: Frontend
    target: Target
    level: str


@dataclass(frozen=True)
class Route:
    """`levels` are the optimisation levels, the first the default; `stages` every stage class by name."""

    name: str
    summary: str
    levels: tuple[str, ...]
    stages: Mapping[str, type[Stage]]
    build: Callable[[RouteChoices], Pipeline]
