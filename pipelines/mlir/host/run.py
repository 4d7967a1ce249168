"""Runs the host code on the fixed inputs."""

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pipelines.mlir.host.call import HostExecutable
from workbench.core.arrays import Arrays, npz_bytes, read_npz
from workbench.core.artefact import Artefact
from workbench.core.errors import ToolMissing
from workbench.core.executable import Executable
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
        started = time.perf_counter()
        outputs = executable(inputs)
        first = time.perf_counter() - started
        seconds, runs = timed(executable, inputs, self.budget_ms / 1e3, first)
        text = "".join(f"{name}: {list(a.shape)} {a.dtype.name}\n" for name, a in outputs.items())
        facts = {"seconds_per_run": seconds, "runs": runs, "threads": ctx.target.threads}
        return ir.derive(self.produces, text, handle=outputs, facts=facts, blobs={"outputs.npz": npz_bytes(outputs)})


def assemble(assembly: str) -> bytes:
    """Object code of host assembly."""
    return LLVM_MC.run(["-filetype=obj", "-o", "-"], assembly.encode())


def timed(executable: Executable, inputs: Arrays, budget: float, first: float) -> tuple[float, int]:
    """Median seconds of a run and how many were timed. The first run is warm-up when others fit in `budget` seconds."""
    times: list[float] = []
    while first < budget and sum(times) < budget and len(times) < 50:
        started = time.perf_counter()
        executable(inputs)
        times.append(time.perf_counter() - started)
    return (statistics.median(times), len(times)) if times else (first, 1)


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
