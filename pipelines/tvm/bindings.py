"""The one door to TVM 0.19's Python package. Importing this module loads nothing; the first `load` does.

TVM carries few types, so what comes out is `Any` or plain Python data.
"""

import difflib
import importlib
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from workbench.core.errors import CompileError, ToolMissing, UsageError
from workbench.core.target import Target

OPT_LEVEL = 3
"""Relay's optimisation level: every pass that keeps the numbers."""

_ERROR = re.compile(r"^\s*(?:[\w.]*\.)?(\w*(?:Error|NotImplemented|Invalid)\w*): (.*:\s*\n.*|.*)$", re.MULTILINE)


def load(module: str = "", threads: int = 1) -> Any:
    """Import `tvm` or `tvm.<module>`; raises ToolMissing with the line that installs it.

    `threads` counts only at the first call of a process: TVM reads it when it loads.
    """
    # Without this TVM tries to download schedules for known chips, and waits where there is no network.
    os.environ["TOPHUB_LOCATION"] = "NONE"
    os.environ.setdefault("TVM_NUM_THREADS", str(threads))
    try:
        return importlib.import_module(f"tvm.{module}" if module else "tvm")
    except (ImportError, OSError) as error:
        raise ToolMissing(f"TVM does not load ({error}); run: pip install -e '.[tvm]' (in the checkout)") from None


def machine(target: Target) -> Any:
    """TVM's target for a CPU: LLVM's name of it, which decides vector width, and the number of threads.

    Raises UsageError for a CPU that LLVM does not know: TVM would silently compile for a generic one.
    """
    tvm = load(threads=target.threads)
    codegen = load("target.codegen")
    cpu = str(codegen.llvm_get_system_cpu()) if target.cpu == "native" else target.cpu
    known = {str(name) for name in codegen.llvm_get_cpu_archlist(tvm.target.Target("llvm"))}
    if cpu not in known:
        near = difflib.get_close_matches(cpu, known, 3)
        raise UsageError(f"LLVM knows no CPU '{cpu}'; give one that it knows, such as {', '.join(near or ['znver4'])}")
    return tvm.target.Target(f"llvm -mcpu={cpu} -num-cores={target.threads}")


def said(error: BaseException) -> str:
    """The sentence in one of TVM's errors, which carry two stacks of calls around it."""
    text = str(error)
    found = [f"{kind}: {message}" for kind, message in _ERROR.findall(text) if message]
    line = found[-1] if found else next((x.strip() for x in text.splitlines() if x.strip()), "no message")
    return f"{line}"[:400] if found else f"{type(error).__name__}: {line}"[:400]


_PYTHON_ERRORS = (ValueError, TypeError, LookupError, AttributeError, AssertionError, RuntimeError)
"""What TVM's Python code raises for a model it cannot take (NotImplementedError is a RuntimeError)."""


@contextmanager
def refusals(doing: str) -> Generator[None]:
    """Turn TVM's errors into a CompileError: `doing` and TVM's own sentence."""
    tvm = load()
    try:
        yield
    except (tvm.error.TVMError, *_PYTHON_ERRORS) as error:
        raise CompileError(f"{doing}: {said(error)}") from error
