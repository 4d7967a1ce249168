"""Errors a user can meet. Each is one line that names the thing and the remedy, and carries its exit code."""

import errno
from enum import IntEnum
from pathlib import Path
from typing import ClassVar


class ExitCode(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    COMPILE_FAILED = 1
    USAGE = 2
    TOOL_MISSING = 3
    NUMBERS_DIFFER = 4
    INTERRUPTED = 130


class WorkbenchError(Exception):
    """Base of every expected failure. `str(error)` is the one line shown to the user."""

    exit_code: ClassVar[ExitCode] = ExitCode.COMPILE_FAILED

    trace: Path | None = None
    """Folder of the (partial) trace of the run that failed."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class CompileError(WorkbenchError):
    """A stage could not lower the model: an operation it has no lowering for, a pass that failed, a crash."""


class UsageError(WorkbenchError):
    """The request itself is wrong: an unknown name, a missing size, a damaged file, a wrong shape."""

    exit_code = ExitCode.USAGE


class ToolMissing(WorkbenchError):
    """A program or package that a stage needs is not on this machine."""

    exit_code = ExitCode.TOOL_MISSING


class NumbersDiffer(WorkbenchError):
    """A form was executed and its result is not the reference's."""

    exit_code = ExitCode.NUMBERS_DIFFER


class Interrupted(WorkbenchError):
    """The user stopped the run."""

    exit_code = ExitCode.INTERRUPTED


class Skip(Exception):
    """Raised by a stage that does not apply here; the trace records `skipped, because <reason>`."""


def from_os_error(error: OSError, what: str) -> UsageError:
    """A failed file operation as one line; `what` names the thing when the system does not."""
    remedy = {
        errno.ENOSPC: "; free some space, or give another folder with --runs",
        errno.EACCES: "; give a folder you may write to with --runs",
        errno.EROFS: "; give a folder you may write to with --runs",
    }.get(error.errno or 0, "")
    return UsageError(f"{error.filename or what}: {error.strerror or error}{remedy}")


BY_NAME: dict[str, type[WorkbenchError]] = {
    cls.__name__: cls for cls in (CompileError, UsageError, ToolMissing, NumbersDiffer)
}
