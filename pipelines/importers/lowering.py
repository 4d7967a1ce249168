"""The torch dialect to linalg on tensors, by torch-mlir's own passes, written out so that each one is seen."""

from dataclasses import dataclass
from typing import ClassVar

from pipelines.importers.stage import TorchStage
from pipelines.mlir.passes import PassRunner
from workbench.core.kinds import IRKind

FX_TO_BACKEND = (
    "func.func(torch-match-quantized-custom-ops),inline,func.func(torch-reduce-op-variants,canonicalize,"
    "torch-decompose-complex-ops,torch-recompose-complex-ops,canonicalize)"
)
"""`torchdynamo-export-to-torch-backend-pipeline` after the quantised custom operators."""

SHAPES = (
    "torch-reify-shape-calculations,inline,func.func(torch-simplify-shape-calculations,cse,"
    "torch-simplify-shape-calculations,torch-drop-abstract-interp-calculations)"
)
ONNX_TO_BACKEND = (
    "func.func(convert-torch-onnx-to-torch,torch-decompose-complex-ops,canonicalize),"
    f"{SHAPES},func.func(torch-scalarize-shapes),{SHAPES},torch-refine-public-return,"
    "func.func(canonicalize,torch-decompose-complex-ops,canonicalize)"
)
"""`torch-onnx-to-torch-backend-pipeline`."""

BACKEND_TO_LINALG = (
    "func.func(torch-restructure-non-constant-axes,torch-fuse-quantized-ops,convert-torch-to-tmtensor,canonicalize,"
    "convert-torch-to-linalg,canonicalize,convert-torch-to-scf,convert-torch-to-arith,convert-torch-to-tensor),"
    "convert-torch-conversion-to-mlprogram,func.func(memref-expand,canonicalize,resolve-shaped-type-result-dims,cse),"
    "torch-func-backend-type-conversion,func.func(canonicalize,torch-finalizing-backend-type-conversion),"
    "torch-verify-linalg-on-tensors-backend-contract"
)
"""`torch-backend-to-linalg-on-tensors-backend-pipeline`, which keeps NaN and infinities by default."""


@dataclass(frozen=True)
class Decompose(TorchStage):
    """Operators to the few that have a lowering (the backend form of the torch dialect)."""

    name: ClassVar[str] = "decompose"
    consumes: ClassVar[IRKind] = IRKind.TORCH
    produces: ClassVar[IRKind] = IRKind.TORCH

    def lower(self, passes: PassRunner) -> None:
        passes.run(FX_TO_BACKEND)


class DecomposeOnnx(Decompose):
    """ONNX operators to torch operators, and those to the few that have a lowering."""

    def lower(self, passes: PassRunner) -> None:
        passes.run(ONNX_TO_BACKEND)


@dataclass(frozen=True)
class Linalg(TorchStage):
    """The backend form to linalg on tensors."""

    name: ClassVar[str] = "linalg"
    consumes: ClassVar[IRKind] = IRKind.TORCH
    produces: ClassVar[IRKind] = IRKind.LINALG

    def lower(self, passes: PassRunner) -> None:
        from pipelines.importers.asserts import no_zero_asserts
        from pipelines.importers.bools import bools_to_bytes
        from pipelines.importers.loops import loops

        passes.run(f"{BACKEND_TO_LINALG},symbol-dce")
        passes.rewrite("no-zero-asserts", no_zero_asserts)
        passes.rewrite("loops", loops)
        passes.rewrite("bools-to-bytes", bools_to_bytes)
