"""The TVM route as a readable list of stages."""

from pipelines.importers.onnx.stages import UpgradeOpset
from pipelines.importers.reference import OnnxReference
from pipelines.tvm.run import RunGraph
from pipelines.tvm.stages import (
    HostAssembly,
    HostTir,
    ImportRelay,
    LoadAsOnnx,
    LowerTir,
    OptimizeRelay,
    SettleForTvm,
    ToLlvmIr,
)
from workbench.core.errors import UsageError
from workbench.core.pipeline import Pipeline
from workbench.core.route import Route, RouteChoices, Tuning
from workbench.core.stage import Stage

STAGES: tuple[type[Stage], ...] = (
    *(LoadAsOnnx, OnnxReference, UpgradeOpset, SettleForTvm),
    *(ImportRelay, OptimizeRelay, LowerTir, HostTir, ToLlvmIr, HostAssembly, RunGraph),
)


def build(choices: RouteChoices) -> Pipeline:
    """One way down for every model; the chip of the default target is left alone, for TVM here makes host code only."""
    if choices.target.require_cuda:
        raise UsageError("the tvm route makes host code only (its TVM is built without CUDA); use --target cpu[:NAME]")
    tuned = OptimizeRelay(tuned=choices.tuned)
    return Pipeline(tuple(tuned if stage is OptimizeRelay else stage() for stage in STAGES))


ROUTE = Route(
    name="tvm",
    summary="ONNX -> Relay -> TIR -> LLVM IR -> host code, by TVM 0.19",
    levels=("default",),
    stages={s.name: s for s in STAGES},
    build=build,
    tuning=Tuning(
        ("ansor", "autotvm", "metaschedule"), jobs="pipelines.tvm.tuning.jobs", process="tvm", start="import"
    ),
)
