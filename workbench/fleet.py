"""The verbs `fleet start` and `fleet status`: devices on loopback to try a fleet out, and what a tracker has."""

import signal
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.catalog import ROUTES
from workbench.core.errors import UsageError
from workbench.core.route import Route
from workbench.core.tuning import Devices, Progress, Queue
from workbench.toolchain import worker_command
from workbench.worker import run_job

LOOPBACK = "127.0.0.1"
STATUS_SECONDS = 120.0
FOREVER_SECONDS = 365 * 24 * 3600.0


@dataclass(frozen=True)
class FleetRequest:
    """`devices` servers under `key`, each computing with `threads` threads, and their tracker on `port`."""

    devices: int
    key: str
    port: int
    threads: int
    route: str = "tvm"


def start(request: FleetRequest, progress: Progress) -> None:
    """Keep a fleet on loopback until SIGINT or SIGTERM, which end all of it.

    Tells {"tracker", "key", "pids"} when every device is there, {"restarted", "ended", "pid"} for one that was started
    again. Raises UsageError when the port is taken.
    """
    for name, value, most in (("--devices", request.devices, 256), ("--port", request.port, 65535)):
        if not 1 <= value <= most:
            raise UsageError(f"{name} takes 1 to {most}, not {value}")
    params = asdict(request) | {"host": LOOPBACK}
    with _ended_by_sigterm():
        try:
            _job(request.route, "serve", params, progress, FOREVER_SECONDS)
        except KeyboardInterrupt:
            return


def status(route: str, tracker: str) -> tuple[Queue, ...]:
    """What a tracker has by key; raises ToolMissing when none answers."""
    params = {"devices": asdict(Devices(tracker))}
    return tuple(Queue(**row) for row in _job(route, "queues", params, lambda _: None, STATUS_SECONDS))


def _job(route: str, job: str, params: dict[str, Any], progress: Progress, seconds: float) -> Any:
    named: Route = ROUTES.load(route)
    if named.tuning is None:
        raise UsageError(f"route '{route}' has nothing to tune")
    tuning = named.tuning
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "worker.log"
        return run_job(f"{tuning.jobs}:{job}", params, log, progress, seconds, worker_command(tuning.process))


@contextmanager
def _ended_by_sigterm() -> Generator[None]:
    """SIGTERM does what Ctrl-C does: it ends the job, which ends its servers."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
