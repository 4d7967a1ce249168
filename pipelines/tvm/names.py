"""Names that TVM can hold for the names of the user's model."""

import re
from collections.abc import Sequence


def identifiers(names: Sequence[str]) -> list[str]:
    """Names that Relay's text can hold and that stay apart: "a.b" and "a:b" become a_b and a_b_1."""
    taken: set[str] = set()
    out: list[str] = []
    for name in names:
        base = re.sub(r"\W", "_", name, flags=re.ASCII)
        base = base if re.match(r"[A-Za-z_]", base) else f"v{base}"
        clean = next(c for i in range(len(names) + 1) if (c := f"{base}_{i}" if i else base) not in taken)
        taken.add(clean)
        out.append(clean)
    return out
