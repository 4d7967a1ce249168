"""The stages from the user's model to Relax: those of every route, run in the toolchain, and TVM's importers."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from pipelines.importers.constants import stored
from pipelines.importers.fx.batch_norm import FoldBatchNorm
from pipelines.importers.fx.export import Export
from pipelines.importers.onnx.stages import FoldBatchNormOnnx, InferShapes, Legalize, Load, UpgradeOpset
from pipelines.importers.reference import FxReference, OnnxReference, source_of
from pipelines.relax.bindings import PROCESS, load, refusals
from pipelines.relax.text import text_of
from workbench.core.arrays import Arrays, read_npz
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError
from workbench.core.kinds import IRKind
from workbench.core.source import Source
from workbench.core.stage import Context, Stage
from workbench.core.tensors import Signature, TensorSpec


class RelaxExport(Export):
    """torch.export, in the toolchain."""

    process: ClassVar[str] = PROCESS


class RelaxFxReference(FxReference):
    """The module in float64, in the toolchain."""

    process: ClassVar[str] = PROCESS


class RelaxFoldBatchNorm(FoldBatchNorm):
    """Batch norms folded, in the toolchain."""

    process: ClassVar[str] = PROCESS


class RelaxLoad(Load):
    """An ONNX model, loaded in the toolchain."""

    process: ClassVar[str] = PROCESS


class RelaxOnnxReference(OnnxReference):
    """The graph in float64, in the toolchain."""

    process: ClassVar[str] = PROCESS


class RelaxUpgradeOpset(UpgradeOpset):
    """onnx's own converter, in the toolchain."""

    process: ClassVar[str] = PROCESS


class RelaxInferShapes(InferShapes):
    """Shapes settled, in the toolchain."""

    process: ClassVar[str] = PROCESS


class RelaxFoldBatchNormOnnx(FoldBatchNormOnnx):
    """Batch norms folded, in the toolchain."""

    process: ClassVar[str] = PROCESS


class RelaxLegalizeOnnx(Legalize):
    """Operators that importers lack or get wrong in terms of others, in the toolchain."""

    process: ClassVar[str] = PROCESS


@dataclass(frozen=True)
class ImportRelax(Stage):
    """Relax, one or a few operators for each node; weights are trailing parameters of `@main`."""

    process: ClassVar[str] = PROCESS
    name: ClassVar[str] = "import"
    consumes: ClassVar[IRKind] = IRKind.FX
    produces: ClassVar[IRKind] = IRKind.RELAX

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        load(threads=ctx.target.threads)
        from pipelines.relax.lift import lift_constants

        source = source_of(ir)
        with refusals("TVM cannot import the model"):
            module, weights = self.convert(source)
            check_sizes(module)
            module, lifted = lift_constants(module, {str(p.name) for p in module["main"].params})
        outputs = results_of(module, source.output_names)
        check_results(outputs, read_npz(ctx.numerics / "reference.npz"))
        signature = Signature(
            tuple(TensorSpec(name, a.shape, a.dtype.name) for name, a in source.inputs.items()),
            outputs,
            stored(ctx.store, weights | lifted),
        )
        return ir.derive(self.produces, text_of(module), handle=module, signature=signature)

    def convert(self, source: Source) -> tuple[Any, dict[str, Any]]:
        """The module and its weights by name, in the order of the parameters after the inputs."""
        from pipelines.relax.importer import import_program

        return import_program(source.program)


@dataclass(frozen=True)
class ImportRelaxOnnx(ImportRelax):
    """The same of an ONNX graph."""

    consumes: ClassVar[IRKind] = IRKind.ONNX

    def convert(self, source: Source) -> tuple[Any, dict[str, Any]]:
        from pipelines.relax.importer import import_onnx

        return import_onnx(source.program, tuple(source.inputs))


def results_of(module: Any, names: tuple[str, ...]) -> tuple[TensorSpec, ...]:
    """The tensors that `@main` gives, under the user's names for them."""
    kind = module["main"].ret_ty
    fields = [f for f in (kind.fields if hasattr(kind, "fields") else [kind]) if hasattr(f, "shape")]
    return tuple(
        TensorSpec(name, tuple(int(d) for d in field.shape), str(field.dtype))
        for name, field in zip(names, fields, strict=True)
    )


def check_sizes(module: Any) -> None:
    """Raises CompileError naming a value whose size is not known or that has no elements."""
    main, number = module["main"], load("tirx").IntImm
    made = (binding.var for block in main.body.blocks for binding in block.bindings)
    for value in (*main.params, *made):
        shape = getattr(value.ty, "shape", None) or ()
        if any(not isinstance(d, number) or int(d) == 0 for d in shape):
            raise CompileError(
                f"'{value.name}' is {list(shape)}: TVM takes a size of zero for one that is not known, and leaves sums "
                "over nothing unset; lower the model --via mlir"
            )


def check_results(outputs: Iterable[TensorSpec], reference: Arrays) -> None:
    """Raises CompileError naming an output that TVM's importer gives another shape than the model does."""
    for spec in outputs:
        if spec.shape != reference[spec.name].shape:
            raise CompileError(
                f"TVM's importer makes output '{spec.name}' {list(spec.shape)}, where the model gives "
                f"{list(reference[spec.name].shape)}; lower the model --via mlir"
            )


def with_constants(ctx: Context, ir: Artefact, module: Any) -> tuple[Any, Signature]:
    """The module with constants that a stage made as parameters, and the signature that says so."""
    from pipelines.relax.lift import lift_constants

    assert ir.signature is not None, "a module without a signature"
    taken = {c.name for c in ir.signature.constants} | {str(p.name) for p in module["main"].params}
    module, lifted = lift_constants(module, taken)
    constants = (*ir.signature.constants, *stored(ctx.store, lifted))
    return module, dataclasses.replace(ir.signature, constants=constants)
