"""The base of every stage that works on an MLIR module."""

from abc import abstractmethod

from dialects import bindings
from dialects.bindings import Module, clone, inside, parse, text_of
from pipelines.mlir.passes import PassRunner
from workbench.core.artefact import Artefact
from workbench.core.stage import Context, Stage


def open_module(ir: Artefact) -> Module:
    """A module of one's own to change: a copy of the live one, or the text parsed in a fresh context."""
    if ir.handle is not None:
        return clone(ir.handle)
    return parse(ir.located or ir.text)


class MlirStage(Stage):
    """Lowers a module by passes and rewrites, in `lower`."""

    @abstractmethod
    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        """Change `passes.module` in place; `ir` is the untouched input with its signature."""

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        module = open_module(ir)
        with inside(module):
            passes = PassRunner(bindings, module, ctx.observers, ctx.capture, text=ir.text)
            self.lower(ctx, passes, ir)
            return ir.derive(self.produces, passes.text(), handle=module, located=text_of(module, located=True))
