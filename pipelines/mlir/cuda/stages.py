"""The CUDA leg as stages: gpu-map, gpu-outline, launch-plan, emulate, nvvm, ptx, sass."""

import json
from dataclasses import dataclass
from typing import ClassVar

from dialects.bindings import inside
from pipelines.mlir.cuda.chips import Chip, chip
from pipelines.mlir.passes import PassRunner
from pipelines.mlir.stage import MlirStage, open_module
from workbench.core.arrays import read_npz
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError, Skip, ToolMissing
from workbench.core.kinds import IRKind
from workbench.core.stage import Context, Stage
from workbench.core.trace.layout import get_constant, put_constant
from workbench.launch.plan import LaunchPlan, check, check_against_ptx


def chip_of(ctx: Context) -> Chip:
    """The chip asked for; raises Skip when there is none and UsageError when it is unknown."""
    if not ctx.target.chip:
        raise Skip("no chip was named (--chip)")
    return chip(ctx.target.chip)


def missing(ctx: Context, error: ToolMissing) -> Exception:
    """A missing tool is an error when the user asked for the chip, and otherwise a skipped stage."""
    return error if ctx.target.require_cuda else Skip(str(error))


@dataclass(frozen=True)
class GpuMap(MlirStage):
    """One kernel of full blocks for every operation. Options: see `schedule.LaunchRules`."""

    block: int = 256
    reduce_block: int = 128
    warp_below: int = 131072
    fill: int = 65536
    fuse: bool = True

    name: ClassVar[str] = "gpu-map"
    consumes: ClassVar[IRKind] = IRKind.BUFFERS
    produces: ClassVar[IRKind] = IRKind.GPU

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        chip_of(ctx)
        from pipelines.mlir.cuda import bools, gpu_map, host
        from pipelines.mlir.cuda.schedule import LaunchRules

        rules = LaunchRules(self.block, self.reduce_block, self.warp_below, self.fill, self.fuse)
        passes.rewrite("copies-to-linalg", host.copies_to_linalg)
        passes.run(gpu_map.BEFORE)
        passes.rewrite("scalars-to-kernels", host.scalars_to_kernels)
        passes.rewrite("map-to-kernels", lambda module: gpu_map.map_to_kernels(module, rules))
        passes.rewrite("bools-to-bytes", bools.bools_to_bytes)
        passes.run(gpu_map.AFTER)


@dataclass(frozen=True)
class GpuOutline(MlirStage):
    """Kernels as functions of one gpu.module; equal ones merged, all named."""

    name: ClassVar[str] = "gpu-outline"
    consumes: ClassVar[IRKind] = IRKind.GPU
    produces: ClassVar[IRKind] = IRKind.GPU

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        from pipelines.mlir.cuda import outline

        passes.run(outline.PIPELINE)
        passes.rewrite("merge-identical-kernels", outline.merge_identical)
        passes.rewrite("name-kernels", outline.name_kernels)


@dataclass(frozen=True)
class MakePlan(Stage):
    """The host function as a launch plan; scratch buffers placed by lifetime in one arena."""

    name: ClassVar[str] = "launch-plan"
    consumes: ClassVar[IRKind] = IRKind.GPU
    produces: ClassVar[IRKind] = IRKind.PLAN

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.mlir.cuda import planning

        assert ir.signature is not None, "device code without a signature"
        module = open_module(ir)
        with inside(module):
            plan = planning.read_plan(
                module, ir.signature, chip_of(ctx).name, lambda array: put_constant(ctx.store, array)
            )
        check(plan)
        facts = {
            "launches": len(plan.steps),
            "kernels": len({s.kernel for s in plan.steps}),
            "arena_bytes": plan.arena_bytes,
            "unshared_bytes": plan.extra["unshared_bytes"],
        }
        return ir.derive(self.produces, plan.dumps(), handle=plan, facts=facts)


