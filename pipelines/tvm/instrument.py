"""Every pass that TVM runs, of Relay and of TIR, told to the observers by one instrument."""

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from pipelines.tvm import text as forms_of_tvm
from pipelines.tvm.bindings import OPT_LEVEL, load, said
from workbench.core.kinds import IRKind
from workbench.core.observe import Observers, PassRecord
from workbench.core.stage import Context


class Forms(Protocol):
    """How one version of TVM prints and compares modules; its `text` module is one."""

    def kind_of(self, module: Any) -> IRKind:
        """The level of a module."""
        ...

    def text_of(self, module: Any) -> str:
        """The module's own text."""
        ...

    def functions_of(self, module: Any) -> dict[str, Any]:
        """Functions by name."""
        ...

    def same(self, a: Any, b: Any) -> bool:
        """Whether two modules are the same."""
        ...


@dataclass(frozen=True)
class _Running:
    name: str
    module: Any
    started: float


class PassListener:
    """What the instrument does before and after each pass; passes run inside of passes, so the running ones stack.

    Texts are printed when an observer asks, and the last few are kept: most passes start where another one ended.
    """

    def __init__(self, observers: Observers, forms: Forms) -> None:
        self._observers = observers
        self._forms = forms
        self._running: list[_Running] = []
        self._printed: list[tuple[Any, str]] = []

    def run_before_pass(self, module: Any, info: Any) -> None:
        """TVM is about to run a pass."""
        self._observers.before_pass(str(info.name), "")
        self._running.append(_Running(str(info.name), module, time.perf_counter()))

    def run_after_pass(self, module: Any, info: Any) -> None:
        """A pass gave `module`."""
        running = self._running.pop()
        seconds = time.perf_counter() - running.started
        self._tell(running, module, seconds, not self._forms.same(running.module, module), "")

    def failed(self, error: BaseException) -> None:
        """End the passes that an error left running, the innermost first."""
        while self._running:
            running = self._running.pop()
            self._tell(running, running.module, time.perf_counter() - running.started, False, said(error))

    def _tell(self, running: _Running, after: Any, seconds: float, changed: bool, error: str) -> None:
        names = list(self._forms.functions_of(after))
        record = PassRecord(
            running.name,
            pipeline="",
            changed=changed,
            seconds=seconds,
            after=lambda: self._text(after),
            error=error,
            before=lambda: self._text(running.module),
            kind=self._forms.kind_of(after),
            depth=len(self._running),
            symbol=names[0] if len(names) == 1 else "",
        )
        self._observers.after_pass(record)

    def _text(self, module: Any) -> str:
        for printed, text in self._printed:
            if printed.same_as(module):
                return text
        text = self._forms.text_of(module)
        self._printed = [*self._printed[-3:], (module, text)]
        return text


@contextmanager
def passes(ctx: Context, config: Mapping[str, Any] | None = None) -> Generator[None]:
    """Run TVM inside this block at `OPT_LEVEL`, its passes recorded where the context wants that."""
    tvm = load()
    listener = tvm.instrument.pass_instrument(PassListener)(ctx.observers, forms_of_tvm)
    instruments = [listener] if ctx.capture else []
    with tvm.transform.PassContext(opt_level=OPT_LEVEL, instruments=instruments, config=dict(config or {})):
        try:
            yield
        except BaseException as error:
            listener.failed(error)
            raise
