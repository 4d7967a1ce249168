"""Worker jobs: TVM loads in a process of its own, which takes many small models, for loading it takes longest."""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.tvm.bindings import load
from pipelines.tvm.route import STAGES
from workbench.core.artefact import Artefact
from workbench.core.errors import WorkbenchError
from workbench.core.kinds import IRKind
from workbench.core.pipeline import Pipeline
from workbench.core.source import ModelRequest
from workbench.core.stage import Context
from workbench.core.target import Target


def run_models(params: dict[str, Any], send: object) -> dict[str, str]:
    """Lower and run ONNX models on this machine: `params["folders"]` hold model.onnx and, unless drawn, inputs.npz.

    Writes reference.npz and outputs.npz beside each; returns the refusals by folder.
    """
    refused: dict[str, str] = {}
    for folder in map(Path, params["folders"]):
        try:
            latest = lower_here(folder, params.get("out", ""))
            np.savez(Path(params.get("out", ""), folder.name + ".npz"), **latest[IRKind.RESULT].handle)
        except WorkbenchError as error:
            refused[folder.name] = str(error)
    return refused


def lower_here(folder: Path, out: str) -> dict[IRKind, Artefact]:
    """All stages on a model, in this process and without a trace; the reference lands in `out`."""
    inputs = folder / "inputs.npz"
    request = ModelRequest(str(folder / "model.onnx"), "onnx", inputs=str(inputs) if inputs.exists() else None)
    with tempfile.TemporaryDirectory() as scratch:
        ctx = Context(Target(cpu="native", chip=""), Path(scratch), Path(scratch), capture=False)
        ctx.latest[IRKind.SOURCE] = Artefact(IRKind.SOURCE, json.dumps(request.to_json()))
        Pipeline(tuple(stage() for stage in STAGES)).run(ctx, range(len(STAGES)))
        (Path(out) / f"{folder.name}.reference.npz").write_bytes((ctx.numerics / "reference.npz").read_bytes())
        return ctx.latest


def execute(params: dict[str, Any], send: object) -> None:
    """Run `params["code"]` with TVM at hand."""
    load()
    exec(params["code"], {})
