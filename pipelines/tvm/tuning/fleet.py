"""Devices behind TVM's RPC tracker."""

import socket

from workbench.core.errors import ToolMissing, UsageError
from workbench.core.tuning import Devices

ANSWER_SECONDS = 5.0


def address(devices: Devices) -> tuple[str, int]:
    """Host and port of the tracker; raises UsageError when the text is not HOST:PORT."""
    host, _, port = devices.tracker.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"--tracker takes HOST:PORT, not '{devices.tracker}'")
    return host, int(port)


def check_tracker(devices: Devices) -> None:
    """Raises ToolMissing when no tracker answers, UsageError when it has no device of the key."""
    host, port = address(devices)
    try:
        socket.create_connection((host, port), ANSWER_SECONDS).close()
    except OSError as error:
        raise ToolMissing(
            f"no tracker answers at {devices.tracker} ({error.strerror or error}); start one: workbench fleet start"
        ) from None
