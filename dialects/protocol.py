"""What a build of MLIR's Python bindings must offer, and what works with any of them.

Two builds live in two processes: upstream 22 (`dialects.bindings`) and torch-mlir's (`dialects.torch_bindings`). Each
of those modules is a `Bindings`.
"""

from collections.abc import Callable
from typing import Any, Protocol

Module = Any
"""An `ir.Module`, or the `builtin.module` operation of a copy: both have `.operation` and `.body`."""
Operation = Any
"""An `ir.Operation` or an OpView of either build."""


class Bindings(Protocol):
    """The functions that recording and running passes needs."""

    def text_of(self, module: Module, located: bool = False) -> str:
        """Assembly of a module; with `located`, with its source locations."""
        ...

    def fingerprint(self, module: Module) -> bytes:
        """Bytes that are equal when the module is unchanged."""
        ...

    def run_pipeline(self, module: Module, pipeline: str) -> None:
        """Run a textual pass pipeline in place; raises CompileError."""
        ...

    def run_transform(self, module: Module, script: str) -> None:
        """Apply a transform-dialect script in place; raises CompileError."""
        ...


def first_line(error: Exception) -> str:
    """The line of an MLIR diagnostic that says what is wrong, with the place it names."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Failure while executing pass pipeline")]
    wanted = [line for line in lines if "error:" in line] or lines
    return (wanted or ["unknown MLIR error"])[0].removeprefix("error:").strip()[:600]


def walk(root: Operation, visit: Callable[[Operation], None]) -> None:
    """Call `visit` on every operation below `root`, innermost first. `visit` may erase the operation it is given."""
    for region in root.operation.regions:
        for block in region.blocks:
            for op in list(block.operations):
                walk(op, visit)
                visit(op)
