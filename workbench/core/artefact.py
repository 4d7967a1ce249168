"""One IR at one level."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.core.kinds import IRKind
from workbench.core.tensors import Signature


@dataclass(frozen=True)
class Artefact:
    """One form of the model.

    `text` is what a person reads and what `--from` starts at. `located` is the same IR with source locations, when the
    level has them. `handle` is the compiler's live object (a module, a program); it is never serialised. `elided` says
    that constants are missing from the text, so it can be read but neither replayed nor executed. `facts` are counted
    or measured values worth a column in a report (registers, kernels, bytes).
    """

    kind: IRKind
    text: str
    signature: Signature | None = None
    handle: Any = None
    located: str | None = None
    elided: bool = False
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Binary companions by file name, written beside the stage's text (a cubin, a serialised model)."""

    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def derive(self, kind: IRKind, text: str, **changes: Any) -> "Artefact":
        """The next form: same signature, nothing else carried over unless given."""
        fresh = {"handle": None, "located": None, "elided": False, "facts": {}, "blobs": {}}
        return replace(self, kind=kind, text=text, **(fresh | changes))
