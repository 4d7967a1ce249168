"""What code is made for: a host CPU, and optionally a CUDA chip or an accelerator."""

import re
from dataclasses import dataclass

from workbench.core.errors import UsageError

DEFAULT_CHIP = "sm_90a"


@dataclass(frozen=True)
class Target:
    """`cpu` is an LLVM CPU name, "native", or "" for no host code; `chip` an NVIDIA chip, or "" for no GPU code.

    `require_cuda` is set when the user asked for the chip: a missing tool is then an error and not a skipped stage.
    `threads` is how many threads the host code may use. `accel` names an accelerator or the file that describes it; ""
    is the default of the route.
    """

    cpu: str = "native"
    chip: str = DEFAULT_CHIP
    require_cuda: bool = False
    threads: int = 1
    accel: str = ""


def parse_target(text: str, threads: int = 1, verify: bool = True) -> Target:
    """Read `--target`: "" (host, and the default chip when its tools are there), "cpu", "cpu:NAME", "cuda[:CHIP]".

    Host code is made for a CUDA chip too, to verify the numbers on this machine, unless `verify` is off.
    """
    kind, _, name = text.partition(":")
    if not re.fullmatch(r"[\w.+-]*", name):
        raise UsageError(f"no target '{text}'; examples: cpu, cpu:znver4, cuda:sm_90a")
    match kind:
        case "":
            return Target(threads=threads)
        case "cpu":
            return Target(name or "native", "", threads=threads)
        case "cuda":
            cpu = "native" if verify else ""
            return Target(cpu, name or DEFAULT_CHIP, require_cuda=True, threads=threads)
        case _:
            raise UsageError(f"no target '{text}'; examples: cpu, cpu:znver4, cuda:sm_90a")
