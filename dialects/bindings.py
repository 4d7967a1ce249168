"""The one door to MLIR's Python bindings (upstream 22.1): contexts, parsing, printing, passes, transform scripts.

Importing this module loads nothing; the first call does, or raises ToolMissing. The bindings carry no types, so what
comes out is `Any` or plain Python data.
"""

import importlib
import io
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from dialects.protocol import Module, Operation, first_line, walk
from workbench.core.errors import CompileError, ToolMissing

__all__ = [
    "Module",
    "Operation",
    "clone",
    "fingerprint",
    "first_line",
    "inside",
    "load",
    "parse",
    "public_functions",
    "run_pipeline",
    "run_transform",
    "text_of",
    "walk",
]


def load(module: str) -> Any:
    """Import `mlir.<module>`; raises ToolMissing with the line that installs it."""
    try:
        return importlib.import_module(f"mlir.{module}")
    except ImportError as error:
        raise ToolMissing(
            f"the MLIR bindings do not load ({error}); run: pip install -e '.[mlir]' (in the checkout)"
        ) from None


def parse(text: str, near: Module | None = None) -> Module:
    """Parse a module, in the context of `near` or in a fresh one (every upstream dialect, one thread).

    Raises CompileError with MLIR's own first line.
    """
    ir = load("ir")
    context = near.operation.context if near is not None else ir.Context()
    context.enable_multithreading(False)
    try:
        return ir.Module.parse(text, context=context)
    except ir.MLIRError as error:
        raise CompileError(f"the IR does not parse: {first_line(error)}") from None


def clone(module: Module) -> Module:
    """An independent copy of a module, in its context.

    Through bytecode: a transform script applied to what `Operation.clone` gives corrupts the heap.
    """
    return load("ir").Module.parse(fingerprint(module), context=module.operation.context)


@contextmanager
def inside(module: Module) -> Generator[None]:
    """Make the module's context current, with an unknown default location."""
    with module.operation.context, load("ir").Location.unknown():
        yield


def text_of(module: Module, located: bool = False) -> str:
    """Assembly of a module; with `located`, with its source locations as aliases. Passes have verified it."""
    return module.operation.get_asm(enable_debug_info=located, assume_verified=True)


def fingerprint(module: Module) -> bytes:
    """Bytes that are equal when the module is unchanged. Cheaper than text, and aware of every attribute."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def run_pipeline(module: Module, pipeline: str) -> None:
    """Run a textual pass pipeline; raises CompileError with the failed operation and its location."""
    ir = load("ir")
    try:
        load("passmanager").PassManager.parse(pipeline, context=module.operation.context).run(module.operation)
    except (ir.MLIRError, ValueError) as error:
        raise CompileError(f"{pipeline}: {first_line(error)}") from None


def run_transform(module: Module, script: str) -> None:
    """Apply a transform-dialect script (a module with `@__transform_main`); raises CompileError."""
    ir = load("ir")
    interpreter = load("dialects.transform.interpreter")
    schedule = parse(script, near=module)
    try:
        interpreter.apply_named_sequence(module.operation, schedule.body.operations[0].operation, schedule.operation)
    except (ir.MLIRError, ValueError) as error:
        raise CompileError(f"transform: {first_line(error)}") from None


def public_functions(module: Module) -> list[Operation]:
    """The functions with a body that can be called from outside the module."""
    return [
        op
        for op in module.body.operations
        if op.operation.name == "func.func" and op.regions[0].blocks and "sym_visibility" not in op.attributes
    ]
