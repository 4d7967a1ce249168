"""Every pass that TVM runs, of Relax and of TIR, told to the observers."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from pipelines.relax import text
from pipelines.relax.bindings import load
from pipelines.tvm.instrument import PassListener
from workbench.core.stage import Context

OPT_LEVEL = 3
"""Relax's optimisation level: every pass that keeps the numbers."""


@contextmanager
def passes(ctx: Context) -> Generator[None]:
    """Run TVM inside this block, its passes recorded where the context wants that."""
    tvm = load()
    listener = tvm.ir.instrument.pass_instrument(PassListener)(ctx.observers, text)
    with tvm.transform.PassContext(opt_level=OPT_LEVEL, instruments=[listener] if ctx.capture else []):
        try:
            yield
        except BaseException as error:
            listener.failed(error)
            raise


def run(ctx: Context, module: Any, target: Any, steps: Sequence[Any]) -> Any:
    """The module after the passes `steps`, for `target`."""
    with passes(ctx), target:
        for step in steps:
            module = step(module)
    return module
