"""The stages from Relax to host assembly. Listing them loads no compiler."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pipelines.relax.bindings import PROCESS, host, load, refusals
from pipelines.relax.handle import Built, Lowered
from pipelines.relax.models import with_constants
from pipelines.relax.passes import passes, run
from pipelines.relax.text import elided, parse, text_of
from pipelines.relax.tuning.schedules import read_schedules
from pipelines.tvm.tuning.schedules import DefaultSchedules, Schedules
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError, UsageError
from workbench.core.kinds import IRKind
from workbench.core.stage import Context, Stage

PLAN = "plan.relax"
"""Companion of what comes after the plan: the plan, for the order in which functions are called."""


@dataclass(frozen=True)
class RelaxStage(Stage):
    """A stage that TVM 0.27 runs."""

    process: ClassVar[str] = PROCESS


@dataclass(frozen=True)
class LegalizeRelax(RelaxStage):
    """Operators as calls of TIR functions, one for each; what follows from constants is computed."""

    name: ClassVar[str] = "legalize-ops"
    consumes: ClassVar[IRKind] = IRKind.RELAX
    produces: ClassVar[IRKind] = IRKind.RELAX

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.relax.nan import nan_safe

        relax = load("relax")
        step = relax.transform
        steps = [
            step.DecomposeOpsForInference(),
            relax.backend.DispatchSampling(),
            relax.backend.DispatchSortScan(),
            step.LegalizeOps(nan_safe()),
            step.FoldConstant(),
            step.DeadCodeElimination(),
        ]
        with refusals("TVM cannot legalise the model"):
            module = run(ctx, module_of(ir), host(ctx.target), steps)
        left = operators_of(module)
        if left:
            name, value = next(iter(left.items()))
            raise CompileError(f"{name}, which makes '{value}', has no TIR form in TVM; lower the model --via mlir")
        module, signature = with_constants(ctx, ir, module)
        facts = {"functions": len(module.functions) - 1}
        return ir.derive(self.produces, text_of(module), handle=module, signature=signature, facts=facts)


@dataclass(frozen=True)
class FuseRelax(RelaxStage):
    """Neighbouring TIR functions as one, by what kind of loop nest each is."""

    name: ClassVar[str] = "fuse"
    consumes: ClassVar[IRKind] = IRKind.RELAX
    produces: ClassVar[IRKind] = IRKind.RELAX

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        step = load("relax").transform
        with refusals("TVM cannot fuse the model"):
            steps = [step.AnnotateTIROpPattern(), step.FuseOps(), step.FuseTIR(), step.DeadCodeElimination()]
            module = run(ctx, module_of(ir), host(ctx.target), steps)
        facts = {"functions": len(module.functions) - 1}
        return ir.derive(self.produces, text_of(module), handle=module, facts=facts)


@dataclass(frozen=True)
class PlanRelax(RelaxStage):
    """Memory shared by lifetime, and every call one of TVM's virtual machine.

    `tuned` is a file of schedules that `workbench tune` chose, for functions to be given first; without one they stay
    as plain loops.
    """

    tuned: str = ""

    name: ClassVar[str] = "plan"
    consumes: ClassVar[IRKind] = IRKind.RELAX
    produces: ClassVar[IRKind] = IRKind.RELAX_VM

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        schedules = read_schedules(Path(self.tuned)) if self.tuned else DefaultSchedules()
        with refusals("TVM cannot plan the model's memory"):
            module = planned(ctx, module_of(ir), schedules)
        text = text_of(module)
        facts = {"storages": text.count("alloc_storage(")} | (schedules.facts() if self.tuned else {})
        return ir.derive(self.produces, text, handle=module, facts=facts)


@dataclass(frozen=True)
class RelaxToTir(RelaxStage):
    """The TIR functions alone, for a CPU; the calls become instructions of the virtual machine."""

    name: ClassVar[str] = "tir"
    consumes: ClassVar[IRKind] = IRKind.RELAX_VM
    produces: ClassVar[IRKind] = IRKind.TIR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        target = host(ctx.target)
        with refusals("TVM cannot generate instructions"):
            builder, rest = instructions(module_of(ir))
            bind = load("tirx").transform.BindTarget(target.with_host(target))
            module = run(ctx, rest, target, [bind])
        facts = {"functions": len(module.functions)}
        blobs = {PLAN: ir.text.encode()}
        handle = Lowered(module, builder)
        return ir.derive(self.produces, text_of(module), handle=handle, facts=facts, blobs=blobs)


@dataclass(frozen=True)
class RelaxHostTir(RelaxStage):
    """The functions as loops on flat buffers under TVM's calling convention, with the machine's intrinsics."""

    name: ClassVar[str] = "tir-host"
    consumes: ClassVar[IRKind] = IRKind.TIR
    produces: ClassVar[IRKind] = IRKind.TIR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        lowered, target = lowered_of(ir), host(ctx.target)
        with refusals("TVM cannot lower the functions"):
            pipeline, finish, _ = load("tirx").get_default_tir_pipeline(target)
            module = run(ctx, lowered.module, target, [pipeline, finish()])
        text = text_of(module)
        handle = dataclasses.replace(lowered, module=module)
        return ir.derive(self.produces, text, handle=handle, elided=elided(text), blobs={PLAN: ir.blobs[PLAN]})


@dataclass(frozen=True)
class RelaxToLlvmIr(RelaxStage):
    """LLVM IR as TVM's code generator leaves it, optimised by LLVM."""

    name: ClassVar[str] = "llvm-ir"
    consumes: ClassVar[IRKind] = IRKind.TIR
    produces: ClassVar[IRKind] = IRKind.LLVM_IR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        lowered = lowered_of(ir)
        with refusals("TVM cannot generate code"), passes(ctx):
            library = load("target.codegen").build_module(lowered.module, host(ctx.target))
        handle = Built(library, lowered.builder)
        return ir.derive(self.produces, library.inspect_source("ll"), handle=handle, blobs={PLAN: ir.blobs[PLAN]})


