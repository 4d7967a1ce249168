"""Runs linalg text through the tiled stages to code that runs in this process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.mlir.host.call import HostExecutable
from pipelines.mlir.host.lowering import Assemble, Optimize, ToLlvm, Translate
from pipelines.mlir.host.run import assemble, openmp_libraries
from pipelines.mlir.tiled.stages import TILED_STAGES
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.pipeline import Pipeline
from workbench.core.stage import Context, Stage
from workbench.core.target import Target
from workbench.core.tensors import ConstantSpec, Signature, TensorSpec
from workbench.core.trace.layout import put_constant

Array = np.ndarray[Any, Any]
MACHINE: tuple[type[Stage], ...] = (ToLlvm, Translate, Optimize, Assemble)


def lower_tiled(
    text: str, inputs: Sequence[Array], weights: Sequence[Array], result: TensorSpec, folder: Path, target: Target
) -> dict[IRKind, Artefact]:
    """Every form from linalg to assembly. The function takes the inputs, then the weights."""
    root = folder / "runs" / "trace"
    ctx = Context(target, root, folder)
    signature = Signature(
        inputs=tuple(TensorSpec(f"in{i}", a.shape, a.dtype.name) for i, a in enumerate(inputs)),
        outputs=(result,),
        constants=tuple(
            ConstantSpec(f"w{i}", a.shape, a.dtype.name, put_constant(ctx.store, a)) for i, a in enumerate(weights)
        ),
    )
    ctx.latest[IRKind.LINALG] = Artefact(IRKind.LINALG, text, signature)
    stages = tuple(stage() for stage in (*TILED_STAGES, *MACHINE))
    Pipeline(stages).run(ctx, range(len(stages)))
    return ctx.latest


def run_tiled(
    text: str,
    inputs: Sequence[Array],
    weights: Sequence[Array],
    like: Array,
    folder: Path,
    target: Target | None = None,
) -> Array:
    """The result of `@main`, an array of the shape and dtype of `like`."""
    target = target or Target(chip="")
    spec = TensorSpec("out", like.shape, like.dtype.name)
    made = lower_tiled(text, inputs, weights, spec, folder, target)[IRKind.ASM]
    assert made.signature is not None
    store = folder / "runs" / "trace" / "consts"
    executable = HostExecutable(assemble(made.text), made.signature, store, openmp_libraries(target.threads))
    return executable({f"in{i}": a for i, a in enumerate(inputs)})["out"]
