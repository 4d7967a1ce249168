"""A worker job for a Python that has nothing installed, pytest neither."""

import sys
from typing import Any


def whoami(params: dict[str, Any], send: object) -> list[str]:
    """Which Python this is, and where it looks last."""
    return [sys.executable, sys.path[-1]]
