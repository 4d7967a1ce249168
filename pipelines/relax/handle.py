"""What the stages of the host leg hand on besides text: TVM's live objects."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Lowered:
    """TIR functions, and the builder that holds the virtual machine's instructions to call them in order."""

    module: Any
    builder: Any


@dataclass(frozen=True)
class Built:
    """Machine code in memory (a TVM runtime module), and the builder of what calls it."""

    library: Any
    builder: Any
