"""import: an exported program to the torch dialect, weights as trailing arguments, names of nodes as locations."""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from pipelines.importers.constants import stored
from pipelines.importers.fx.export import fx_artefact, with_program
from pipelines.importers.reference import source_of
from pipelines.importers.stage import module_artefact
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError
from workbench.core.kinds import IRKind
from workbench.core.source import Source
from workbench.core.stage import Context, Stage
from workbench.core.tensors import Signature, TensorSpec


@dataclass(frozen=True)
class CoreAten(Stage):
    """Composite operators to core aten, and writes in place to values, by PyTorch's decompositions and a few more."""

    process: ClassVar[str] = "torch"
    name: ClassVar[str] = "core-aten"
    consumes: ClassVar[IRKind] = IRKind.FX
    produces: ClassVar[IRKind] = IRKind.FX

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.fx.decompositions import table

        source = source_of(ir)
        return fx_artefact(ir, with_program(source, source.program.run_decompositions(table())))


@dataclass(frozen=True)
class ImportFx(Stage):
    """The torch dialect, one operation for each node of the graph."""

    process: ClassVar[str] = "torch"
    name: ClassVar[str] = "import"
    consumes: ClassVar[IRKind] = IRKind.FX
    produces: ClassVar[IRKind] = IRKind.TORCH

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.fx.importer import import_program

        source = source_of(ir)
        module, weights = import_program(source.program, tuple(source.inputs))
        signature = dataclasses.replace(signature_of(source), constants=stored(ctx.store, weights))
        return dataclasses.replace(module_artefact(ir, self, module), signature=signature)


def signature_of(source: Source) -> Signature:
    """Inputs and outputs under the names the user gives and gets them by."""
    program = source.program
    nodes = {n.name: n for n in program.graph.nodes}
    outputs = [s.arg for s in program.graph_signature.output_specs if type(s.arg).__name__ == "TensorArgument"]
    inputs = tuple(TensorSpec(n, a.shape, a.dtype.name) for n, a in source.inputs.items())
    return Signature(
        inputs,
        tuple(_spec(name, nodes[out.name].meta["val"]) for name, out in zip(source.output_names, outputs, strict=True)),
    )


def _spec(name: str, value: Any) -> TensorSpec:
    if any(not isinstance(d, int) for d in value.shape):
        raise CompileError(f"output '{name}' has a size that depends on the data ({list(value.shape)}); make it static")
    return TensorSpec(name, tuple(value.shape), str(value.dtype).removeprefix("torch."))
