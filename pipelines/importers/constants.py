"""Weights as trailing arguments of `@main`: kept out of the IR at import, and lifted out when a pass made new ones."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dialects.protocol import Module
from pipelines.importers.stage import module_artefact, open_module
from pipelines.mlir.passes import PassRunner
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.stage import Context, Stage
from workbench.core.tensors import ConstantSpec
from workbench.core.trace.layout import put_constant

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class LiftConstants(Stage):
    """Moves every constant of more than a few different elements to the arguments, so that the text is complete."""

    process: ClassVar[str] = "torch"
    name: ClassVar[str] = "lift-constants"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.LINALG

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from dialects import torch_bindings as mlir

        assert ir.signature is not None, "an imported module without a signature"
        module = open_module(ir)
        taken = {c.name for c in ir.signature.constants}
        lifted: dict[str, Array] = {}
        with mlir.inside(module):
            passes = PassRunner(mlir, module, ctx.observers, ctx.capture, repeatable=False)
            passes.rewrite("lift-constants", lambda m: lifted.update(lift(m, taken)))
            out = module_artefact(ir, self, module)
        constants = (*ir.signature.constants, *stored(ctx.store, lifted))
        return dataclasses.replace(
            out,
            signature=dataclasses.replace(ir.signature, constants=constants),
            facts={"constants": len(constants), "lifted": len(lifted)},
        )


def stored(store: Path, arrays: Mapping[str, Array]) -> tuple[ConstantSpec, ...]:
    """Put arrays into the trace's store, in order."""
    return tuple(ConstantSpec(n, a.shape, a.dtype.name, put_constant(store, a)) for n, a in arrays.items())


def lift(module: Module, taken: set[str]) -> dict[str, Array]:
    """Rewrite `@main` in place; the values of the new arguments, in order, by a name that is not in `taken`."""
    from dialects.torch_bindings import INLINE, ir, node_of, walk

    main = main_of(module)
    block = main.regions[0].blocks[0]
    lifted: dict[str, Array] = {}

    def visit(op: Any) -> None:
        value: Any = op.attributes["value"] if op.operation.name == "arith.constant" else None
        if not isinstance(value, ir.DenseElementsAttr) or value.is_splat or len(value) <= INLINE:
            return
        base = node_of(op.location) or "constant"
        name = next(n for i in range(len(taken) + 1) if (n := f"{base}.constant_{i}") not in taken)
        taken.add(name)
        lifted[name] = np.array(value)
        op.operation.result.replace_all_uses_with(block.add_argument(value.type, ir.Location.name(name)))
        op.operation.erase()

    walk(main, visit)
    update_type(main)
    return lifted


def main_of(module: Module) -> Any:
    """The function `@main`."""
    return next(f for f in module.body.operations if f.operation.name == "func.func")


def update_type(function: Any) -> None:
    """Make a function's type that of its block arguments and of what it returns."""
    from dialects.torch_bindings import ir

    block = function.regions[0].blocks[0]
    results = list(block.operations)[-1].operands
    kind = ir.FunctionType.get([a.type for a in block.arguments], [r.type for r in results])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
