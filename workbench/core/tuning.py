"""What a search for schedules is asked for, and what it tells."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class SearchLimits:
    """`trials` in all, `minutes` at most (0: no limit), `tasks` a glob over task names, `seed` of all that is drawn.

    `transfer` is a log of the same tuner for another target, whose best candidates are measured first.
    """

    trials: int
    minutes: float = 0.0
    tasks: str = "*"
    seed: int = 0
    transfer: str = ""


@dataclass(frozen=True)
class Devices:
    """Where candidates are measured: here, or on what RPC tracker `host:port` has under `key`.

    A search ends when the tracker has had none of them for `patience` seconds.
    """

    tracker: str = ""
    key: str = ""
    patience: float = 30.0


@dataclass(frozen=True)
class Queue:
    """What a tracker says of one key: `total` devices, `free` ones, and `pending` requests for one."""

    key: str
    total: int
    free: int
    pending: int

    @property
    def busy(self) -> int:
        """Devices in use, those that have just asked for work again included."""
        return max(self.total - self.free, 0)


@dataclass(frozen=True)
class TaskRow:
    """One task of a model: a fused function whose schedule can be searched.

    Times are milliseconds of all `calls` of one run together: `default_ms` in the default build, `logged_ms` the best
    measured alone, `tuned_ms` in the build that has every tuned task. `chosen` is "tuned" or "default", `reason` why.
    `candidates` were tried, `valid` of them ran. Tasks of one `group` can only be chosen together.
    """

    key: str
    name: str
    calls: int
    flop: int
    group: str = ""
    default_ms: float = 0.0
    share: float = 0.0
    candidates: int = 0
    valid: int = 0
    logged_ms: float | None = None
    tuned_ms: float | None = None
    chosen: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "TaskRow":
        """Read what `to_json` wrote; unknown fields are left out."""
        return TaskRow(**{f.name: data[f.name] for f in fields(TaskRow) if f.name in data})


@dataclass(frozen=True)
class Choice:
    """What tuning came to. `models_ms` are interleaved medians of whole builds: default, tuned, chosen.

    `history` has (task, milliseconds of a call or None) for each record of the log, in the order of measuring.
    """

    rows: tuple[TaskRow, ...]
    models_ms: Mapping[str, float]
    largest_error: float
    notes: tuple[str, ...] = ()
    schedules: Mapping[str, Any] = field(default_factory=dict[str, Any])
    history: tuple[tuple[str, float | None], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Choice":
        """Read what `to_json` wrote."""
        return Choice(
            tuple(TaskRow.from_json(row) for row in data["rows"]),
            data["models_ms"],
            data["largest_error"],
            tuple(data["notes"]),
            data["schedules"],
            tuple((key, ms) for key, ms in data["history"]),
        )
