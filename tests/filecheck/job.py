"""Worker job: apply stages to IR text, in a process of its own."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.mlir.route import ROUTE
from pipelines.npu.route import ROUTE as NPU_ROUTE
from workbench.core.artefact import Artefact
from workbench.core.pipeline import Pipeline
from workbench.core.stage import Context, parse_stage
from workbench.core.target import parse_target
from workbench.core.tensors import Signature


def apply(params: dict[str, Any], send: object) -> str:
    """Text after the stages `params["stages"]` (specs) were applied to `params["text"]`."""
    stages = tuple(parse_stage(spec, {**NPU_ROUTE.stages, **ROUTE.stages}) for spec in params["stages"])
    signature = Signature.from_json(params["signature"]) if params.get("signature") else None
    first = Artefact(stages[0].consumes, params["text"], signature)
    with tempfile.TemporaryDirectory() as folder:
        target = replace(parse_target(params.get("target", "")), accel=params.get("accel", ""))
        ctx = Context(target, Path(folder), Path(folder))
        ctx.latest[stages[0].consumes] = first
        Pipeline(stages).run(ctx, range(len(stages)))
    return ctx.latest[stages[-1].produces].text
