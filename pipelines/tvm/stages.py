"""The stages from a settled ONNX model to host assembly. Listing them loads no compiler."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pipelines.importers.constants import stored
from pipelines.importers.onnx.stages import InferShapes, Load, onnx_artefact
from pipelines.importers.reference import source_of
from pipelines.tvm.bindings import load, machine, refusals
from pipelines.tvm.blamed import MODEL, compiling, imported
from pipelines.tvm.compile import lower, optimise, to_host, to_machine_code
from pipelines.tvm.handle import Built, Lowered, Optimised
from pipelines.tvm.instrument import passes
from pipelines.tvm.text import text_of
from pipelines.tvm.tuning.read import read_schedules, schedules_of
from pipelines.tvm.tuning.schedules import DefaultSchedules
from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.kinds import IRKind
from workbench.core.source import ModelRequest
from workbench.core.stage import Context, Stage
from workbench.core.tensors import Signature
from workbench.core.trace.layout import get_constant

GRAPH, FUNCTIONS = "graph.json", "functions.json"
"""Companions: TVM's graph, and the table of its functions."""
SCHEDULES, SCHEDULE_CODE = "schedules.json", "schedules.py"
"""Companions of a tuned build: what was given to it, and the schedule that each function took from that."""


@dataclass(frozen=True)
class LoadAsOnnx(Load):
    """Loads the model, torch modules by way of torch's ONNX exporter: TVM reads no exported program."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        request = dataclasses.replace(ModelRequest.from_json(json.loads(ir.text)), frontend="onnx")
        return super().apply(ctx, dataclasses.replace(ir, text=json.dumps(request.to_json())))


@dataclass(frozen=True)
class SettleForTvm(InferShapes):
    """As for every route; then operators that TVM lacks or gets wrong are written in others. Keeps the file."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.onnx.graph import Graph
        from pipelines.importers.onnx.legalize import legalize
        from pipelines.importers.onnx.shapes import settle
        from pipelines.tvm.definitions import TVM_RULES
        from pipelines.tvm.weights import without_weights

        source = source_of(ir)
        graph = settle(Graph(source.program), self.unfolded)
        replaced = legalize(graph, TVM_RULES, self.unfolded)
        model = graph.to_model()
        out = onnx_artefact(ir, source, model)
        out.facts.update({"replaced": replaced} if replaced else {})
        file, weights = without_weights(model)
        signature = Signature(
            tuple(graph.spec(name) for name in source.inputs),
            tuple(graph.spec(name) for name in source.output_names),
            stored(ctx.store, weights),
        )
        return dataclasses.replace(out, signature=signature, elided=False, blobs={MODEL: file})


@dataclass(frozen=True)
class TvmStage(Stage):
    """A stage that TVM runs."""

    process: ClassVar[str] = "tvm"


@dataclass(frozen=True)
class ImportRelay(TvmStage):
    """Relay, one or a few operators for each node; weights are trailing parameters of `@main`."""

    name: ClassVar[str] = "import"
    consumes: ClassVar[IRKind] = IRKind.ONNX
    produces: ClassVar[IRKind] = IRKind.RELAY

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        assert ir.signature is not None, "a model without a signature"
        _, module, weights = imported(ctx, ir)
        infer_types = load("relay").transform.InferType()
        with passes(ctx):
            settled = [p for correction in self.corrections() for p in (correction, infer_types)]
            module = load().transform.Sequential(settled)(module)
        signature = dataclasses.replace(ir.signature, constants=stored(ctx.store, weights))
        return ir.derive(self.produces, text_of(module, constants=True), handle=module, signature=signature)

    def corrections(self) -> list[Any]:
        """Passes that give operators of Relay the meaning that they have in ONNX."""
        from pipelines.tvm.erf import fast_erf
        from pipelines.tvm.half_even import half_even
        from pipelines.tvm.nan import keep_nan

        return [keep_nan(), half_even(), fast_erf()]


@dataclass(frozen=True)
class OptimizeRelay(TvmStage):
    """Relay's own passes: layouts chosen, constants folded, operators fused. Weights are constants from here on.

    `tuned` is a file of schedules that `workbench tune` chose; without one they are TVM's own.
    """

    tuned: str = ""

    name: ClassVar[str] = "optimize"
    consumes: ClassVar[IRKind] = IRKind.RELAY
    produces: ClassVar[IRKind] = IRKind.RELAY

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        target = machine(ctx.target)
        schedules = read_schedules(Path(self.tuned)) if self.tuned else DefaultSchedules()
        module = ir.handle if ir.handle is not None else read_relay(ir.text)
        names = [str(p.name_hint) for p in module["main"].params]
        parameters = parameters_of(ctx, ir, names)
        with compiling(ctx, "TVM cannot optimise the model", schedules.config):
            optimised = optimise(module, target, parameters, schedules)
        text = text_of(optimised.module)
        facts = {"fused_functions": text.count("Primitive=1")} | (schedules.facts() if self.tuned else {})
        blobs = {SCHEDULES: json.dumps(schedules.to_json(), indent=1).encode()} if self.tuned else {}
        elided = "meta[relay.Constant]" in text
        return ir.derive(self.produces, text, handle=optimised, elided=elided, facts=facts, blobs=blobs)


