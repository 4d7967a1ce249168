"""The MLIR route as a readable list of stages."""

from pipelines.importers import import_stages
from pipelines.mlir.cuda.chips import chip
from pipelines.mlir.cuda.stages import CUDA_STAGES
from pipelines.mlir.host.lowering import Assemble, Loops, Optimize, ToLlvm, Translate
from pipelines.mlir.host.run import RunHost
from pipelines.mlir.linalg import Bufferize, Fuse
from pipelines.mlir.tiled.stages import TILED_STAGES
from workbench.core.errors import UsageError
from workbench.core.pipeline import Pipeline
from workbench.core.route import Route, RouteChoices
from workbench.core.stage import Stage


def build(choices: RouteChoices) -> Pipeline:
    """Import; then the host leg, and, when a chip is named, the CUDA leg from the buffers of the fused model.

    At the naive level both legs start from the same buffers; at the tiled level the host leg goes its own way from
    linalg on, and comes first.
    """
    if choices.target.threads > 1 and choices.level == "naive":
        raise UsageError("the naive level makes code for one thread; for more: --opt tiled")
    machine: tuple[Stage, ...] = (ToLlvm(), Translate(), Optimize(), Assemble(), RunHost())
    plain: tuple[Stage, ...] = (Fuse(), Bufferize())
    cuda: tuple[Stage, ...] = ()
    if choices.target.chip:
        chip(choices.target.chip)  # an unknown one is refused before anything runs
        cuda = tuple(stage() for stage in CUDA_STAGES)
    if not choices.target.cpu:
        stages = (*plain, *cuda)
    elif choices.level == "tiled":
        tiled: tuple[Stage, ...] = tuple(stage() for stage in TILED_STAGES)
        stages = (*tiled, *machine, *((*plain, *cuda) if cuda else ()))
    else:
        stages = (*plain, Loops(), *machine, *cuda)
    return Pipeline((*import_stages(choices.frontend), *stages))


STAGES: tuple[type[Stage], ...] = (
    *(Fuse, Bufferize),
    *TILED_STAGES,
    *(Loops, ToLlvm, Translate, Optimize, Assemble, RunHost),
    *CUDA_STAGES,
)

ROUTE = Route(
    name="mlir",
    summary="linalg -> loops -> LLVM -> host code, and linalg -> gpu -> NVVM -> PTX -> SASS",
    levels=("naive", "tiled"),
    stages={s.name: s for s in STAGES},
    build=build,
)
