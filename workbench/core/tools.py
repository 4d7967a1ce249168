"""External programs: where they are, and running them."""

import importlib.util
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core.errors import CompileError, ToolMissing


@dataclass(frozen=True)
class Tool:
    """A program that comes in a wheel: looked for in `package`'s folder `inside`, then on PATH."""

    name: str
    package: str
    inside: str
    fix: str

    def find(self) -> Path | None:
        """Path of the program, or None."""
        folder = package_folder(self.package)
        if folder is not None and (folder / self.inside / self.name).is_file():
            return folder / self.inside / self.name
        found = shutil.which(self.name)
        return Path(found) if found else None

    def path(self) -> Path:
        """Path of the program; raises ToolMissing with the line that installs it."""
        found = self.find()
        if found is None:
            raise ToolMissing(f"{self.name} is not on this machine; run: {self.fix}")
        return found

    def run(self, arguments: Sequence[str], stdin: bytes = b"", timeout: float = 600) -> bytes:
        """Run the program on `stdin` and return its standard output.

        Raises CompileError with the program's first error line, its exit signal, or that it passed `timeout` seconds.
        """
        try:
            done = subprocess.run(
                [str(self.path()), *arguments], input=stdin, capture_output=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise CompileError(f"{self.name} did not end within {timeout:g} s") from None
        if done.returncode != 0:
            lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
            said = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")
            how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit {done.returncode}"
            raise CompileError(f"{self.name} failed ({how}): {said[:400]}")
        return done.stdout


def package_folder(package: str) -> Path | None:
    """Folder of an installed package ("nvidia.cu13" for a namespace inside one), without importing it."""
    parts = package.split(".")
    try:
        spec = importlib.util.find_spec(parts[0])
    except (ImportError, ValueError):
        return None
    for base in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(base, *parts[1:])
        if folder.is_dir():
            return folder
    return None


_MLIR = "pip install -e '.[mlir]' (in the checkout)"
_CUDA = "pip install -e '.[cuda]' (in the checkout)"

OPT = Tool("opt", "llvm", "bin", _MLIR)
LLC = Tool("llc", "llvm", "bin", _MLIR)
LLVM_MC = Tool("llvm-mc", "llvm", "bin", _MLIR)
FILECHECK = Tool("FileCheck", "llvm", "bin", _MLIR)
MLIR_OPT = Tool("mlir-opt", "mlir", "bin", _MLIR)
MLIR_TRANSLATE = Tool("mlir-translate", "mlir", "bin", _MLIR)
PTXAS = Tool("ptxas", "nvidia.cu13", "bin", _CUDA)
NVDISASM = Tool("nvdisasm", "nvidia.cu13", "bin", _CUDA)

ALL = (OPT, LLC, LLVM_MC, MLIR_OPT, MLIR_TRANSLATE, PTXAS, NVDISASM)