@dataclass(frozen=True)
class RelaxAssembly(RelaxStage):
    """Host assembly of the same module."""

    name: ClassVar[str] = "asm"
    consumes: ClassVar[IRKind] = IRKind.LLVM_IR
    produces: ClassVar[IRKind] = IRKind.ASM

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        built = built_of(ctx, ir)
        return ir.derive(self.produces, built.library.inspect_source("asm"), handle=built)


def planned(ctx: Context, module: Any, schedules: Schedules) -> Any:
    """A fused module with tuned functions where `schedules` has some, and its memory planned."""
    pipeline, target = load("relax.backend.cpu_generic.pipeline"), schedules.target(host(ctx.target))
    steps = [*pipeline.dataflow_lower_passes(target), *pipeline.finalize_passes(target)]
    with target, schedules.active():
        return run(ctx, schedules.prepared(module), target, steps)


def module_of(ir: Artefact) -> Any:
    """The live module of an artefact, or the one that its text reads as."""
    return ir.handle if ir.handle is not None else parse(ir.text)


def operators_of(module: Any) -> dict[str, str]:
    """Operators of Relax in `@main` that are still to be lowered, each with the first value that it makes."""
    tvm_ir = load("ir")
    found: dict[str, str] = {}
    for block in module["main"].body.blocks:
        for binding in block.bindings:
            value = binding.value
            if isinstance(value, tvm_ir.Call) and isinstance(value.op, tvm_ir.Op):
                name = str(value.op.name).removeprefix("relax.")
                if name not in _KEPT:
                    found.setdefault(name, str(binding.var.name))
    return found


_KEPT = frozenset(
    (
        *("call_tir", "call_tir_inplace", "call_pure_packed", "call_packed", "call_dps_packed"),
        *("shape_of", "reshape", "null_value"),
    )
)
"""Operators that the virtual machine runs."""


def instructions(module: Any) -> tuple[Any, Any]:
    """A planned module as a builder of virtual machine code, and the TIR functions left over."""
    build = load("relax.vm_build")
    builder = load("relax").ExecBuilder()
    rest = build._filter_tir(build._vmcodegen(builder, module))
    if rest is None:
        raise CompileError("TVM made no function: every output is an input or a constant, so there is nothing to lower")
    return builder, rest


def builder_of(ir: Artefact) -> Any:
    """The virtual machine's code, made again of the plan in the trace."""
    if PLAN not in ir.blobs:
        raise UsageError(f"the {ir.kind} text comes without {PLAN}, which says in what order its functions are called")
    with refusals("the plan does not compile"):
        return instructions(parse(ir.blobs[PLAN].decode()))[0]


def lowered_of(ir: Artefact) -> Lowered:
    """TIR with what calls it: live, or read from the trace."""
    if ir.handle is not None:
        return ir.handle
    if ir.elided:
        raise UsageError("the text lacks the functions' own messages, so nothing can start there; start at tir")
    return Lowered(parse(ir.text), builder_of(ir))


def built_of(ctx: Context, ir: Artefact) -> Built:
    """Machine code with what calls it: live, or made of the LLVM IR in the trace."""
    if ir.handle is not None:
        return ir.handle
    source = ctx.scratch / "module.ll"
    source.write_text(ir.text)
    with refusals("the LLVM IR does not load"):
        return Built(load("runtime").load_module(str(source)), builder_of(ir))
