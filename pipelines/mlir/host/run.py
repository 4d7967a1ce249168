"""Runs the host code on the fixed inputs."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pipelines.mlir.host.call import HostExecutable
from workbench.core.arrays import read_npz
from workbench.core.artefact import Artefact
from workbench.core.errors import ToolMissing
from workbench.core.executable import executed
from workbench.core.kinds import IRKind
from workbench.core.stage import Context, Stage
from workbench.core.tools import LLVM_MC


@dataclass(frozen=True)
class RunHost(Stage):
    """Assembles, loads and runs the host code; the result is the outputs, judged by the verifier.

    `budget_ms` bounds the repeated runs that give a time: none beyond the first when that alone takes longer.
    """

    budget_ms: int = 300

    name: ClassVar[str] = "run"
    consumes: ClassVar[IRKind] = IRKind.ASM
    produces: ClassVar[IRKind] = IRKind.RESULT

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        assert ir.signature is not None, "host code without a signature"
        inputs = read_npz(ctx.numerics / "inputs.npz")
        executable = HostExecutable(assemble(ir.text), ir.signature, ctx.store, openmp_libraries(ctx.target.threads))
        return executed(ir, executable, inputs, self.budget_ms / 1e3, ctx.target.threads)


def assemble(assembly: str) -> bytes:
    """Object code of host assembly."""
    return LLVM_MC.run(["-filetype=obj", "-o", "-"], assembly.encode())


def openmp_libraries(threads: int) -> tuple[Path, ...]:
    """The OpenMP runtime when more than one thread is asked for; raises ToolMissing without it."""
    if threads <= 1:
        return ()
    import sys

    for folder in (Path(sys.prefix, "lib"), Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib/llvm-14/lib")):
        for name in ("libiomp5.so", "libomp.so.5"):
            if (folder / name).exists():
                return (folder / name,)
    raise ToolMissing("threads need an OpenMP runtime; run: pip install -e '.[mlir]' (in the checkout)")
