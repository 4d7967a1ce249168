"""Booleans are stored as bytes (0 or 1), numpy's own layout; LLVM 22 asserts on storing an i1."""

from typing import Any

from dialects.bindings import Module, Operation, load, walk
from pipelines.mlir.cuda.host import entry_function

ir = load("ir")
arith = load("dialects.arith")
memref = load("dialects.memref")


def bools_to_bytes(module: Module) -> None:
    """Turn every buffer of i1 into one of i8, converting where kernels load and store. Works in place."""
    function = entry_function(module)
    for argument in function.regions[0].blocks[0].arguments:
        _retype(argument)
    walk(module.operation, _convert)
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = [_bytes(t) or t for t in kind.inputs]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, kind.results))


def _convert(op: Operation) -> None:
    operation = op.operation
    for result in operation.results:
        _retype(result)
    if operation.name == "memref.load" and _is_bool(operation.result.type):
        with ir.InsertionPoint(op), operation.location:
            byte = memref.LoadOp(operation.operands[0], list(operation.operands)[1:]).result
            operation.result.replace_all_uses_with(arith.trunci(operation.result.type, byte))
        operation.erase()
    elif operation.name == "memref.store" and _is_bool(operation.operands[0].type):
        with ir.InsertionPoint(op), operation.location:
            byte = arith.extui(ir.IntegerType.get_signless(8), operation.operands[0])
            memref.StoreOp(byte, operation.operands[1], list(operation.operands)[2:])
        operation.erase()
    elif operation.name == "memref.global":
        _retype_global(operation)


def _retype_global(op: Operation) -> None:
    byte = _bytes(ir.TypeAttr(op.attributes["type"]).value)
    if byte is None:
        return
    values = [int(v) for v in ir.DenseIntElementsAttr(op.attributes["initial_value"])]
    kind = ir.MemRefType(byte)
    tensor = ir.RankedTensorType.get(list(kind.shape), kind.element_type)
    numbers = [ir.IntegerAttr.get(kind.element_type, v) for v in values]
    op.attributes["type"] = ir.TypeAttr.get(byte)
    op.attributes["initial_value"] = ir.DenseElementsAttr.get(numbers, tensor)


def _retype(value: Any) -> None:
    byte = _bytes(value.type)
    if byte is not None:
        value.set_type(byte)


def _bytes(kind: Any) -> Any:
    """The i8 form of a memref of i1, or None."""
    if not isinstance(kind, ir.MemRefType) or not _is_bool(ir.MemRefType(kind).element_type):
        return None
    old = ir.MemRefType(kind)
    return ir.MemRefType.get(list(old.shape), ir.IntegerType.get_signless(8), old.layout, old.memory_space)


def _is_bool(kind: Any) -> bool:
    return isinstance(kind, ir.IntegerType) and ir.IntegerType(kind).width == 1
