"""The stages from an .onnx file to the torch dialect. The worker that runs them loads onnx; listing them does not."""

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pipelines.importers.constants import stored
from pipelines.importers.reference import source_of
from pipelines.importers.stage import module_artefact
from workbench.core.arrays import npz_bytes
from workbench.core.artefact import Artefact
from workbench.core.errors import Skip
from workbench.core.kinds import IRKind
from workbench.core.source import ModelRequest, Source
from workbench.core.stage import Context, Stage
from workbench.core.tensors import Signature
from workbench.core.trace.layout import write_atomic

if TYPE_CHECKING:
    from onnx import ModelProto

OLDEST = 18
"""The opset that models are raised to: from it on, reductions take their axes as an input."""


@dataclass(frozen=True)
class OnnxStage(Stage):
    """From ONNX to ONNX."""

    process: ClassVar[str] = "torch"
    consumes: ClassVar[IRKind] = IRKind.ONNX
    produces: ClassVar[IRKind] = IRKind.ONNX


@dataclass(frozen=True)
class Load(OnnxStage):
    """Loads the model and refuses, by name, what nothing later could lower; keeps the fixed inputs."""

    name: ClassVar[str] = "load"
    consumes: ClassVar[IRKind] = IRKind.SOURCE

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from models.load import load_source
        from pipelines.importers.onnx.check import check_model, named

        source = load_source(ModelRequest.from_json(json.loads(ir.text)))
        check_model(source.program)
        write_atomic(ctx.numerics / "inputs.npz", npz_bytes(source.inputs))
        return onnx_artefact(ir, source, named(source.program))


@dataclass(frozen=True)
class UpgradeOpset(OnnxStage):
    """Raises models of an older opset by onnx's own converter, as far as it goes."""

    name: ClassVar[str] = "upgrade-opset"

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.onnx.graph import opset_of
        from pipelines.importers.onnx.shapes import upgrade

        source = source_of(ir)
        before = opset_of(source.program)
        if before >= OLDEST:
            raise Skip(f"opset {before} is recent enough")
        model, problem = upgrade(source.program, OLDEST)
        if opset_of(model) == before:
            raise Skip(f"onnx cannot convert opset {before}: {problem}")
        out = onnx_artefact(ir, source, model)
        out.facts.update({"from_opset": before} | ({"stopped_by": problem} if problem else {}))
        return out


@dataclass(frozen=True)
class InferShapes(OnnxStage):
    """Infers every type and folds what follows from constants and known sizes; refuses sizes that depend on data."""

    name: ClassVar[str] = "infer-shapes"
    unfolded: ClassVar[tuple[str, ...]] = ()
    """Operators that stay even where their result is known."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.onnx.check import check_static
        from pipelines.importers.onnx.graph import Graph
        from pipelines.importers.onnx.shapes import settle

        source = source_of(ir)
        graph = settle(Graph(source.program), self.unfolded)
        check_static(graph)
        return onnx_artefact(ir, source, graph.to_model())


@dataclass(frozen=True)
class FoldBatchNormOnnx(OnnxStage):
    """Batch norms in evaluation mode become part of the convolution or matrix product before them."""

    name: ClassVar[str] = "fold-batch-norm"

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.onnx.batch_norm import fold_batch_norms
        from pipelines.importers.onnx.graph import Graph

        source = source_of(ir)
        graph = Graph(source.program)
        folded = fold_batch_norms(graph)
        if not folded:
            raise Skip("no batch norm with known statistics directly follows a convolution or a matrix product")
        out = onnx_artefact(ir, source, graph.to_model())
        out.facts["folded"] = folded
        return out


@dataclass(frozen=True)
class Legalize(OnnxStage):
    """Operators that the conversion to torch lacks or gets wrong, in terms of those it gets right."""

    name: ClassVar[str] = "legalize"

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.onnx.graph import Graph
        from pipelines.importers.onnx.legalize import legalize
        from pipelines.importers.onnx.rules import RULES

        source = source_of(ir)
        graph = Graph(source.program)
        replaced = legalize(graph, RULES)
        if not replaced:
            raise Skip("every operator of the model has a right conversion")
        out = onnx_artefact(ir, source, graph.to_model())
        out.facts["replaced"] = replaced
        return out


@dataclass(frozen=True)
class ImportOnnx(OnnxStage):
    """The torch dialect, one `torch.operator` for each node of the graph; weights are trailing arguments."""

    name: ClassVar[str] = "import"
    produces: ClassVar[IRKind] = IRKind.TORCH

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.onnx.graph import Graph
        from pipelines.importers.onnx.to_torch import import_model, weights_as_inputs

        source = source_of(ir)
        graph = Graph(source.program)
        model, weights = weights_as_inputs(source.program)
        signature = Signature(
            tuple(graph.spec(name) for name in source.inputs),
            tuple(graph.spec(name) for name in source.output_names),
            stored(ctx.store, weights),
        )
        return dataclasses.replace(module_artefact(ir, self, import_model(model)), signature=signature)


def onnx_artefact(ir: Artefact, source: Source, model: "ModelProto") -> Artefact:
    """A form of the source's model as an artefact: ONNX's own textual form, large weights elided."""
    from pipelines.importers.onnx.listing import ELIDED, listing

    text = listing(model)
    facts = {"nodes": len(model.graph.node), "opset": max(o.version for o in model.opset_import)}
    handle = dataclasses.replace(source, program=model)
    return ir.derive(IRKind.ONNX, text, handle=handle, facts=facts, elided=ELIDED in text)
