"""linalg on tensors: fuse elementwise operations, then give every tensor a buffer."""

from dataclasses import dataclass
from typing import ClassVar

from dialects.bindings import Module, load, public_functions
from pipelines.mlir.passes import PassRunner
from pipelines.mlir.stage import MlirStage
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.stage import Context

BUFFERIZE = (
    "one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},"
    "drop-equivalent-buffer-results,"
    # Public functions too: otherwise the function still returns a memref, and calling it through the C interface dies.
    "buffer-results-to-out-params{hoist-static-allocs=true modify-public-functions=true},"
    "canonicalize,cse"
)
"""Tensors to memrefs; results become trailing arguments of the function."""

BUFFER_LIFETIMES = (
    "func.func(buffer-hoisting,promote-buffers-to-stack{max-alloc-size-in-bytes=1024}),"
    "buffer-deallocation-pipeline,canonicalize"
)
"""Where buffers are allocated and freed."""


@dataclass(frozen=True)
class Fuse(MlirStage):
    """Fuses chains of elementwise operations on tensors.

    Fusion stays at this level on purpose: affine-loop-fusion moves reductions ahead of their producers (wrong numbers).
    """

    name: ClassVar[str] = "fuse"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.LINALG

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        passes.run(
            "canonicalize,cse,func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),canonicalize,cse"
        )


@dataclass(frozen=True)
class Bufferize(MlirStage):
    """Gives every tensor a buffer (one-shot), with results as out-parameters."""

    name: ClassVar[str] = "bufferize"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.BUFFERS

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        passes.rewrite("arguments-read-only", arguments_read_only)
        passes.rewrite("results-apart", results_apart)
        passes.run(f"{BUFFERIZE},{BUFFER_LIFETIMES}")


def arguments_read_only(module: Module) -> None:
    """Forbid in-place updates of the caller's tensors, inputs and weights alike: they are copied where needed."""
    ir = load("ir")
    for function in public_functions(module):
        count = len(function.regions[0].blocks[0].arguments)
        known = list(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else [{}] * count
        marked = [{a.name: a.attr for a in one} | {"bufferization.writable": ir.BoolAttr.get(False)} for one in known]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(one) for one in marked])


def results_apart(module: Module) -> None:
    """Give a value that is returned twice a copy of its own each further time: one buffer cannot be two results."""
    ir, bufferization = load("ir"), load("dialects.bufferization")
    for function in public_functions(module):
        results = list(function.regions[0].blocks[0].operations)[-1].operation
        values = list(results.operands)
        for i, value in enumerate(values):
            if value in values[:i]:
                with ir.InsertionPoint(results), results.location:
                    results.operands[i] = bufferization.AllocTensorOp(value.type, [], copy=value).result
