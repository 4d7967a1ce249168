"""Worker job: lower ONNX models to an array and run them, in one process that has TVM loaded."""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.byoc.route import STAGES
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.offload import REGIONS
from workbench.core.pipeline import Pipeline
from workbench.core.source import ModelRequest
from workbench.core.stage import Context
from workbench.core.target import Target


def run_models(params: dict[str, Any], send: object) -> dict[str, Any]:
    """`params["folders"]` hold model.onnx and inputs.npz; outputs.npz is written beside them.

    Returns each model's `regions.json`, by folder.
    """
    return {folder: lower_here(Path(folder)) for folder in params["folders"]}


def lower_here(folder: Path) -> Any:
    """All stages on a model, in this process and without a trace or a verdict."""
    request = ModelRequest(str(folder / "model.onnx"), "onnx", inputs=str(folder / "inputs.npz"))
    with tempfile.TemporaryDirectory() as scratch:
        ctx = Context(Target(cpu="native", chip=""), Path(scratch), Path(scratch), capture=False)
        ctx.latest[IRKind.SOURCE] = Artefact(IRKind.SOURCE, json.dumps(request.to_json()))
        Pipeline(tuple(stage() for stage in STAGES)).run(ctx, range(len(STAGES)))
        np.savez(folder / "outputs.npz", **ctx.latest[IRKind.RESULT].handle)
        return json.loads(ctx.latest[IRKind.PROGRAM].blobs[REGIONS])
