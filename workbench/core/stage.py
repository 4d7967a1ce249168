"""A stage takes one IR to the next. Its fields are its options; its spec is text that reads back to the same stage."""

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.kinds import IRKind
from workbench.core.observe import Observer, Observers
from workbench.core.target import Target


@dataclass
class Context:
    """What a stage may use besides its input.

    `root` is the trace's folder, `scratch` a folder for temporary files that is removed afterwards, `latest` the most
    recent artefact of each kind.
    """

    target: Target
    root: Path
    scratch: Path
    observers: Observers = field(default_factory=Observers)
    latest: dict[IRKind, Artefact] = field(default_factory=dict[IRKind, Artefact])
    capture: bool = True
    """Whether passes are recorded one by one with their text; off only to measure what recording costs."""

    @property
    def store(self) -> Path:
        """Where weights go: `consts/<sha256>.npy`."""
        return self.root / "consts"

    @property
    def numerics(self) -> Path:
        """Where inputs.npz, reference.npz, results and verdicts go."""
        return self.root / "numerics"

    def observe(self, observer: Observer) -> None:
        """Add an observer."""
        self.observers.add(observer)


@dataclass(frozen=True)
class Stage(ABC):
    """One named step of a route.

    `process` names the worker process the stage runs in: consecutive stages of one process share live handles, and
    toolchains that cannot live together (two builds of LLVM) get different names. `needs` are kinds that the stage
    reads from `ctx.latest` besides the one it consumes.
    """

    name: ClassVar[str]
    consumes: ClassVar[IRKind]
    produces: ClassVar[IRKind]
    process: ClassVar[str] = "mlir"
    needs: ClassVar[tuple[IRKind, ...]] = ()

    @abstractmethod
    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        """Lower `ir`. Raises Skip when the stage does not apply, CompileError or ToolMissing when it cannot."""

    def verify(self, ctx: Context, out: Artefact) -> None:  # noqa: B027  (optional hook)
        """Check what the stage promised about `out`; raises CompileError."""

    def spec(self) -> str:
        """`name` or `name{option=value option=value}`, options at their default left out."""
        shown = [
            f"{f.name.replace('_', '-')}={_show(getattr(self, f.name))}"
            for f in dataclasses.fields(self)
            if getattr(self, f.name) != _default(f)
        ]
        return f"{self.name}{{{' '.join(shown)}}}" if shown else self.name


def parse_stage(text: str, known: Mapping[str, type[Stage]]) -> Stage:
    """Read what `Stage.spec` wrote. Raises UsageError naming an unknown stage or option."""
    match = re.fullmatch(r"\s*([\w-]+)\s*(?:\{(.*)\})?\s*", text)
    if match is None or match[1] not in known:
        raise UsageError(f"no stage '{text.strip()}'; known stages: {', '.join(known)}")
    cls = known[match[1]]
    fields = {f.name: f for f in dataclasses.fields(cls)}
    options: dict[str, Any] = {}
    for item in (match[2] or "").split():
        key, _, value = item.partition("=")
        name = key.replace("-", "_")
        if name not in fields:
            raise UsageError(f"stage '{cls.name}' has no option '{key}'; it has: {', '.join(fields) or 'none'}")
        options[name] = _read(value, _default(fields[name]), f"{cls.name}{{{key}}}")
    return cls(**options)


def _default(f: "dataclasses.Field[Any]") -> Any:
    return f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(str(v) for v in value)  # pyright: ignore[reportUnknownArgumentType]
    return str(value)


def _read(text: str, default: Any, where: str) -> Any:
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, tuple):
            return tuple(int(v) for v in text.split(",") if v)
    except (KeyError, ValueError):
        raise UsageError(f"{where}: '{text}' does not read as {type(default).__name__}") from None
    return text
