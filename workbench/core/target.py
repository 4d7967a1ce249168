"""What code is made for: a host CPU, and optionally a CUDA chip."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """`cpu` is an LLVM CPU name or "native"; `chip` is an NVIDIA chip ("sm_90a") or "" for no GPU code.

    `require_cuda` is set when the user asked for the chip: a missing tool is then an error and not a skipped stage.
    `threads` is how many threads the host code may use.
    """

    cpu: str = "native"
    chip: str = "sm_90a"
    require_cuda: bool = False
    threads: int = 1
