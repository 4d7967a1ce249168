"""What the stages of this route hand on besides text: TVM's live objects."""

from dataclasses import dataclass
from typing import Any

from pipelines.tvm.tuning.schedules import Schedules


@dataclass(frozen=True)
class Optimised:
    """Fused Relay, TVM's target, and the schedules that its layouts are for."""

    module: Any
    target: Any
    schedules: Schedules


@dataclass(frozen=True)
class Lowered:
    """A module of TIR functions and the graph that calls them.

    `parameters` are the graph's weights by name (TVM arrays); `target` is TVM's. `external` are the runtime modules of
    functions that another compiler made.
    """

    module: Any
    graph: str
    parameters: dict[str, Any]
    target: Any
    external: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Built:
    """Machine code in memory (a TVM runtime module) with the graph that calls it."""

    library: Any
    graph: str
    parameters: dict[str, Any]
