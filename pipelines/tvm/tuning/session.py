"""One candidate on one device: upload, run, time. TVM's client gets a process of its own, which may break with it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.tvm.bindings import load, said
from pipelines.tvm.tuning.fleet import Device, is_lost

GRACE_SECONDS = 10.0
"""How long after the end of its session a device may be silent."""
UPLOAD_SECONDS = 20.0
"""What a session may take beside the runs: the device links the library that it gets."""


@dataclass(frozen=True)
class Timing:
    """`repeat` times as many runs as take `min_repeat_ms`, at least `number`; all of them within `seconds`.

    `flush` takes all arguments but the first out of the caches before each run.
    """

    seconds: float
    number: int
    repeat: int
    min_repeat_ms: int
    flush: bool


@dataclass(frozen=True)
class Candidate:
    """A built library whose entry function takes arrays of these shapes and dtypes."""

    library: str
    arrays: tuple[tuple[tuple[int, ...], str], ...]


@dataclass(frozen=True)
class Ran:
    """What came of it: `costs` in seconds a run, or why it `failed`.

    "refused": no session was opened, so nothing is known of the candidate; "lost": the device went away in it;
    "load", "launch", "timeout": the candidate's own failures.
    """

    costs: tuple[float, ...] = ()
    failed: str = ""
    message: str = ""
    seconds: float = 0.0


class Client:
    """Runs candidates one at a time in a process of its own, which is made anew when it breaks."""

    def __init__(self) -> None:
        self._worker: Any = load("contrib.popen_pool").PopenWorker()

    def ready(self) -> None:
        """Have the process up, so that a device does not wait for it."""
        self._worker.send(load, ("rpc",))
        self._worker.recv()

    def run(self, device: Device, candidate: Candidate, timing: Timing) -> Ran:
        """Run a candidate on a device that was given to us just now."""
        limit = timing.seconds + UPLOAD_SECONDS + GRACE_SECONDS
        self._worker.send(run_on, (device, candidate, timing), timeout=limit)
        try:
            return self._worker.recv()
        except TimeoutError:
            return Ran(failed="lost", message=f"silent for {limit:g} s", seconds=limit)
        except ChildProcessError:
            return Ran(failed="lost", message="TVM's client died with it")


def run_on(device: Device, candidate: Candidate, timing: Timing) -> Ran:
    """Run a candidate here and now; raises nothing of TVM's."""
    started = time.monotonic()
    doing = "refused"
    try:
        remote = load("rpc").connect(
            device.host, device.port, device.matchkey, session_timeout=timing.seconds + UPLOAD_SECONDS
        )
        doing = "load"
        remote.upload(candidate.library)
        library = remote.load_module(Path(candidate.library).name)
        doing = "launch"
        return Ran(_costs(remote, library, candidate, timing), seconds=time.monotonic() - started)
    except _raised_by_tvm() as error:
        failed = _kind(doing, str(error))
        return Ran(failed=failed, message=said(error), seconds=time.monotonic() - started)


def _kind(doing: str, message: str) -> str:
    if "RPCSessionTimeoutError" in message:
        return "timeout"
    return "lost" if doing != "refused" and is_lost(message) else doing


def _raised_by_tvm() -> tuple[type[BaseException], ...]:
    return (load("error").TVMError, OSError, RuntimeError, ValueError, TypeError)


def _costs(remote: Any, library: Any, candidate: Candidate, timing: Timing) -> tuple[float, ...]:
    device = remote.cpu(0)
    fill: Callable[[Any], None] = remote.get_function("tvm.contrib.random.random_fill")
    arrays = [load("runtime.ndarray").empty(shape, dtype, device) for shape, dtype in candidate.arrays]
    for array in arrays:
        fill(array)
    evaluate = library.time_evaluator(
        library.entry_name,
        device,
        number=timing.number,
        repeat=timing.repeat,
        min_repeat_ms=timing.min_repeat_ms,
        f_preproc="cache_flush_cpu_non_first_arg" if timing.flush else "",
    )
    return tuple(float(cost) for cost in evaluate(*arrays).results)
