"""The Relax route as a readable list of stages."""

from pipelines.mlir.cuda.chips import chip
from pipelines.mlir.cuda.stages import Sass
from pipelines.relax.bindings import PROCESS
from pipelines.relax.cuda import CompileCuda, CudaSource, CudaTir, ScheduleCuda
from pipelines.relax.models import (
    ImportRelax,
    ImportRelaxOnnx,
    RelaxExport,
    RelaxFoldBatchNorm,
    RelaxFoldBatchNormOnnx,
    RelaxFxReference,
    RelaxInferShapes,
    RelaxLegalizeOnnx,
    RelaxLoad,
    RelaxOnnxReference,
    RelaxUpgradeOpset,
)
from pipelines.relax.run import RunVm
from pipelines.relax.stages import (
    FuseRelax,
    LegalizeRelax,
    PlanRelax,
    RelaxAssembly,
    RelaxHostTir,
    RelaxToLlvmIr,
    RelaxToTir,
)
from workbench.core.errors import UsageError
from workbench.core.pipeline import Pipeline
from workbench.core.route import Route, RouteChoices, Tuning
from workbench.core.stage import Stage

FX: tuple[type[Stage], ...] = (RelaxExport, RelaxFxReference, RelaxFoldBatchNorm, ImportRelax)
ONNX: tuple[type[Stage], ...] = (
    *(RelaxLoad, RelaxOnnxReference, RelaxUpgradeOpset, RelaxInferShapes, RelaxFoldBatchNormOnnx),
    *(RelaxLegalizeOnnx, ImportRelaxOnnx),
)
SHARED: tuple[type[Stage], ...] = (LegalizeRelax, FuseRelax)
HOST: tuple[type[Stage], ...] = (PlanRelax, RelaxToTir, RelaxHostTir, RelaxToLlvmIr, RelaxAssembly, RunVm)
CUDA: tuple[type[Stage], ...] = (ScheduleCuda, CudaTir, CudaSource, CompileCuda, Sass)


def build(choices: RouteChoices) -> Pipeline:
    """Import and fuse; then the host leg, and, when a chip is named, the CUDA leg from the fused model."""
    if choices.target.threads > 1:
        raise UsageError("the relax route makes code for one thread; leave out --threads")
    stages = [*(ONNX if choices.frontend == "onnx" else FX), *SHARED]
    if choices.target.cpu:
        stages += HOST
    if choices.target.chip:
        chip(choices.target.chip)  # an unknown one is refused before anything runs
        stages += CUDA
    tuned = PlanRelax(tuned=choices.tuned)
    return Pipeline(tuple(tuned if stage is PlanRelax else stage() for stage in stages))


ROUTE = Route(
    name="relax",
    summary="Relax -> TIR -> LLVM IR -> host code, and TIR -> CUDA source -> PTX -> SASS, by TVM 0.27",
    levels=("default",),
    stages={s.name: s for s in (*FX, *SHARED, *HOST, *CUDA)},
    build=build,
    tuning=Tuning(("metaschedule",), jobs="pipelines.relax.tuning.jobs", process=PROCESS, start="fuse"),
)
