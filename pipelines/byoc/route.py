"""The route to a systolic array as a readable list of stages."""

from byoc.systolic.machine import load_machine
from pipelines.byoc.stages import (
    DEFAULT,
    Annotate,
    ImportForArray,
    LinkRegions,
    LowerHost,
    OptimizeHost,
    Partition,
    Programs,
    RegionTir,
    RunLinked,
    SettleForArray,
)
from pipelines.importers.onnx.stages import UpgradeOpset
from pipelines.importers.reference import OnnxReference
from pipelines.tvm.stages import HostAssembly, HostTir, LoadAsOnnx
from workbench.core.errors import UsageError
from workbench.core.pipeline import Pipeline
from workbench.core.route import Route, RouteChoices
from workbench.core.stage import Stage

STAGES: tuple[type[Stage], ...] = (
    *(LoadAsOnnx, OnnxReference, UpgradeOpset, SettleForArray),
    *(ImportForArray, Annotate, Partition, RegionTir, Programs),
    *(OptimizeHost, LowerHost, HostTir, LinkRegions, HostAssembly, RunLinked),
)


def build(choices: RouteChoices) -> Pipeline:
    """One way down for every model; an unknown accelerator is refused before anything runs."""
    if choices.target.require_cuda:
        raise UsageError("the byoc route makes code for the host and an array; use --target cpu[:NAME]")
    load_machine(choices.target.accel or DEFAULT)
    return Pipeline(tuple(stage() for stage in STAGES))


ROUTE = Route(
    name="byoc",
    summary="ONNX -> Relay -> regions for a systolic array, simulated, and host code, by TVM 0.19",
    levels=("default",),
    stages={s.name: s for s in STAGES},
    build=build,
)
