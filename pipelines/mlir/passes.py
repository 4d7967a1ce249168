"""Runs MLIR passes one by one so that each can be seen, timed and repeated."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from dialects.protocol import Bindings, Module
from workbench.core.errors import CompileError
from workbench.core.observe import Observers, PassRecord


def split_pipeline(pipeline: str) -> list[tuple[tuple[str, ...], str]]:
    """The passes of "a,func.func(b,c{x=1})" with the operations they are nested in.

    >>> split_pipeline("cse,func.func(affine-scalrep,foo{a=1,2})")
    [((), 'cse'), (('func.func',), 'affine-scalrep'), (('func.func',), 'foo{a=1,2}')]
    """
    return list(_split(pipeline, ()))


def _split(pipeline: str, anchors: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for item in _top_level(pipeline):
        head, bracket, rest = item.partition("(")
        if bracket and "{" not in head:
            yield from _split(rest.removesuffix(")"), (*anchors, head.strip()))
        else:
            yield anchors, item


def _top_level(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    if text[start:].strip():
        yield text[start:].strip()


def pass_name(spec: str) -> str:
    """`canonicalize` of "canonicalize{max-iterations=3}"."""
    return spec.partition("{")[0].strip()


class PassRunner:
    """Changes one module in place, step by step, telling the observers of each step.

    With `capture` off the steps of one `run` call go to the pass manager as a whole and are not recorded: the baseline
    for what recording costs. `repeatable` says that a public tool can repeat a pass on the recorded text; where it
    cannot (elided constants, passes that only a Python package has) the pipeline is kept as an option of the record.
    `text` is the module's text where the caller has it already: printing costs more than most passes.
    """

    def __init__(
        self,
        bindings: Bindings,
        module: Module,
        observers: Observers,
        capture: bool = True,
        repeatable: bool = True,
        text: str | None = None,
    ) -> None:
        self.module = module
        self._mlir = bindings
        self._observers = observers
        self._capture = capture
        self._repeatable = repeatable
        self._text: str | None = text
        if capture:
            self._print = bindings.fingerprint(module)
            observers.enter_module(self.text)

    def run(self, pipeline: str) -> None:
        """Run a textual pipeline anchored on builtin.module; raises CompileError naming the pass."""
        if not self._capture:
            self._mlir.run_pipeline(self.module, f"builtin.module({pipeline})")
            return
        for anchors, spec in split_pipeline(pipeline):
            text = spec
            for anchor in reversed(anchors):
                text = f"{anchor}({text})"
            full = f"builtin.module({text})"
            options = {} if self._repeatable else {"pipeline": full}
            self._step(
                pass_name(spec),
                full if self._repeatable else "",
                lambda full=full: self._mlir.run_pipeline(self.module, full),
                options,
            )

    def rewrite(self, name: str, change: Callable[[Module], None]) -> None:
        """Apply a rewrite written in Python, recorded as a pass without a public pipeline."""
        if self._capture:
            self._step(name, "", lambda: change(self.module))
        else:
            change(self.module)

    def transform(self, name: str, script: str) -> None:
        """Apply a transform-dialect script, recorded as a pass."""
        if self._capture:
            self._step(name, "", lambda: self._mlir.run_transform(self.module, script), {"script": script})
        else:
            self._mlir.run_transform(self.module, script)

    def _step(
        self, name: str, pipeline: str, change: Callable[[], None], options: dict[str, Any] | None = None
    ) -> None:
        self._observers.before_pass(name, pipeline)
        started = time.perf_counter()
        try:
            change()
        except CompileError as error:
            seconds = time.perf_counter() - started
            self._text = None
            self._observers.after_pass(PassRecord(name, pipeline, True, seconds, self.text, str(error), options or {}))
            raise CompileError(f"pass '{name}': {error}") from None
        seconds = time.perf_counter() - started
        now = self._mlir.fingerprint(self.module)
        changed, self._print = now != self._print, now
        if changed:
            self._text = None
        self._observers.after_pass(PassRecord(name, pipeline, changed, seconds, self.text, options=options or {}))

    def text(self) -> str:
        """The module's text as it is now, printed once."""
        if self._text is None or not self._capture:
            self._text = self._mlir.text_of(self.module)
        return self._text
