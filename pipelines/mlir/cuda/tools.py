"""The CUDA programs and files that the leg needs, where pip puts them, and what ptxas says."""

import re
import shutil
import subprocess
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbench.core.errors import CompileError, ToolMissing

_PIP = {
    "ptxas": "pip install nvidia-cuda-nvcc==13.0.88",
    "nvdisasm": "pip install nvidia-cuda-nvdisasm==13.5.37",
    "libdevice": "pip install nvidia-nvvm==13.5.37",
}
_LIBDEVICE = Path("nvvm/libdevice/libdevice.10.bc")


def cuda_roots() -> list[Path]:
    """Folders laid out like a CUDA toolkit: pip packages first, then a system toolkit."""
    spec = find_spec("nvidia")
    roots = [Path(p) / "cu13" for p in (spec.submodule_search_locations or [])] if spec else []
    return [r for r in [*roots, Path("/usr/local/cuda")] if r.is_dir()]


def program(name: str) -> Path:
    """Path of `ptxas` or `nvdisasm`; raises ToolMissing with the line that installs it."""
    for root in cuda_roots():
        if (root / "bin" / name).is_file():
            return root / "bin" / name
    found = shutil.which(name)
    if found is None:
        raise ToolMissing(f"{name} is not installed; {_PIP[name]}")
    return Path(found)


def libdevice_toolkit() -> Path:
    """Toolkit folder that holds libdevice; raises ToolMissing with the line that installs it."""
    for root in cuda_roots():
        if (root / _LIBDEVICE).is_file():
            return root
    raise ToolMissing(f"libdevice is not installed; {_PIP['libdevice']}")


@dataclass(frozen=True)
class KernelFacts:
    """What ptxas reports of one kernel: registers a thread; the rest in bytes."""

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int


def assemble(ptx: Path, chip: str, cubin: Path) -> dict[str, KernelFacts]:
    """Run ptxas; returns facts by kernel. Raises CompileError with the first error line."""
    done = subprocess.run(
        [program("ptxas"), f"-arch={chip}", "-v", str(ptx), "-o", str(cubin)], capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
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
    done = subprocess.run([program("nvdisasm"), "-c", str(cubin)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"nvdisasm: {(done.stderr.splitlines() or ['failed without a message'])[0]}")
    return done.stdout


def summary(facts: dict[str, KernelFacts]) -> dict[str, Any]:
    """JSON-ready facts of a whole module."""
    return {
        "kernels": len(facts),
        "most registers": max((f.registers for f in facts.values()), default=0),
        "spilled bytes": sum(f.spill_stores + f.spill_loads for f in facts.values()),
        "by kernel": {name: asdict(f) for name, f in facts.items()},
    }
