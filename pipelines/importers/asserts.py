"""no-zero-asserts: the reciprocal of zero is infinite, as IEEE 754 and the frameworks say; torch-mlir asserts there."""

from dialects.protocol import Module, Operation
from dialects.torch_bindings import ir, walk

ZERO = "unimplemented: tensor with zero element"
"""torch-mlir's message in the bodies of reciprocals."""


def no_zero_asserts(module: Module) -> None:
    """Remove the assertions that a reciprocal's operand is not zero, in place; other assertions stay."""
    walk(module, _remove)


def _remove(op: Operation) -> None:
    op = op.operation
    if op.name == "cf.assert" and ir.StringAttr(op.attributes["msg"]).value == ZERO:
        compared = op.operands[0].owner
        op.erase()
        if not list(compared.results[0].uses):
            compared.erase()
