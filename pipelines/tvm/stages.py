"""The stages from a settled ONNX model to host assembly. Listing them loads no compiler."""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pipelines.importers.constants import stored
from pipelines.importers.onnx.stages import InferShapes, Load
from pipelines.importers.reference import source_of
from pipelines.tvm.bindings import load, machine, refusals
from pipelines.tvm.handle import Built, Lowered
from pipelines.tvm.instrument import passes
from pipelines.tvm.text import text_of
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError, UsageError
from workbench.core.kinds import IRKind
from workbench.core.source import ModelRequest
from workbench.core.stage import Context, Stage
from workbench.core.tensors import Signature
from workbench.core.trace.layout import get_constant

MODEL, GRAPH, FUNCTIONS = "model.onnx", "graph.json", "functions.json"
"""Companions: the model's file without its weights, TVM's graph, and the table of its functions."""


@dataclass(frozen=True)
class LoadAsOnnx(Load):
    """Loads the model, torch modules by way of torch's ONNX exporter: TVM reads no exported program."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        request = dataclasses.replace(ModelRequest.from_json(json.loads(ir.text)), frontend="onnx")
        return super().apply(ctx, dataclasses.replace(ir, text=json.dumps(request.to_json())))


@dataclass(frozen=True)
class SettleForTvm(InferShapes):
    """As for every route, after operators that TVM lacks were replaced by ONNX's definition of them; keeps the file."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.importers.onnx.graph import Graph
        from pipelines.tvm.definitions import expand
        from pipelines.tvm.weights import without_weights

        source = source_of(ir)
        expanded = dataclasses.replace(source, program=expand(source.program))
        out = super().apply(ctx, dataclasses.replace(ir, handle=expanded))
        model = source_of(out).program
        graph = Graph(model)
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
        load(threads=ctx.target.threads)
        from pipelines.tvm.importer import import_model
        from pipelines.tvm.weights import with_weights

        assert ir.signature is not None, "a model without a signature"
        weights = {c.name: get_constant(ctx.store, c.sha256, c.dtype) for c in ir.signature.constants}
        model = with_weights(ir.blobs[MODEL], weights)
        module, weights = import_model(model, [spec.name for spec in ir.signature.inputs])
        with passes(ctx):
            module = load().transform.Sequential([*self.corrections(), load("relay").transform.InferType()])(module)
        signature = dataclasses.replace(ir.signature, constants=stored(ctx.store, weights))
        return ir.derive(self.produces, text_of(module, constants=True), handle=module, signature=signature)

    def corrections(self) -> list[Any]:
        """Passes that give operators of Relay the meaning that they have in ONNX."""
        from pipelines.tvm.half_even import half_even
        from pipelines.tvm.nan import keep_nan

        return [keep_nan(), half_even()]


@dataclass(frozen=True)
class OptimizeRelay(TvmStage):
    """Relay's own passes: layouts chosen, constants folded, operators fused. Weights are constants from here on."""

    name: ClassVar[str] = "optimize"
    consumes: ClassVar[IRKind] = IRKind.RELAY
    produces: ClassVar[IRKind] = IRKind.RELAY

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        target = machine(ctx.target)
        module = ir.handle if ir.handle is not None else read_relay(ir.text)
        names = [str(p.name_hint) for p in module["main"].params]
        parameters = parameters_of(ctx, ir, names)
        with refusals("TVM cannot optimise the model"), passes(ctx):
            optimised, _ = load("relay").optimize(module, target, parameters)
        text = text_of(optimised)
        facts = {"fused_functions": text.count("Primitive=1")}
        return ir.derive(self.produces, text, handle=optimised, elided="meta[relay.Constant]" in text, facts=facts)


@dataclass(frozen=True)
class LowerTir(TvmStage):
    """A TIR function for each fused function, by its schedule, and the graph that calls them."""

    name: ClassVar[str] = "tir"
    consumes: ClassVar[IRKind] = IRKind.RELAY
    produces: ClassVar[IRKind] = IRKind.TIR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.tvm.functions import function_table

        assert ir.signature is not None, "a module without a signature"
        target = machine(ctx.target)
        codegen = load("relay.backend.graph_executor_codegen").GraphExecutorCodegen(None, target)
        with refusals("TVM cannot lower the model to TIR"), passes(ctx):
            graph, lowered, parameters = codegen.codegen(ir.handle, ir.handle["main"])
        external = tuple(codegen._mod["get_external_modules"]())
        module = only_module(lowered, external)
        table = function_table(ir.handle, graph)
        # Constants that another compiler took into its functions are among the parameters, but no input of the graph.
        inputs = {node["name"] for node in json.loads(graph)["nodes"] if node["op"] == "null"}
        parameters = {name: array for name, array in parameters.items() if name in inputs}
        constants = stored(ctx.store, {name: array.numpy() for name, array in parameters.items()})
        blobs = {GRAPH: graph.encode(), FUNCTIONS: json.dumps([f.to_json() for f in table], indent=1).encode()}
        facts = {
            "functions": len(table),
            "calls": sum(f.calls for f in table),
            "flop": sum(f.flop * f.calls for f in table),
        }
        return ir.derive(
            self.produces,
            text_of(module),
            handle=Lowered(module, graph, parameters, target, external),
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
        module, target = lowered.module, lowered.target
        driver = load()._ffi.get_global_func
        with refusals("TVM cannot lower the functions"), passes(ctx), target:
            for passes_for in ("driver.mixed_mod_passes", "driver.host_mod_passes"):
                module = driver(passes_for)(module, target)(module)
        text = text_of(module)
        return ir.derive(
            self.produces, text, handle=dataclasses.replace(lowered, module=module), blobs={GRAPH: ir.blobs[GRAPH]}
        )


@dataclass(frozen=True)
class ToLlvmIr(TvmStage):
    """LLVM IR as TVM's code generator leaves it, optimised by LLVM."""

    name: ClassVar[str] = "llvm-ir"
    consumes: ClassVar[IRKind] = IRKind.TIR
    produces: ClassVar[IRKind] = IRKind.LLVM_IR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        lowered = lowered_of(ctx, ir)
        with refusals("TVM cannot generate code"), passes(ctx):
            library = load("target.codegen").build_module(lowered.module, lowered.target)
        built = Built(library, lowered.graph, lowered.parameters)
        return ir.derive(self.produces, library.get_source("ll"), handle=built, blobs={GRAPH: ir.blobs[GRAPH]})


@dataclass(frozen=True)
class HostAssembly(TvmStage):
    """Host assembly of the same module."""

    name: ClassVar[str] = "asm"
    consumes: ClassVar[IRKind] = IRKind.LLVM_IR
    produces: ClassVar[IRKind] = IRKind.ASM

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        built = built_of(ctx, ir)
        return ir.derive(self.produces, built.library.get_source("asm"), handle=built)


def only_module(lowered: Any, external: Sequence[Any]) -> Any:
    """The one module of a map from target to module; a model for a CPU has one target.

    It is empty where another compiler made every function.
    """
    modules = [module for _, module in lowered.items()]
    if external and not modules:
        return load().IRModule({})
    if len(modules) != 1:
        raise CompileError("TVM made no function: every output is an input or a constant, so there is nothing to lower")
    return modules[0]


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
