"""The base of every importer stage that works on a torch-mlir module."""

from abc import abstractmethod
from typing import ClassVar

from dialects.protocol import Module
from pipelines.mlir.passes import PassRunner
from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.stage import Context, Stage


class TorchStage(Stage):
    """Lowers a torch-mlir module by passes and rewrites, in `lower`."""

    process: ClassVar[str] = "torch"

    @abstractmethod
    def lower(self, passes: PassRunner) -> None:
        """Change `passes.module` in place."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from dialects import torch_bindings as mlir

        module = open_module(ir)
        with mlir.inside(module):
            self.lower(PassRunner(mlir, module, ctx.observers, ctx.capture, repeatable=False))
            return module_artefact(ir, self, module)


def open_module(ir: Artefact) -> Module:
    """A module of one's own to change: a copy of the live one, or the text parsed in a fresh context."""
    from dialects import torch_bindings as mlir

    if ir.handle is not None:
        return mlir.clone(ir.handle)
    if ir.elided:
        raise UsageError(f"the {ir.kind} text lacks some constants, so nothing can start there; start one stage before")
    return mlir.parse(ir.located or ir.text)


def module_artefact(ir: Artefact, stage: Stage, module: Module) -> Artefact:
    """What a stage gives: the text, plain and located, and the live module."""
    from dialects import torch_bindings as mlir

    text = mlir.text_of(module)
    located = mlir.text_of(module, located=True)
    return ir.derive(stage.produces, text, handle=module, located=located, elided="__elided__" in text)
