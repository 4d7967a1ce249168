"""The stages that cut Relay in two and compile one side for the array. Listing them loads no compiler."""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from byoc.systolic.machine import Machine, load_machine
from pipelines.tvm.bindings import load, refusals
from pipelines.tvm.instrument import passes
from pipelines.tvm.run import RunGraph
from pipelines.tvm.stages import (
    GRAPH,
    ImportRelay,
    LowerTir,
    OptimizeRelay,
    SettleForTvm,
    ToLlvmIr,
    TvmStage,
    lowered_of,
    parameters_of,
    read_relay,
)
from pipelines.tvm.text import text_of
from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.kinds import IRKind
from workbench.core.offload import REGIONS, Offload, Region
from workbench.core.stage import Context

DEFAULT = "gemmini16"
COMPILER = "systolic"


def accelerator(ctx: Context) -> Machine:
    """The accelerator that the user named, or the one taken when none was."""
    return load_machine(ctx.target.accel or DEFAULT)


@dataclass(frozen=True)
class SettleForArray(SettleForTvm):
    """As for TVM, but quantised weights stay the integers that the array multiplies."""

    unfolded: ClassVar[tuple[str, ...]] = ("DequantizeLinear",)


@dataclass(frozen=True)
class ImportForArray(ImportRelay):
    """As for TVM, but quantisation stays one operator, which patterns can name; the host's is corrected later."""

    def corrections(self) -> list[Any]:
        from pipelines.tvm.nan import keep_nan

        return [keep_nan()]


@dataclass(frozen=True)
class Annotate(TvmStage):
    """Relay with every chain that the array takes as one composite, in annotated regions; weights are constants."""

    name: ClassVar[str] = "annotate"
    consumes: ClassVar[IRKind] = IRKind.RELAY
    produces: ClassVar[IRKind] = IRKind.RELAY

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        tvm = load(threads=ctx.target.threads)
        from byoc.relay.partition import annotate

        module = ir.handle if ir.handle is not None else read_relay(ir.text)
        main = module["main"]
        parameters = parameters_of(ctx, ir, [str(p.name_hint) for p in main.params])
        bound = load("relay").build_module.bind_params_by_name(main, parameters)
        with refusals("TVM cannot annotate the model"), passes(ctx):
            annotated = annotate(tvm.IRModule.from_expr(bound), accelerator(ctx))
        text = text_of(annotated)
        facts = {"composites": text.count('Composite="')}
        return ir.derive(self.produces, text, handle=annotated, elided="meta[relay.Constant]" in text, facts=facts)


@dataclass(frozen=True)
class Partition(TvmStage):
    """Each annotated region a function of its own, with the attribute `Compiler="systolic"`."""

    name: ClassVar[str] = "partition"
    consumes: ClassVar[IRKind] = IRKind.RELAY
    produces: ClassVar[IRKind] = IRKind.RELAY

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from byoc.relay.partition import partition, regions

        with refusals("TVM cannot partition the model"), passes(ctx):
            module = partition(annotated_of(ir))
        text = text_of(module)
        facts = {"regions": len(regions(module))}
        return ir.derive(self.produces, text, handle=module, elided="meta[relay.Constant]" in text, facts=facts)


@dataclass(frozen=True)
class RegionTir(TvmStage):
    """The regions in TIR: what the host does to have the array run each composite."""

    name: ClassVar[str] = "region-tir"
    consumes: ClassVar[IRKind] = IRKind.RELAY
    produces: ClassVar[IRKind] = IRKind.TIR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from byoc.relay.codegen import lowered
        from byoc.relay.partition import regions

        target = accelerator(ctx)
        with refusals("TVM cannot lower a region"), passes(ctx):
            functions = [lowered(f, target) for f in regions(annotated_of(ir)).values()]
        text = "\n".join(text_of(module) for module in functions)
        return ir.derive(self.produces, text, facts={"functions": len(functions)})


@dataclass(frozen=True)
class Programs(TvmStage):
    """The instruction streams that the array runs, one for each distinct task, and what they cost.

    The companion `regions.json` has every region's figures, under each dataflow, and every operation left behind.
    """

    name: ClassVar[str] = "program"
    consumes: ClassVar[IRKind] = IRKind.RELAY
    produces: ClassVar[IRKind] = IRKind.PROGRAM

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from byoc.relay.partition import accelerated, left_behind
        from byoc.relay.task import Task, read_task
        from byoc.report import by_dataflow, describe
        from byoc.systolic.assembly import print_program

        target, module = accelerator(ctx), annotated_of(ir)
        rows = accelerated(module, target)
        tasks: dict[Task, list[str]] = {}
        for row in rows:
            tasks.setdefault(row.task, []).append(row.node)
        costs = {task: by_dataflow(target, task.work) for task in tasks}
        programs = {task: read_task(task.to_json(target))[2] for task in tasks}
        text = "\n".join(f"; {', '.join(nodes)}\n{print_program(programs[task])}" for task, nodes in tasks.items())
        regions = tuple(
            Region(r.region, r.node, r.task.shown_kind, r.task.fused, r.task.dtype, r.task.batch, r.task.m, r.task.k,
                   r.task.n, costs[r.task])
            for r in rows
        )  # fmt: skip
        offload = Offload(describe(target), regions, tuple(left_behind(module, target)))
        facts = {
            "accelerator": target.name,
            "programs": len(tasks),
            "instructions": sum(len(p.instructions) for p in programs.values()),
            "offloaded": f"{offload.share:.2%} of MACs",
            "cycles": sum(r.figures[str(target.dataflow)].cycles for r in regions),
        }
        return ir.derive(self.produces, text, facts=facts, blobs={REGIONS: offload.to_json().encode()})


@dataclass(frozen=True)
class OptimizeHost(OptimizeRelay):
    """Relay's own passes over the host's part; regions are left alone."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.tvm.half_even import half_even

        transform = load("relay").transform
        with refusals("TVM cannot correct the host's part"), passes(ctx):
            corrected = load().transform.Sequential([transform.InferType(), half_even(), transform.InferType()])(
                annotated_of(ir)
            )
        without = dataclasses.replace(ir.signature, constants=()) if ir.signature else None
        return super().apply(ctx, dataclasses.replace(ir, handle=corrected, signature=without))


@dataclass(frozen=True)
class LowerHost(LowerTir):
    """A TIR function for each fused function of the host, the graph that calls them, and the compiled regions."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        load(threads=ctx.target.threads)
        from byoc.relay.codegen import register

        register(accelerator(ctx))
        return super().apply(ctx, ir)


@dataclass(frozen=True)
class LinkRegions(ToLlvmIr):
    """LLVM IR of the host's functions; the regions' code is linked to it."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        external = lowered_of(ctx, ir).external
        if not external and f"_{COMPILER}_" in ir.blobs[GRAPH].decode():
            raise UsageError(f"the {ir.kind} text comes without the regions' code; start at import or before")
        out = super().apply(ctx, ir)
        for region in external:
            out.handle.library.import_module(region)
        return out


@dataclass(frozen=True)
class RunLinked(RunGraph):
    """Runs host and array together: the host's code calls the driver, which simulates the regions' programs."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        load(threads=ctx.target.threads)
        from byoc.relay import driver

        assert driver.PACKED, "importing the driver registers it"
        return super().apply(ctx, ir)


def annotated_of(ir: Artefact) -> Any:
    """The live module of an artefact; raises UsageError when there is only its text, which has no constants."""
    if ir.handle is None:
        raise UsageError(f"the {ir.kind} text lacks the model's constants; start at import or before")
    return ir.handle
