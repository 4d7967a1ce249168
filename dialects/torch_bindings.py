"""The one door to torch-mlir's own build of MLIR (LLVM 24), which imports models. It lives in a process of its own.

Values are printed under the names of the model's nodes (`%layer1.0.conv1`), which their locations carry.
"""

import hashlib
import importlib
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

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
    "parse",
    "passes_of",
    "run_pipeline",
    "run_transform",
    "text_of",
    "walk",
]

ir: Any = importlib.import_module("torch_mlir.ir")
"""torch-mlir's `ir` module, untyped: its stubs name little of what it has."""
_torch: Any = importlib.import_module("torch_mlir.dialects.torch")
_passes: Any = importlib.import_module("torch_mlir.passmanager")

INLINE = 16
"""Constants of up to this many elements stay in the text."""

_NAMED = re.compile(r'[(\[ ]"([^"]+)"(?!:\d)')


def new_context() -> Any:
    """A context with the torch dialect and one thread."""
    context = ir.Context()
    context.enable_multithreading(False)
    _torch.register_dialect(context)
    return context


def parse(text: str) -> Module:
    """Parse a module in a fresh context; raises CompileError with MLIR's own first line."""
    try:
        return ir.Module.parse(text, context=new_context())
    except ir.MLIRError as error:
        raise CompileError(f"the IR does not parse: {first_line(error)}") from None


def clone(module: Module) -> Module:
    """An independent copy of a module, in its context."""
    return module.operation.clone()


@contextmanager
def inside(module: Module) -> Generator[None]:
    """Make the module's context current, with an unknown default location."""
    with module.operation.context, ir.Location.unknown():
        yield


def text_of(module: Module, located: bool = False) -> str:
    """Assembly of a module, large constants elided; with `located`, with its source locations."""
    return module.operation.get_asm(enable_debug_info=located, large_elements_limit=INLINE, use_name_loc_as_prefix=True)


def fingerprint(module: Module) -> bytes:
    """A digest of the text: bytecode would write every large constant after every pass."""
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
        _passes.PassManager.parse(pipeline, context=context).run(module.operation)
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
    printed = str(_passes.PassManager.parse(f"builtin.module({pipeline})", context=new_context()))
    return printed.removeprefix("builtin.module(").removesuffix(")")


def node_of(location: Any) -> str:
    """The name of the model's node that a location carries, or "" when it has none."""
    match = _NAMED.search(str(location))
    return match[1] if match else ""


def _explain(message: str, location: Any) -> str:
    head = message.partition(":")[0] if message.startswith("failed to legalize") else message.splitlines()[0]
    node = node_of(location)
    return f"{head} at node '{node}'" if node else head
