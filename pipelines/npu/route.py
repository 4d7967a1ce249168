"""The npu route as a readable list of stages."""

from byoc.systolic.machine import load_machine
from pipelines.importers import import_stages
from pipelines.mlir.host.lowering import Assemble, Loops, Optimize, ToLlvm, Translate
from pipelines.mlir.linalg import Bufferize, Fuse
from pipelines.npu.stages import (
    DEFAULT,
    NPU_STAGES,
    CallArray,
    InsertFences,
    RunLinked,
    SplitModel,
    TileRegions,
    TranslatePrograms,
)
from workbench.core.errors import UsageError
from workbench.core.pipeline import Pipeline
from workbench.core.route import Route, RouteChoices
from workbench.core.stage import Stage

ARRAY: tuple[type[Stage], ...] = (SplitModel, TileRegions, InsertFences, TranslatePrograms)
HOST: tuple[type[Stage], ...] = (Fuse, Bufferize, CallArray, Loops, ToLlvm, Translate, Optimize, Assemble, RunLinked)


def build(choices: RouteChoices) -> Pipeline:
    """Import and split; the array's half down to its instructions, then the host's half down to code, then both run.

    An unknown accelerator is refused before anything runs.
    """
    if choices.target.require_cuda:
        raise UsageError("the npu route makes code for the host and an array; use --target cpu[:NAME]")
    if choices.target.threads > 1:
        raise UsageError("the npu route makes host code for one thread; leave out --threads")
    load_machine(choices.target.accel or DEFAULT)
    return Pipeline((*import_stages(choices.frontend), *(stage() for stage in (*ARRAY, *HOST))))


ROUTE = Route(
    name="npu",
    summary="linalg -> regions as tiled npu operations -> instructions of a systolic array, simulated, and host code",
    levels=("default",),
    stages={s.name: s for s in (*NPU_STAGES, *HOST)},
    build=build,
)
