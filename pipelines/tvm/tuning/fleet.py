"""Devices behind TVM's RPC tracker: what there is, and how to get one of them."""

import re
import select
import socket
import struct
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pipelines.tvm.bindings import load
from workbench.core.errors import ToolMissing, UsageError
from workbench.core.tuning import Devices, Queue

ANSWER_SECONDS = 5.0
POLL_SECONDS = 1.0
BUSY_SECONDS = 600.0
"""How long to wait for devices that are there, but work for others."""

_LOST = re.compile(r"RPCCode::kReturn|SockChannel|Socket .*Error|connection (reset|refused)|broken pipe", re.IGNORECASE)


def is_lost(message: str) -> bool:
    """Whether an error of TVM's says that the device went away, and nothing of what ran on it.

    A session that ran out of time is not lost: the device itself says so, and goes on.
    """
    return "RPCSessionTimeoutError" not in message and _LOST.search(message) is not None


@dataclass(frozen=True)
class Device:
    """A device that the tracker gave to us: `matchkey` opens one session at `host`:`port`, within 6 seconds."""

    host: str
    port: int
    matchkey: str

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class GaveUp(ToolMissing):
    """No device came in time."""


def address(devices: Devices) -> tuple[str, int]:
    """Host and port of the tracker; raises UsageError when the text is not HOST:PORT."""
    host, _, port = devices.tracker.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 1 << 16:
        raise UsageError(f"--tracker takes HOST:PORT, not '{devices.tracker}'")
    return host, int(port)


def queues(devices: Devices) -> tuple[Queue, ...]:
    """What the tracker has, by key, theirs or another; raises ToolMissing when none answers."""
    base = load("rpc.base")
    with _talk(devices) as talk:
        base.sendjson(talk, [base.TrackerCode.SUMMARY])
        _, summary = base.recvjson(talk)
    total = Counter(str(server["key"]).removeprefix("server:") for server in summary["server_info"])
    waiting: dict[str, dict[str, int]] = summary["queue_info"]
    none = {"free": 0, "pending": 0}
    found = (Queue(key, total[key], **waiting.get(key, none)) for key in sorted(total.keys() | waiting.keys()))
    return tuple(queue for queue in found if queue.total or queue.pending)


def check_tracker(devices: Devices) -> None:
    """Raises ToolMissing when no tracker answers, UsageError when it has no device of the key."""
    there = {queue.key: queue.total for queue in queues(devices) if queue.total}
    if devices.key not in there:
        keys = "it has: " + ", ".join(there) if there else "it has none at all"
        raise UsageError(
            f"the tracker at {devices.tracker} has no device of key '{devices.key}'; {keys}; "
            f"add one: python -m tvm.exec.rpc_server --tracker {devices.tracker} --key {devices.key}"
        )


def acquire(devices: Devices) -> Device:
    """A free device of the key. Raises GaveUp when there was none, or no tracker, for `devices.patience` seconds."""
    started = seen = time.monotonic()
    while True:
        problem = f"the tracker at {devices.tracker} has no device of key '{devices.key}' any more"
        try:
            with _requested(devices) as talk:
                while not select.select([talk], [], [], POLL_SECONDS)[0]:
                    if _total(devices):
                        seen = time.monotonic()
                    _give_up(devices, problem, started, seen)
                _, (host, port, matchkey) = load("rpc.base").recvjson(talk)
                return Device(str(host), int(port), str(matchkey))
        except GaveUp:
            raise
        except ToolMissing:
            _give_up(devices, f"no tracker answers at {devices.tracker} any more", started, seen)
            time.sleep(POLL_SECONDS)


def _give_up(devices: Devices, problem: str, started: float, seen: float) -> None:
    now = time.monotonic()
    if now - seen > devices.patience:
        raise GaveUp(f"{problem}, for {devices.patience:g} s")
    if now - started > BUSY_SECONDS:
        raise GaveUp(f"no device of key '{devices.key}' at {devices.tracker} got free for {BUSY_SECONDS:g} s")


def _total(devices: Devices) -> int:
    return next((queue.total for queue in queues(devices) if queue.key == devices.key), 0)


@contextmanager
def _requested(devices: Devices) -> Generator[socket.socket]:
    """A connection on which the tracker names a device as soon as one is free."""
    base = load("rpc.base")
    with _talk(devices) as talk:
        base.sendjson(talk, [base.TrackerCode.REQUEST, devices.key, "", 1])
        yield talk


@contextmanager
def _talk(devices: Devices) -> Generator[Any]:
    """A connection to a tracker that said it is one."""
    base, tracker = load("rpc.base"), devices.tracker
    try:
        talk = socket.create_connection(address(devices), ANSWER_SECONDS)
    except OSError as error:
        raise _silent(tracker, error.strerror or str(error)) from None
    with talk:
        try:
            talk.sendall(struct.pack("<i", base.RPC_TRACKER_MAGIC))
            said = struct.unpack("<i", base.recvall(talk, 4))[0]
        except OSError as error:
            raise _silent(tracker, str(error)) from None
        if said != base.RPC_TRACKER_MAGIC:
            raise _silent(tracker, "something else does")
        try:
            yield talk
        except OSError as error:
            raise _silent(tracker, str(error)) from None


def _silent(tracker: str, why: str) -> ToolMissing:
    return ToolMissing(f"no tracker answers at {tracker} ({why}); start one: workbench fleet start")
