"""Worker job: a module of linalg through all stages of the route, on given inputs."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.npu.route import ARRAY, HOST
from workbench.core.arrays import npz_bytes, numpy_dtype
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.pipeline import Pipeline
from workbench.core.stage import Context
from workbench.core.target import Target
from workbench.core.tensors import Signature


def lower(params: dict[str, Any], send: object) -> dict[str, Any]:
    """Outputs as nested lists, and `regions.json`, of `params["text"]` on the accelerator `params["accel"]`."""
    signature = Signature.from_json(params["signature"])
    inputs = {s.name: np.array(params["inputs"][s.name], numpy_dtype(s.dtype)) for s in signature.inputs}
    with tempfile.TemporaryDirectory() as folder:
        ctx = Context(Target(chip="", accel=params["accel"]), Path(folder), Path(folder))
        ctx.numerics.mkdir()
        (ctx.numerics / "inputs.npz").write_bytes(npz_bytes(inputs))
        ctx.latest[IRKind.LINALG] = Artefact(IRKind.LINALG, params["text"], signature)
        stages = tuple(stage() for stage in (*ARRAY, *HOST))
        Pipeline(stages).run(ctx, range(len(stages)))
        outputs = ctx.latest[IRKind.RESULT].handle
        regions = ctx.latest[IRKind.PROGRAM].blobs["regions.json"].decode()
        return {"outputs": {n: a.astype(np.float64).tolist() for n, a in outputs.items()}, "regions": regions}
