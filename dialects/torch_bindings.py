"""The one door to torch-mlir's own build of MLIR (LLVM 24), which imports models. It lives in a process of its own.

Values are printed under the names of the model's nodes (`%layer1.0.conv1`), which their locations carry.
"""

import hashlib
import importlib
import re
from collections.abc import Generator, Iterator
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

_ILLEGAL = re.compile(r"failed to legalize operation '([^']+)'")
_ONNX = re.compile(r'"onnx\.(\w+)"')
_CONSTANTS = ("torch.vtensor.literal", "torch.constant.int", "torch.constant.float", "torch.constant.bool")
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
    errors: list[tuple[str, str]] = []

    def collect(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            errors.append((str(diagnostic.message), str(diagnostic.location)))
        return True

    # Some passes report an error and carry on; without a handler that ends in an assertion of the bindings.
    context.emit_error_diagnostics = True
    handler = context.attach_diagnostic_handler(collect)
    try:
        _passes.PassManager.parse(pipeline, context=context).run(module.operation)
    except (ir.MLIRError, ValueError) as error:
        raise CompileError(_explain(module, *errors[0]) if errors else first_line(error)) from None
    finally:
        handler.detach()
    if errors:
        raise CompileError(_explain(module, *errors[0]))


def run_transform(module: Module, script: str) -> None:
    """Importers have no schedules: raises CompileError."""
    raise CompileError("transform scripts run after the import, on linalg")


def node_of(location: Any) -> str:
    """The name of the model's node that a location carries, or "" when it has none."""
    match = _NAMED.search(str(location))
    return match[1] if match else ""


def _explain(module: Module, message: str, location: str) -> str:
    illegal = _ILLEGAL.match(message)
    if illegal is None:
        return _at(message.splitlines()[0], location)
    named = _ONNX.search(message)
    name, place = (named[1] if named else illegal[1]), location
    if name in _CONSTANTS:
        # A constant fails only because the operation that reads it did.
        name, place = next(_readers(module, name, location), (name, place))
    return f"{_at(name, place)} has no lowering for these types and attributes; export the model without it"


def _at(what: str, location: str) -> str:
    node = node_of(location)
    return f"{what} at node '{node}'" if node else what


def _readers(module: Module, name: str, location: str) -> Iterator[tuple[str, str]]:
    """Operations that read a constant, by name and location."""
    found: list[tuple[str, str]] = []

    def visit(op: Any) -> None:
        if op.operation.name == name and str(op.location) == location:
            for use in op.operation.result.uses:
                reader = use.owner.operation
                onnx = _ONNX.search(str(reader)) if reader.name == "torch.operator" else None
                found.append((onnx[1] if onnx else reader.name, str(reader.location)))

    walk(module, visit)
    # Lists are read by the operation meant.
    yield from sorted(found, key=lambda reader: reader[0].startswith("torch.prim."))
