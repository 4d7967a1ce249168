"""Runs the compiled model by TVM's graph executor on the fixed inputs."""

from dataclasses import dataclass
from typing import ClassVar

from pipelines.mlir.host.call import checked_input, poisoned
from pipelines.tvm.bindings import load, refusals
from pipelines.tvm.handle import Built
from pipelines.tvm.names import identifiers
from pipelines.tvm.stages import TvmStage
from workbench.core.arrays import Array, Arrays, numpy_dtype, read_npz
from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.executable import Executable, executed
from workbench.core.kinds import IRKind
from workbench.core.stage import Context
from workbench.core.tensors import Signature, TensorSpec


class GraphExecutable(Executable):
    """A graph and its machine code, called by the model's own names."""

    def __init__(self, built: Built, signature: Signature) -> None:
        tvm = load()
        # An output may be a view of an input or of a weight, so it is filled before those are set.
        self._array = tvm.nd.array
        self._signature = signature
        self._module = load("contrib.graph_executor").create(built.graph, built.library, tvm.cpu(0))
        for i, spec in enumerate(signature.outputs):
            self._module.get_output(i).copyfrom(poisoned(spec))
        for name, value in built.parameters.items():
            self._module.set_input(name, value)

    @staticmethod
    def input_names(signature: Signature) -> list[str]:
        """The graph's names of the model's inputs, in order."""
        return identifiers([spec.name for spec in signature.inputs])

    def __call__(self, inputs: Arrays) -> Arrays:
        """Run once. At first outputs are full of 0xFF bytes (NaN), so that what is left unwritten shows."""
        for spec, name in zip(self._signature.inputs, self.input_names(self._signature), strict=True):
            array = checked_input(spec, inputs)
            if self._module.get_input_index(name) >= 0:
                self._module.set_input(name, self._array(array))
        self._module.run()
        return {spec.name: self._output(i, spec) for i, spec in enumerate(self._signature.outputs)}

    def _output(self, i: int, spec: TensorSpec) -> Array:
        """TVM gives bfloat16 as the integers of its bits."""
        array = self._module.get_output(i).numpy()
        return array.view(numpy_dtype(spec.dtype)) if spec.dtype == "bfloat16" else array


@dataclass(frozen=True)
class RunGraph(TvmStage):
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
            executable = GraphExecutable(ir.handle, ir.signature)
            return executed(ir, executable, inputs, self.budget_ms / 1e3, ctx.target.threads)
