"""The one door to torch-mlir's own build of MLIR (LLVM 24), which imports models. It lives in a process of its own.

Text that leaves here has its large constants elided: weights stay out of what people read until `lift-constants`.
"""

import hashlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from torch_mlir import ir  # pyright: ignore[reportMissingImports]
from torch_mlir.dialects import torch as torch_dialect  # pyright: ignore[reportMissingImports]
from torch_mlir.passmanager import PassManager  # pyright: ignore[reportMissingImports]

from dialects.protocol import Module, first_line, walk
from workbench.core.errors import CompileError

__all__ = [
    "INLINE",
    "clone",
    "fingerprint",
    "inside",
    "ir",
    "new_context",
    "node_of",
    "passes_of",
    "run_pipeline",
    "run_transform",
    "text_of",
    "walk",
]

INLINE = 16
"""Constants of up to this many elements stay in the text."""


def new_context() -> Any:
    """A context with the torch dialect and one thread."""
    context = ir.Context()
    context.enable_multithreading(False)
    torch_dialect.register_dialect(context)
    return context


def clone(module: Module) -> Module:
    """An independent copy of a module, in its context; large constants are shared."""
    return module.operation.clone()


@contextmanager
def inside(module: Module) -> Generator[None]:
    """Make the module's context current, with an unknown default location."""
    with module.operation.context, ir.Location.unknown():
        yield


def text_of(module: Module, located: bool = False) -> str:
    """Assembly of a module without its large constants; with `located`, with its source locations."""
    return module.operation.get_asm(
        enable_debug_info=located, large_elements_limit=INLINE, large_resource_limit=INLINE, skip_regions=False
    )


def fingerprint(module: Module) -> bytes:
    """A digest of the text: bytecode would write every weight after every pass."""
    return hashlib.sha256(text_of(module).encode()).digest()


def run_pipeline(module: Module, pipeline: str) -> None:
    """Run a textual pass pipeline; raises CompileError naming the operation that failed and the model's node."""
    context = module.operation.context
    errors: list[str] = []

    def collect(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            errors.append(_explain(str(diagnostic.message), diagnostic.location))
        return True

    # Some passes report an error and carry on; without a handler that ends in an assertion of the bindings.
    context.emit_error_diagnostics = True
    handler = context.attach_diagnostic_handler(collect)
    try:
        PassManager.parse(pipeline, context=context).run(module.operation)
    except (ir.MLIRError, ValueError) as error:
        raise CompileError(errors[0] if errors else first_line(error)) from None
    finally:
        handler.detach()
    if errors:
        raise CompileError(errors[0])


def run_transform(module: Module, script: str) -> None:
    """Importers have no schedules: raises CompileError."""
    raise CompileError("transform scripts run after the import, on linalg")


def passes_of(pipeline: str) -> str:
    """The passes a pipeline alias stands for, as the pass manager prints them, anchored on builtin.module."""
    printed = str(PassManager.parse(f"builtin.module({pipeline})", context=new_context()))
    return printed.removeprefix("builtin.module(").removesuffix(")")


def node_of(location: Any) -> str:
    """The name of the model's node that a location carries, or "" when it has none."""
    while location.is_a_fused() or location.is_a_callsite():
        location = location.locations[0] if location.is_a_fused() else location.callee
    return str(location.name_str) if location.is_a_name() else ""


def _explain(message: str, location: Any) -> str:
    head = message.partition(":")[0] if message.startswith("failed to legalize") else message.splitlines()[0]
    node = node_of(location)
    return f"{head} at node '{node}'" if node else head