@dataclass(frozen=True)
class Emulate(Stage):
    """Executes the plan in numpy, thread by thread, so that the kernels are judged without a GPU.

    `limit` is how many operations, summed over threads, are worth waiting for.
    """

    limit: int = 1_000_000_000

    name: ClassVar[str] = "emulate"
    consumes: ClassVar[IRKind] = IRKind.GPU
    produces: ClassVar[IRKind] = IRKind.RESULT

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.mlir.cuda import emulate

        plan = plan_of(ctx)
        module = open_module(ir)
        with inside(module):
            count = emulate.operations(module, plan)
            if count > self.limit:
                raise Skip(f"{count:.2g} operations are too many for numpy; a GPU can judge it: workbench run TRACE")
            arrays = read_npz(ctx.numerics / "inputs.npz")
            arrays |= {c.name: get_constant(ctx.store, c.sha256, c.dtype) for c in plan.constants}
            outputs = emulate.run_plan(module, plan, arrays)
        text = "".join(f"{name}: {list(a.shape)} {a.dtype.name}\n" for name, a in outputs.items())
        return ir.derive(self.produces, text, handle=outputs, facts={"operations": count})


@dataclass(frozen=True)
class Nvvm(MlirStage):
    """Device code in the LLVM and NVVM dialects."""

    opt: int = 3

    name: ClassVar[str] = "nvvm"
    consumes: ClassVar[IRKind] = IRKind.GPU
    produces: ClassVar[IRKind] = IRKind.NVVM

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        from pipelines.mlir.cuda import nvvm

        passes.rewrite("narrow-exponents", nvvm.narrow_exponents)
        passes.run(nvvm.nvvm_pipeline(chip_of(ctx), passes.module, self.opt))
        left = nvvm.unlowered(passes.module)
        if left is not None:
            raise CompileError(f"{left} has no NVVM lowering; rewrite it in the model, or use the cpu leg")


@dataclass(frozen=True)
class Ptx(Stage):
    """PTX text of every kernel, linked with libdevice."""

    name: ClassVar[str] = "ptx"
    consumes: ClassVar[IRKind] = IRKind.NVVM
    produces: ClassVar[IRKind] = IRKind.PTX

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.mlir.cuda import nvvm, tools

        module = open_module(ir)
        with inside(module):
            math = nvvm.uses_libdevice(module)
            try:
                toolkit = tools.libdevice_toolkit() if math else None
            except ToolMissing as error:
                raise missing(ctx, error) from None
            return ir.derive(self.produces, nvvm.to_ptx(module, chip_of(ctx), toolkit), facts={"libdevice": math})

    def verify(self, ctx: Context, out: Artefact) -> None:
        from pipelines.mlir.cuda import nvvm

        mistyped = nvvm.mistyped_call(out.text)
        if mistyped is not None:
            raise CompileError(f"the kernels call {mistyped} with other types than it has; lower the operation first")
        if IRKind.PLAN in ctx.latest:
            check_against_ptx(plan_of(ctx), out.text)


@dataclass(frozen=True)
class Sass(Stage):
    """Machine code by ptxas, read back by nvdisasm, with registers, spills and shared memory of every kernel."""

    name: ClassVar[str] = "sass"
    consumes: ClassVar[IRKind] = IRKind.PTX
    produces: ClassVar[IRKind] = IRKind.SASS

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.mlir.cuda import tools

        ptx, cubin = ctx.scratch / "kernels.ptx", ctx.scratch / "kernels.cubin"
        ptx.write_text(ir.text)
        try:
            facts = tools.assemble(ptx, chip_of(ctx).name, cubin)
            text = tools.disassemble(cubin)
        except ToolMissing as error:
            raise missing(ctx, error) from None
        return ir.derive(self.produces, text, facts=tools.summary(facts), blobs={"kernels.cubin": cubin.read_bytes()})


def plan_of(ctx: Context) -> LaunchPlan:
    """The run's launch plan."""
    plan = ctx.latest[IRKind.PLAN]
    return plan.handle if isinstance(plan.handle, LaunchPlan) else LaunchPlan.from_json(json.loads(plan.text))


CUDA_STAGES: tuple[type[Stage], ...] = (GpuMap, GpuOutline, MakePlan, Emulate, Nvvm, Ptx, Sass)
