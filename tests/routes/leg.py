"""Runs the CUDA leg on a module of buffers, as the mlir route does."""

from pathlib import Path

import numpy as np

from dialects.bindings import inside
from pipelines.mlir.cuda.emulate import run_plan
from pipelines.mlir.cuda.stages import CUDA_STAGES, Emulate, GpuMap, GpuOutline, MakePlan, plan_of
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.observe import Observer
from workbench.core.pipeline import Pipeline
from workbench.core.source import Arrays
from workbench.core.stage import Context, Stage
from workbench.core.target import Target
from workbench.core.tensors import Signature, TensorSpec

RNG = np.random.default_rng(0)


def random(*shape: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    return RNG.standard_normal(shape).astype(np.float32)


def elementwise(kind: str, body: str, size: int = 300) -> str:
    return f"""
    #id = affine_map<(d0) -> (d0)>
    func.func @main(%a: memref<{size}x{kind}>, %b: memref<{size}x{kind}>, %o: memref<{size}x{kind}>) {{
      linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
          ins(%a, %b : memref<{size}x{kind}>, memref<{size}x{kind}>) outs(%o : memref<{size}x{kind}>) {{
      ^bb0(%x: {kind}, %y: {kind}, %z: {kind}):
        {body}
        linalg.yield %r : {kind}
      }}
      return
    }}"""


class Skips(Observer):
    """Remembers why stages were skipped."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def skipped_stage(self, index: int, stage: Stage, reason: str) -> None:
        self.reasons[stage.name] = reason


def signature_of(inputs: Arrays, outputs: Arrays) -> Signature:
    """A signature without constants, from example arrays."""
    made = [tuple(TensorSpec(n, a.shape, a.dtype.name) for n, a in group.items()) for group in (inputs, outputs)]
    return Signature(made[0], made[1])


def run_leg(
    text: str,
    inputs: Arrays,
    outputs: Arrays,
    folder: Path,
    rules: GpuMap | None = None,
    chip: str = "sm_90a",
    require_cuda: bool = True,
) -> tuple[dict[IRKind, Artefact], Skips]:
    """All stages of the leg; `outputs` gives names, shapes and dtypes. Returns what was made and what was skipped."""
    ctx = Context(Target(chip=chip, require_cuda=require_cuda), folder, folder)
    skips = Skips()
    ctx.observe(skips)
    ctx.numerics.mkdir(exist_ok=True)
    np.savez(ctx.numerics / "inputs.npz", **inputs)  # pyright: ignore[reportArgumentType]
    ctx.latest[IRKind.BUFFERS] = Artefact(IRKind.BUFFERS, text, signature_of(inputs, outputs))
    stages = (rules or GpuMap(), *(s() for s in CUDA_STAGES[1:]))
    Pipeline(stages).run(ctx, range(len(stages)))
    return ctx.latest, skips


def emulate(text: str, inputs: Arrays, outputs: Arrays, folder: Path, rules: GpuMap | None = None) -> Arrays:
    """What the kernels compute, by the emulator; the code generator is not run.

    Warps run in lockstep, then one by one from either end: a race between threads would give different results.
    """
    ctx = Context(Target(chip="sm_90a"), folder, folder)
    ctx.numerics.mkdir(exist_ok=True)
    np.savez(ctx.numerics / "inputs.npz", **inputs)  # pyright: ignore[reportArgumentType]
    ctx.latest[IRKind.BUFFERS] = Artefact(IRKind.BUFFERS, text, signature_of(inputs, outputs))
    stages = (rules or GpuMap(), GpuOutline(), MakePlan(), Emulate())
    Pipeline(stages).run(ctx, range(len(stages)))
    result: Arrays = ctx.latest[IRKind.RESULT].handle
    module, plan = ctx.latest[IRKind.GPU].handle, plan_of(ctx)
    with inside(module):
        for order in ("forward", "backward"):
            again = run_plan(module, plan, inputs, order)
            for name, array in result.items():
                np.testing.assert_array_equal(again[name], array, err_msg=f"{name} depends on the order of warps")
    return result
