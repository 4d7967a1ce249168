"""ptxas, nvdisasm and libdevice: where they are, and what ptxas says of each kernel."""

import re
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.core.errors import CompileError, ToolMissing
from workbench.core.tools import NVDISASM, PTXAS, package_folder

_LIBDEVICE = Path("nvvm/libdevice/libdevice.10.bc")


def libdevice_toolkit() -> Path:
    """Folder laid out like a CUDA toolkit that holds libdevice; raises ToolMissing with the line that installs it."""
    for root in (package_folder("nvidia.cu13"), Path("/usr/local/cuda")):
        if root is not None and (root / _LIBDEVICE).is_file():
            return root
    raise ToolMissing(f"{_LIBDEVICE.name} is not on this machine; run: pip install -e '.[cuda]' (in the checkout)")


@dataclass(frozen=True)
class KernelFacts:
    """What ptxas reports of one kernel: registers a thread; the rest in bytes."""

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int


def assemble(ptx: Path, chip: str, cubin: Path) -> dict[str, KernelFacts]:
    """Run ptxas; returns facts by kernel. Raises CompileError with the first error line.

    Raises ToolMissing when this ptxas does not know the chip: CUDA 13 dropped what is older than sm_75.
    """
    command = [str(PTXAS.path()), f"-arch={chip}", "-v", str(ptx), "-o", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if "is not defined for option 'gpu-name'" in said:
        raise ToolMissing(f"this ptxas does not know {chip}; run: pip install nvidia-cuda-nvcc-cu12")
    if done.returncode:
        wrong = [line for line in said.splitlines() if "error" in line or "fatal" in line] or said.splitlines()
        raise CompileError(f"ptxas -arch={chip}: {(wrong or ['failed without a message'])[0]}")
    return parse_ptxas(said)


def parse_ptxas(text: str) -> dict[str, KernelFacts]:
    """Read the output of `ptxas -v`."""
    facts: dict[str, KernelFacts] = {}
    for entry in re.split(r"Compiling entry function ", text)[1:]:
        name = entry.split("'")[1]

        def number(pattern: str, entry: str = entry) -> int:
            match = re.search(pattern, entry)
            return int(match[1]) if match else 0

        facts[name] = KernelFacts(
            registers=number(r"Used (\d+) registers"),
            spill_stores=number(r"(\d+) bytes spill stores"),
            spill_loads=number(r"(\d+) bytes spill loads"),
            stack=number(r"(\d+) bytes stack frame"),
            shared=number(r"(\d+) bytes smem"),
        )
    return facts


def disassemble(cubin: Path) -> str:
    """SASS text of a cubin; raises ToolMissing or CompileError."""
    return NVDISASM.run(["-c", str(cubin)]).decode()


def summary(facts: dict[str, KernelFacts]) -> dict[str, Any]:
    """JSON-ready facts of a whole module."""
    return {
        "kernels": len(facts),
        "most registers": max((f.registers for f in facts.values()), default=0),
        "spilled bytes": sum(f.spill_stores + f.spill_loads for f in facts.values()),
        "by kernel": {name: asdict(f) for name, f in facts.items()},
    }
