"""One compiler job in its own process: a crash, an abort or an endless pass ends the job, not the user's program."""

import contextlib
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbench.core.errors import BY_NAME, CompileError, WorkbenchError, from_os_error

Message = dict[str, Any]
Send = Callable[[Message], None]

_GRACE_SECONDS = 3.0
_ABORTED = re.compile(r"^(.+)\nFatal Python error: Aborted$", re.MULTILINE)


class WorkerCrashed(CompileError):
    """The job's process died; `signal_name` says how ("SIGSEGV", "SIGABRT", "time limit").

    `reason` is the line it printed as it aborted, "" when there is none.
    """

    def __init__(self, message: str, signal_name: str, reason: str = "") -> None:
        super().__init__(message)
        self.signal_name = signal_name
        self.reason = reason


HERE = (sys.executable, "-m", "workbench.worker")
"""The command that starts a worker with this Python."""


def run_job(
    job: str,
    params: Message,
    log: Path,
    on_message: Send,
    seconds: float,
    command: Sequence[str] = HERE,
    env: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Run `job` ("module:function", called with `params` and a function that sends messages) in a fresh process.

    `command` starts a worker, of this Python or of a toolchain's, with `env` on top of this process's. Its stdout and
    stderr go to `log`. Returns what the function returned (JSON). Raises the WorkbenchError that the function raised,
    or WorkerCrashed when the process died or passed `seconds`; KeyboardInterrupt ends the job first.
    """
    read, write = os.pipe()
    with log.open("ab") as output:
        logged = output.tell()
        process = subprocess.Popen(
            [*command, job, str(write)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=(write,),
            env={**os.environ, "PYTHONFAULTHANDLER": "1", **env},
        )
    os.close(write)
    try:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(json.dumps(params).encode())
        with os.fdopen(read, encoding="utf-8") as messages:
            result = _listen(process, messages.fileno(), on_message, time.monotonic() + seconds)
    except BaseException:
        _stop(process)
        raise
    code = process.wait()
    if result is None:
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        reason = _reason(log, logged)
        said = f" ({how}): {reason}" if reason else f" ({how}); its last words are in {log}"
        raise WorkerCrashed(f"the compiler process died{said}", how, reason)
    if "error" in result:
        raise BY_NAME.get(result["error"], CompileError)(result["message"])
    return result["result"]


def _reason(log: Path, start: int) -> str:
    """The line before Python's report of an abort, in the log from byte `start` on."""
    with log.open("rb") as text:
        text.seek(start)
        match = _ABORTED.search(text.read().decode(errors="replace"))
    return match[1].strip() if match else ""


def _listen(process: "subprocess.Popen[bytes]", fd: int, on_message: Send, deadline: float) -> Message | None:
    import select

    pending = b""
    while True:
        if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            _stop(process)
            raise WorkerCrashed("the compiler passed its time limit; raise it with --timeout", "time limit")
        data = os.read(fd, 1 << 16)
        if not data:
            return None
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "result" in message or "error" in message:
                return message
            on_message(message)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End the process: politely, so that it can close its trace, then for good."""
    with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
        process.send_signal(signal.SIGINT)
        process.wait(_GRACE_SECONDS)
        return
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()


def main(argv: list[str]) -> int:
    """Entry point of the worker process: `workbench.worker module:function FD`, parameters as JSON on stdin."""
    job, fd = argv
    channel = os.fdopen(int(fd), "w", encoding="utf-8")

    def send(message: Message) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    try:
        params = json.load(sys.stdin)
        module, _, name = job.partition(":")
        send({"result": getattr(importlib.import_module(module), name)(params, send)})
    except WorkbenchError as error:
        send({"error": _public_name(error), "message": str(error)})
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        send({"error": "UsageError", "message": str(from_os_error(error, "the trace"))})
    except Exception as error:
        traceback.print_exc()
        send({"error": "CompileError", "message": f"internal error: {type(error).__name__}: {error}"})
    return 0


def _public_name(error: WorkbenchError) -> str:
    return next(c.__name__ for c in type(error).__mro__ if c.__name__ in BY_NAME)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
