"""The CUDA leg as stages: cuda-schedule, cuda-tir, cuda, ptx; the mlir route's sass follows."""

import re
from dataclasses import dataclass
from typing import ClassVar

from pipelines.mlir.cuda.stages import missing
from pipelines.relax.bindings import device, load, refusals
from pipelines.relax.nvrtc import compile_to_ptx
from pipelines.relax.passes import run
from pipelines.relax.stages import RelaxStage, module_of
from pipelines.relax.text import elided, text_of
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError, ToolMissing
from workbench.core.kinds import IRKind
from workbench.core.stage import Context


@dataclass(frozen=True)
class ScheduleCuda(RelaxStage):
    """Loops of the fused functions mapped to blocks and threads by dlight's rules, without tuning."""

    name: ClassVar[str] = "cuda-schedule"
    consumes: ClassVar[IRKind] = IRKind.RELAX
    produces: ClassVar[IRKind] = IRKind.TIR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        dlight, target = load("s_tir.dlight"), device(ctx.target)
        rules = (dlight.gpu.Matmul, dlight.gpu.GEMV, dlight.gpu.Reduction, dlight.gpu.GeneralReduction)
        schedule = dlight.ApplyDefaultSchedule(*(rule() for rule in rules), dlight.gpu.Fallback())
        attach, bind = load("relax").transform.AttachGlobalSymbol(), load("tirx").transform.BindTarget(target)
        only_tir = load("relax.vm_build")._filter_tir
        with refusals("dlight cannot schedule the model"):
            module = only_tir(run(ctx, module_of(ir), target, [attach, schedule]))
            if module is None:
                raise CompileError("TVM made no function, so there is no kernel to schedule")
            module = run(ctx, module, target, [bind])
        facts = {"functions": len(module.functions)}
        return ir.derive(self.produces, text_of(module), handle=module, facts=facts)


@dataclass(frozen=True)
class CudaTir(RelaxStage):
    """The kernels, split from the host functions that launch them."""

    name: ClassVar[str] = "cuda-tir"
    consumes: ClassVar[IRKind] = IRKind.TIR
    produces: ClassVar[IRKind] = IRKind.TIR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        target = device(ctx.target)
        with refusals("TVM cannot lower the kernels"):
            pipeline, _, finish = load("tirx").get_default_tir_pipeline(target)
            module = run(ctx, module_of(ir), target, [pipeline])
            _, devices = load("tirx.build").split_host_device_mods(module)
            kernels = [run(ctx, m, target, [finish()]) for m in devices.values()]
        if len(kernels) != 1:
            raise CompileError("no function of the model became a kernel; lower it with --target cpu")
        text = text_of(kernels[0])
        facts = {"kernels": len(kernels[0].functions)}
        return ir.derive(self.produces, text, handle=kernels[0], elided=elided(text), facts=facts)


@dataclass(frozen=True)
class CudaSource(RelaxStage):
    """CUDA C++ of every kernel."""

    name: ClassVar[str] = "cuda"
    consumes: ClassVar[IRKind] = IRKind.TIR
    produces: ClassVar[IRKind] = IRKind.CUDA

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        with refusals("TVM cannot write CUDA source"):
            library = load("target.codegen").build_module(module_of(ir), device(ctx.target))
            text = library.inspect_source()
        kernels = len(set(re.findall(r"__global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(", text)))
        return ir.derive(self.produces, text, facts={"kernels": kernels})


@dataclass(frozen=True)
class CompileCuda(RelaxStage):
    """PTX by NVRTC."""

    name: ClassVar[str] = "ptx"
    consumes: ClassVar[IRKind] = IRKind.CUDA
    produces: ClassVar[IRKind] = IRKind.PTX

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        try:
            return ir.derive(self.produces, compile_to_ptx(ir.text, ctx.target.chip))
        except ToolMissing as error:
            raise missing(ctx, error) from None
