"""Names that load what they stand for only when asked."""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from workbench.core.errors import UsageError


class Registry:
    """A table of names and "module:attribute" strings. A duplicate name raises ValueError."""

    def __init__(self, what: str, entries: Iterable[tuple[str, str]]) -> None:
        self.what = what
        self._where: dict[str, str] = {}
        for name, where in entries:
            if name in self._where:
                raise ValueError(f"{what} '{name}' is registered twice: {self._where[name]} and {where}")
            self._where[name] = where

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __contains__(self, name: str) -> bool:
        return name in self._where

    def load(self, name: str) -> Any:
        """Import and return what `name` stands for; raises UsageError listing the known names."""
        if name not in self._where:
            raise UsageError(f"no {self.what} '{name}'; known: {', '.join(self._where)}")
        module, _, attribute = self._where[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
