"""The one door to TVM 0.27's Python package. Importing this module loads nothing; the first `load` does.

The package is also called `tvm` where TVM 0.19 is meant: stages that use this one run in the relax toolchain.
"""

import difflib
import importlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from pipelines.tvm.bindings import said
from workbench.core.errors import CompileError, ToolMissing, UsageError
from workbench.core.target import Target

PROCESS = "relax"
"""The toolchain that stages of this route run in."""


def load(module: str = "", threads: int = 1) -> Any:
    """Import `tvm` or `tvm.<module>`; raises ToolMissing with the line that installs it.

    `threads` counts only at the first call of a process: TVM reads it when it loads.
    """
    os.environ.setdefault("TVM_NUM_THREADS", str(threads))
    try:
        return importlib.import_module(f"tvm.{module}" if module else "tvm")
    except (ImportError, OSError) as error:
        raise ToolMissing(f"TVM does not load ({error}); run: workbench toolchain install relax") from None


def load_ffi() -> Any:
    """The package under TVM that holds its objects."""
    load()
    return importlib.import_module("tvm_ffi")


def host(target: Target) -> Any:
    """TVM's target for a CPU by LLVM's name of it. Raises UsageError for a CPU that LLVM does not know."""
    tvm = load(threads=target.threads)
    codegen = load("target.codegen")
    cpu = str(codegen.llvm_get_system_cpu()) if target.cpu in ("native", "") else target.cpu
    known = {str(name) for name in codegen.llvm_get_cpu_archlist(tvm.target.Target("llvm"))}
    if cpu not in known:
        near = difflib.get_close_matches(cpu, known, 3)
        raise UsageError(f"LLVM knows no CPU '{cpu}'; give one that it knows, such as {', '.join(near or ['znver4'])}")
    return tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": target.threads})


def device(target: Target) -> Any:
    """TVM's target for a CUDA chip, launched from the host."""
    tvm = load(threads=target.threads)
    return tvm.target.Target({"kind": "cuda", "arch": target.chip}).with_host(host(target))


@contextmanager
def refusals(doing: str) -> Generator[None]:
    """Turn TVM's errors into a CompileError: `doing` and TVM's own sentence."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError, LookupError, AttributeError, AssertionError) as error:
        raise CompileError(f"{doing}: {said(error)}") from error
