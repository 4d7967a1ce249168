"""Fences: calls through which values pass while a fusion runs that must not see past them."""

from typing import Any

from dialects.bindings import Module, Operation, walk
from pipelines.mlir.tiled.edit import ir

PREFIX = "tiled_fence"
"""Prefix of the functions that are called."""


class Fences:
    """Puts fences into one module; `remove_fences` takes all of them out."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._declared: dict[str, str] = {}

    def before(self, op: Operation, number: int) -> None:
        """Let an operation read operand `number` through a fence."""
        with ir.InsertionPoint(op), op.location:
            op.operands[number] = self._passed(op.operands[number])

    def after(self, op: Operation, result: Any) -> None:
        """Let every user read a result through a fence."""
        readers = [(use.owner, use.operand_number) for use in result.uses]
        with ir.InsertionPoint.after(op), op.location:
            fenced = self._passed(result)
        for owner, number in readers:
            owner.operands[number] = fenced

    def _passed(self, value: Any) -> Any:
        callee = ir.FlatSymbolRefAttr.get(self._function(value.type))
        call = ir.Operation.create("func.call", operands=[value], results=[value.type], attributes={"callee": callee})
        return call.results[0]

    def _function(self, kind: Any) -> str:
        key = str(kind)
        if key not in self._declared:
            self._declared[key] = f"{PREFIX}{len(self._declared)}"
            attributes = {
                "sym_name": ir.StringAttr.get(self._declared[key]),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([kind], [kind])),
                "sym_visibility": ir.StringAttr.get("private"),
            }
            with ir.InsertionPoint(self._module.body):
                ir.Operation.create("func.func", attributes=attributes, regions=1)
        return self._declared[key]


def remove_fences(module: Module) -> None:
    """Take out every fence and the functions that stood for them."""

    def visit(op: Operation) -> None:
        if op.operation.name == "func.call" and op.attributes["callee"].value.startswith(PREFIX):
            op.operation.results[0].replace_all_uses_with(op.operation.operands[0])
            op.operation.erase()
        elif op.operation.name == "func.func" and op.attributes["sym_name"].value.startswith(PREFIX):
            op.operation.erase()

    walk(module.operation, visit)
