"""The MLIR route as a readable list of stages."""

from pipelines.importers import import_stages
from pipelines.mlir.cuda.stages import CUDA_STAGES
from pipelines.mlir.host.lowering import Assemble, Loops, Optimize, ToLlvm, Translate
from pipelines.mlir.host.run import RunHost
from pipelines.mlir.linalg import Bufferize, Fuse
from workbench.core.pipeline import Pipeline
from workbench.core.route import Route, RouteChoices
from workbench.core.stage import Stage


def build(choices: RouteChoices) -> Pipeline:
    """Import, fuse, give buffers; then the host leg and, when a chip is named, the CUDA leg from the same buffers."""
    host: tuple[Stage, ...] = (Loops(), ToLlvm(), Translate(), Optimize(), Assemble(), RunHost())
    if not choices.target.cpu:
        host = ()
    cuda: tuple[Stage, ...] = tuple(stage() for stage in CUDA_STAGES) if choices.target.chip else ()
    return Pipeline((*import_stages(choices.frontend), Fuse(), Bufferize(), *host, *cuda))


STAGES: tuple[type[Stage], ...] = (
    *(Fuse, Bufferize),
    *(Loops, ToLlvm, Translate, Optimize, Assemble, RunHost),
    *CUDA_STAGES,
)

ROUTE = Route(
    name="mlir",
    summary="linalg -> loops -> LLVM -> host code, and linalg -> gpu -> NVVM -> PTX -> SASS",
    levels=("naive",),
    stages={s.name: s for s in STAGES},
    build=build,
)
