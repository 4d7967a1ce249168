"""A fleet on one machine, to try things out: TVM's tracker, and TVM's servers as its devices."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from pipelines.tvm.bindings import load
from pipelines.tvm.tuning.fleet import queues
from workbench.core.errors import ToolMissing, UsageError
from workbench.core.tuning import Devices, Progress

START_SECONDS = 90.0
WATCH_SECONDS = 0.5
FIRST_PORT = 9090


def serve(host: str, port: int, key: str, count: int, threads: int, tell: Progress) -> None:
    """Keep a tracker at `host`:`port` and `count` devices until this process is interrupted or its parent is gone.

    A device that ends, as TVM's server does when a candidate crashes in it, is started again. Raises UsageError when
    the port is taken.
    """
    # A shell's background job starts with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parent = os.getppid()
    devices = Devices(f"{host}:{port}", key)
    tracker = _start("tracker", host, str(port), threads=threads)
    servers = [tracker]
    try:
        _wait(lambda: _answers(devices), tracker, devices)
        servers += [_start("device", host, str(port), key, threads=threads) for _ in range(count)]
        _wait(lambda: sum(q.total for q in queues(devices) if q.key == key) == count, tracker, devices)
        tell({"tracker": devices.tracker, "key": key, "pids": [server.pid for server in servers[1:]]})
        while os.getppid() == parent and tracker.poll() is None:
            for number, server in enumerate(servers[1:], 1):
                if server.poll() is not None:
                    _end(server)
                    servers[number] = _start("device", host, str(port), key, threads=threads)
                    tell({"restarted": number, "ended": server.pid, "pid": servers[number].pid})
            time.sleep(WATCH_SECONDS)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    finally:
        for server in servers:
            _end(server)


def _answers(devices: Devices) -> bool:
    try:
        queues(devices)
    except ToolMissing:
        return False
    return True


def _wait(ready: Callable[[], bool], tracker: "subprocess.Popen[bytes]", devices: Devices) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not ready():
        if tracker.poll() is not None:
            raise UsageError(f"no tracker can start at {devices.tracker}: the port is taken; give another with --port")
        if time.monotonic() > deadline:
            raise ToolMissing(f"TVM's servers were not up within {START_SECONDS:g} s")
        time.sleep(WATCH_SECONDS)


def _start(*role: str, threads: int) -> "subprocess.Popen[bytes]":
    """A server in a session of its own: what ends it ends all that it started, and Ctrl-C comes to us alone."""
    environ = os.environ | {"TVM_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "pipelines.tvm.tuning.serve", *role]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, env=environ)


def _end(server: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def main(argv: list[str]) -> int:
    """The process of one server: `tracker HOST PORT` or `device HOST PORT KEY`; it ends with TVM's thread of it."""
    role, host, port = argv[0], argv[1], int(argv[2])
    parent = os.getppid()
    try:
        thread = _tracker(host, port) if role == "tracker" else _device(host, port, argv[3])
    except (OSError, ValueError) as error:
        print(f"{role}: {error}", file=sys.stderr)
        return 1
    while thread.is_alive() and os.getppid() == parent:
        thread.join(WATCH_SECONDS)
    os.killpg(0, signal.SIGKILL)
    return 0


def _tracker(host: str, port: int) -> Any:
    return load("rpc.tracker").PopenTrackerServerState(host, port, port + 1, silent=True).thread


def _device(host: str, port: int, key: str) -> Any:
    state = load("rpc.server").PopenRPCServerState
    return state(host, FIRST_PORT, 1 << 16, tracker_addr=(host, port), key=key, silent=True).thread


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
