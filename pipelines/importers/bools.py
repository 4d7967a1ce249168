"""bools-to-bytes: tensors of i1 become tensors of i8 holding 0 or 1.

That is numpy's own layout, and LLVM 22 aborts where a buffer of i1 is stored to.
"""

from typing import Any

from dialects.protocol import Module, Operation
from dialects.torch_bindings import ir, node_of, walk
from pipelines.importers.constants import update_type
from workbench.core.errors import CompileError

RETYPED = frozenset({"tensor", "linalg", "bufferization", "scf", "func", "builtin"})
"""Dialects whose operations take any element type, so that changing the types of their values is enough."""


def bools_to_bytes(module: Module) -> None:
    """Rewrite a module of linalg on tensors in place. Raises CompileError on arithmetic between whole bool tensors."""
    for function in module.body.operations:
        if function.operation.name == "func.func" and function.regions[0].blocks:
            for argument in function.regions[0].blocks[0].arguments:
                _retype(argument)
            walk(function, _convert)
            update_type(function)


def _convert(op: Operation) -> None:
    op = op.operation
    if op.name == "arith.constant" and _bytes(op.result.type) is not None:
        op.attributes["value"] = _constant(op.attributes["value"], _bytes(op.result.type))
    elif op.name == "tensor.extract" and _is_bool(op.result.type):
        op.result.set_type(_byte())
        _narrow(op.result, ir.InsertionPoint.after(op))
    elif any(_bytes(r.type) is not None for r in op.results):
        if op.name.partition(".")[0] not in RETYPED:
            raise CompileError(f"{op.name} at node '{node_of(op.location)}' computes with whole tensors of booleans")
        _widen_scalars(op)
    if op.name.startswith("linalg.") or op.name in ("tensor.pad", "tensor.generate"):
        for region in op.regions:
            _convert_body(region.blocks[0])
    for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)):
        _retype(value)


def _widen_scalars(op: Operation) -> None:
    """Make the booleans that an operation puts into a tensor (fill, insert, from_elements) bytes."""
    for i, operand in enumerate(op.operands):
        if _is_bool(operand.type):
            op.operands[i] = _wide(operand, op)


def _convert_body(block: Any) -> None:
    """The elements a body gets are bytes where the tensor now is; what it yields must be a byte there too."""
    owner, end = block.owner.operation, list(block.operations)[-1].operation
    structured = owner.name.startswith("linalg.")
    for argument, operand in zip(block.arguments, owner.operands, strict=False) if structured else ():
        if _is_bool(argument.type) and not _is_bool(operand.type):
            argument.set_type(_byte())
            _narrow(argument, ir.InsertionPoint.at_block_begin(block))
    for i, (value, result) in enumerate(zip(end.operands, owner.results, strict=True)):
        if _is_bool(value.type) and _bytes(result.type) is not None:
            end.operands[i] = _wide(value, end)


def _narrow(value: Any, where: Any) -> None:
    """Give the users of a value that became a byte its boolean, except where it is only handed on."""
    uses = [use for use in value.uses if use.owner.operation.name not in ("linalg.yield", "tensor.yield")]
    if uses:
        with where, ir.Location.unknown():
            bit = ir.Operation.create("arith.trunci", [ir.IntegerType.get_signless(1)], [value]).result
        for use in uses:
            use.owner.operands[use.operand_number] = bit


def _wide(value: Any, before: Operation) -> Any:
    with ir.InsertionPoint(before), before.location:
        return ir.Operation.create("arith.extui", [_byte()], [value]).result


def _constant(value: Any, kind: Any) -> Any:
    if value.is_splat:
        return ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(_byte(), int(value.get_splat_value().value)))
    return ir.DenseElementsAttr.get([ir.IntegerAttr.get(_byte(), int(bit)) for bit in value], kind)


def _retype(value: Any) -> None:
    kind = _bytes(value.type)
    if kind is not None:
        value.set_type(kind)


def _bytes(kind: Any) -> Any:
    """The i8 form of a tensor of i1, or None."""
    if isinstance(kind, ir.RankedTensorType) and _is_bool(kind.element_type):
        return ir.RankedTensorType.get(list(kind.shape), _byte(), kind.encoding)
    return None


def _byte() -> Any:
    return ir.IntegerType.get_signless(8)


def _is_bool(kind: Any) -> bool:
    return isinstance(kind, ir.IntegerType) and kind.width == 1
