"""Runs the compiled model by TVM's virtual machine on the fixed inputs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pipelines.mlir.host.call import checked_input
from pipelines.relax.bindings import load, refusals
from pipelines.relax.handle import Built
from pipelines.relax.stages import RelaxStage
from workbench.core.arrays import Arrays, read_npz
from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.executable import Executable, executed
from workbench.core.kinds import IRKind
from workbench.core.stage import Context
from workbench.core.tensors import Signature
from workbench.core.trace.layout import get_constant


class VmExecutable(Executable):
    """Machine code and the instructions that call it, called by the model's own names.

    Weights are read from `store`; `machine` is TVM's virtual machine.
    """

    def __init__(self, built: Built, signature: Signature, store: Path, threads: int) -> None:
        tvm = load(threads=threads)
        linked = load("relax.vm_build")._ffi_api.VMLink(built.builder, None, built.library, [], {})
        self.machine: Any = load("relax").VirtualMachine(linked, tvm.cpu())
        self._main = self.machine["main"]
        self._tensor = tvm.runtime.tensor
        self._signature = signature
        self._constants = [self._tensor(get_constant(store, c.sha256, c.dtype)) for c in signature.constants]

    def __call__(self, inputs: Arrays) -> Arrays:
        """Run once."""
        given = [self._tensor(checked_input(spec, inputs)) for spec in self._signature.inputs]
        result: Any = self._main(*given, *self._constants)
        results = [result] if hasattr(result, "numpy") else [r for r in result if r is not None]
        return {spec.name: r.numpy() for spec, r in zip(self._signature.outputs, results, strict=True)}


@dataclass(frozen=True)
class RunVm(RelaxStage):
    """Loads and runs the machine code; the result is the outputs, judged by the verifier.

    `budget_ms` bounds the repeated runs that give a time: none beyond the first when that alone takes longer.
    """

    budget_ms: int = 300

    name: ClassVar[str] = "run"
    consumes: ClassVar[IRKind] = IRKind.ASM
    produces: ClassVar[IRKind] = IRKind.RESULT

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        assert ir.signature is not None, "host code without a signature"
        if not isinstance(ir.handle, Built):
            raise UsageError("TVM cannot run assembly text; start at llvm-ir or before")
        inputs = read_npz(ctx.numerics / "inputs.npz")
        with refusals("TVM cannot run the model"):
            executable = VmExecutable(ir.handle, ir.signature, ctx.store, ctx.target.threads)
            return executed(ir, executable, inputs, self.budget_ms / 1e3, ctx.target.threads)
