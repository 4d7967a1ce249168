"""Importers: torch.export programs and ONNX models to linalg on tensors, weights lifted to arguments."""

from workbench.core.source import Frontend
from workbench.core.stage import Stage


def import_stages(frontend: Frontend) -> tuple[Stage, ...]:
    """The stages from the user's model to linalg, which every MLIR route starts with."""
    from pipelines.importers.constants import LiftConstants
    from pipelines.importers.lowering import Decompose, DecomposeOnnx, Linalg

    if frontend == "onnx":
        from pipelines.importers.onnx.stages import (
            FoldBatchNormOnnx,
            ImportOnnx,
            InferShapes,
            Legalize,
            Load,
            UpgradeOpset,
        )
        from pipelines.importers.reference import OnnxReference

        clean = (UpgradeOpset(), InferShapes(), FoldBatchNormOnnx(), Legalize())
        head = (Load(), OnnxReference(), *clean, ImportOnnx(), DecomposeOnnx())
    else:
        from pipelines.importers.fx.batch_norm import FoldBatchNorm
        from pipelines.importers.fx.export import Export
        from pipelines.importers.fx.to_torch import CoreAten, ImportFx
        from pipelines.importers.reference import FxReference

        head = (Export(), FxReference(), FoldBatchNorm(), CoreAten(), ImportFx(), Decompose())
    return (*head, Linalg(), LiftConstants())
