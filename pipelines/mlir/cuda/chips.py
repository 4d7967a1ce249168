"""NVIDIA chips: which names LLVM and ptxas know, and the PTX version each needs."""

import re
from dataclasses import dataclass

from workbench.core.errors import UsageError

PTX_OF = {
    "sm_70": 60,
    "sm_72": 61,
    "sm_75": 63,
    "sm_80": 70,
    "sm_86": 71,
    "sm_87": 74,
    "sm_88": 90,
    "sm_89": 78,
    "sm_90": 78,
    "sm_90a": 80,
    "sm_100": 86,
    "sm_100a": 86,
    "sm_100f": 88,
    "sm_101": 86,
    "sm_101a": 86,
    "sm_101f": 88,
    "sm_103": 88,
    "sm_103a": 88,
    "sm_103f": 88,
    "sm_110": 90,
    "sm_110a": 90,
    "sm_110f": 90,
    "sm_120": 87,
    "sm_120a": 87,
    "sm_120f": 88,
    "sm_121": 88,
    "sm_121a": 88,
    "sm_121f": 88,
}
"""Least PTX version (times ten) that LLVM 22.1 accepts for each chip, found by asking it for every pair."""

_COMMON_PTX = 80
"""PTX 8.0 is read by every driver since CUDA 12.0; older chips are given it too."""


@dataclass(frozen=True)
class Chip:
    """A chip by name, with the LLVM feature for its PTX version."""

    name: str

    @property
    def ptx(self) -> int:
        """PTX version to ask for, times ten."""
        return max(PTX_OF[self.name], _COMMON_PTX)

    @property
    def features(self) -> str:
        """LLVM subtarget feature, for example "+ptx80"."""
        return f"+ptx{self.ptx}"


def chip(name: str) -> Chip:
    """A known chip; raises UsageError listing the known ones (LLVM itself would abort the process)."""
    if name not in PTX_OF:
        near = re.sub(r"[af]$", "", name)
        hint = f"; did you mean {near}?" if near in PTX_OF else ""
        raise UsageError(f"unknown chip '{name}'{hint}; known chips: {', '.join(PTX_OF)}")
    return Chip(name)
