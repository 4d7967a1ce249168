"""The fixed inputs and the float64 reference that every later form is judged by."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from workbench.core.arrays import npz_bytes
from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.kinds import IRKind
from workbench.core.source import Source
from workbench.core.stage import Context, Stage
from workbench.core.trace.layout import write_atomic


@dataclass(frozen=True)
class Reference(Stage):
    """Runs the user's own model, before any rewrite, in the precision of its reference."""

    process: ClassVar[str] = "torch"
    name: ClassVar[str] = "reference"

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        source = source_of(ir)
        write_atomic(ctx.numerics / "reference.npz", npz_bytes(source.reference(source.inputs)))
        return dataclasses.replace(ir, facts={"reference": source.reference_kind})


class FxReference(Reference):
    """The module that torch.export was given, in float64."""

    consumes: ClassVar[IRKind] = IRKind.FX
    produces: ClassVar[IRKind] = IRKind.FX


class OnnxReference(Reference):
    """The graph as it came from the file."""

    consumes: ClassVar[IRKind] = IRKind.ONNX
    produces: ClassVar[IRKind] = IRKind.ONNX


def source_of(ir: Artefact) -> Source:
    """The loaded model of an artefact; raises UsageError when there is only its text."""
    if not isinstance(ir.handle, Source):
        raise UsageError(f"the {ir.kind} text is for reading only, so nothing can start there; start at the model")
    return ir.handle