@dataclass(frozen=True)
class LowerTir(TvmStage):
    """A TIR function for each fused function, by its schedule, and the graph that calls them."""

    name: ClassVar[str] = "tir"
    consumes: ClassVar[IRKind] = IRKind.RELAY
    produces: ClassVar[IRKind] = IRKind.TIR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.tvm.functions import function_table

        assert ir.signature is not None, "a module without a signature"
        optimised = optimised_of(ctx, ir)
        with compiling(ctx, "TVM cannot lower the model to TIR", optimised.schedules.config):
            lowered = lower(optimised)
        table = function_table(optimised.module, lowered.graph)
        constants = stored(ctx.store, {name: array.numpy() for name, array in lowered.parameters.items()})
        blobs = {GRAPH: lowered.graph.encode(), FUNCTIONS: json.dumps([f.to_json() for f in table], indent=1).encode()}
        if code := optimised.schedules.code():
            blobs[SCHEDULE_CODE] = code.encode()
        facts = {
            "functions": len(table),
            "calls": sum(f.calls for f in table),
            "flop": sum(f.flop * f.calls for f in table),
        }
        return ir.derive(
            self.produces,
            text_of(lowered.module),
            handle=lowered,
            signature=dataclasses.replace(ir.signature, constants=constants),
            blobs=blobs,
            facts=facts,
        )


@dataclass(frozen=True)
class HostTir(TvmStage):
    """The functions under TVM's calling convention, with the runtime's calls and the machine's intrinsics."""

    name: ClassVar[str] = "tir-host"
    consumes: ClassVar[IRKind] = IRKind.TIR
    produces: ClassVar[IRKind] = IRKind.TIR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        lowered = lowered_of(ctx, ir)
        with compiling(ctx, "TVM cannot lower the functions"):
            host = to_host(lowered)
        return ir.derive(self.produces, text_of(host.module), handle=host, blobs={GRAPH: ir.blobs[GRAPH]})


@dataclass(frozen=True)
class ToLlvmIr(TvmStage):
    """LLVM IR as TVM's code generator leaves it, optimised by LLVM."""

    name: ClassVar[str] = "llvm-ir"
    consumes: ClassVar[IRKind] = IRKind.TIR
    produces: ClassVar[IRKind] = IRKind.LLVM_IR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        lowered = lowered_of(ctx, ir)
        with compiling(ctx, "TVM cannot generate code"):
            built = to_machine_code(lowered)
        text = built.library.get_source("ll")
        return ir.derive(self.produces, text, handle=built, blobs={GRAPH: ir.blobs[GRAPH]})


@dataclass(frozen=True)
class HostAssembly(TvmStage):
    """Host assembly of the same module."""

    name: ClassVar[str] = "asm"
    consumes: ClassVar[IRKind] = IRKind.LLVM_IR
    produces: ClassVar[IRKind] = IRKind.ASM

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        built = built_of(ctx, ir)
        return ir.derive(self.produces, built.library.get_source("asm"), handle=built)


def optimised_of(ctx: Context, ir: Artefact) -> Optimised:
    """Fused Relay with its schedules: live, or read from the trace."""
    if isinstance(ir.handle, Optimised):
        return ir.handle
    schedules = schedules_of(json.loads(ir.blobs[SCHEDULES])) if SCHEDULES in ir.blobs else DefaultSchedules()
    return Optimised(read_relay(ir.text), schedules.target(machine(ctx.target)), schedules)


def read_relay(text: str) -> Any:
    """Relay read from its text; raises CompileError with the parser's first line."""
    with refusals("the Relay does not parse"):
        return load("relay").parse(text)


def parameters_of(ctx: Context, ir: Artefact, names: list[str]) -> dict[str, Any]:
    """The weights of an artefact as TVM arrays, under the trailing ones of `names`."""
    assert ir.signature is not None, "a module without a signature"
    constants = ir.signature.constants
    trailing = names[len(names) - len(constants) :] if constants else []
    tvm = load(threads=ctx.target.threads)
    return {
        name: tvm.nd.array(get_constant(ctx.store, c.sha256, c.dtype))
        for name, c in zip(trailing, constants, strict=True)
    }


def lowered_of(ctx: Context, ir: Artefact) -> Lowered:
    """TIR with its graph: live, or read from the trace."""
    if ir.handle is not None:
        return ir.handle
    target = machine(ctx.target)
    with refusals("the TIR does not parse"):
        module = load("script").from_source(ir.text)
    return Lowered(module, graph_of(ir), graph_parameters(ctx, ir), target)


def built_of(ctx: Context, ir: Artefact) -> Built:
    """Machine code with its graph: live, or made of the LLVM IR in the trace."""
    if ir.handle is not None:
        return ir.handle
    tvm = load(threads=ctx.target.threads)
    source = ctx.scratch / "module.ll"
    source.write_text(ir.text)
    with refusals("the LLVM IR does not load"):
        library = tvm.runtime.load_module(str(source))
    return Built(library, graph_of(ir), graph_parameters(ctx, ir))


def graph_of(ir: Artefact) -> str:
    """TVM's graph of an artefact."""
    if GRAPH not in ir.blobs:
        raise UsageError(f"the {ir.kind} text comes without {GRAPH}, which says in what order its functions are called")
    return ir.blobs[GRAPH].decode()


def graph_parameters(ctx: Context, ir: Artefact) -> dict[str, Any]:
    """The graph's weights as TVM arrays, under the names that the graph has for them."""
    assert ir.signature is not None, "a module without a signature"
    return parameters_of(ctx, ir, [c.name for c in ir.signature.constants])
