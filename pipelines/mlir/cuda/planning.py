"""launch-plan: read the outlined host function into a launch plan, and give every scratch buffer its place."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dialects.bindings import Module, Operation, load
from pipelines.mlir.cuda import naming, outline
from pipelines.mlir.cuda.host import entry_block
from pipelines.mlir.cuda.structured import VIEWS
from workbench.core.errors import CompileError
from workbench.core.tensors import ConstantSpec, Signature
from workbench.launch.arena import Lifetime, place
from workbench.launch.plan import Buffer, LaunchPlan, Pointer, Scalar, Step, tensor_bytes

ir = load("ir")

DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
    "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "i1": "bool", "index": "int64",
}  # fmt: skip
_IGNORED = frozenset({"memref.dealloc", "func.return"})
_STORES = {"memref.store": 1, "memref.atomic_rmw": 1, "memref.generic_atomic_rmw": 0}
"""Operations that change memory, and which operand is the buffer."""


Keep = Callable[[np.ndarray[Any, Any]], str]
"""Stores an array where the bundle's constants come from and returns its digest."""


def read_plan(module: Module, signature: Signature, chip: str, keep: Keep, model: str = "") -> LaunchPlan:
    """The plan of an outlined module. Raises CompileError naming a host operation that a plan cannot express.

    Views need no step: kernels get the pointer of the buffer under the view, and their argument's memref type carries
    the view's strides and its offset, which the bare-pointer convention adds inside the kernel. Constants that are
    still in the module (memref.global) join the signature's.
    """
    block = entry_block(module)
    constants = list(signature.constants)
    values: dict[Any, Pointer | Scalar] = dict(zip(block.arguments, _arguments(signature), strict=True))
    sizes: list[int] = []
    steps: list[Step] = []
    stores = {key: _written(op) for key, op in outline.kernels(module).items()}
    for op in block.operations:
        operation = op.operation
        name = operation.name
        if name in ("memref.alloc", "memref.alloca"):
            values[operation.result] = Pointer("buffer", len(sizes))
            sizes.append(_bytes(operation.result.type))
        elif name in VIEWS:
            values[operation.results[0]] = _through(operation, values)
        elif name == "memref.get_global":
            values[operation.result] = Pointer("constant", len(constants))
            constants.append(_global(module, operation, keep))
        elif name == "arith.constant":
            values[operation.result] = _scalar(operation)
        elif name == "gpu.launch_func":
            steps.append(_step(operation, values, stores[outline.kernel_of(operation)]))
        elif name not in _IGNORED:
            raise CompileError(f"{name} at {operation.location} is left on the host: a launch plan cannot express it")
    buffers, renumbered, arena = _allocate(sizes, steps)
    return LaunchPlan(
        chip=chip,
        inputs=signature.inputs,
        constants=tuple(constants),
        outputs=signature.outputs,
        buffers=buffers,
        steps=renumbered,
        arena_bytes=arena,
        model=model,
        extra={"unshared_bytes": sum(b.bytes for b in buffers)},
    )


def _arguments(signature: Signature) -> list[Pointer]:
    spaces = (("input", signature.inputs), ("constant", signature.constants), ("output", signature.outputs))
    return [Pointer(space, i) for space, tensors in spaces for i in range(len(tensors))]


def _bytes(kind: Any) -> int:
    memref = ir.MemRefType(kind)
    element = str(memref.element_type)
    if element not in DTYPES:
        raise CompileError(f"{memref}: no launch plan dtype for {element}")
    return tensor_bytes(tuple(memref.shape), DTYPES[element])


def _global(module: Module, op: Operation, keep: Keep) -> ConstantSpec:
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    found = [o for o in module.body.operations if o.operation.name == "memref.global" and outline.symbol(o) == name]
    value = found[0].operation.attributes["initial_value"] if found else None
    if not isinstance(value, ir.DenseElementsAttr):
        raise CompileError(f"memref.global @{name} has no dense value; lift weights to arguments before the cuda leg")
    kind = ir.MemRefType(op.result.type)
    array = np.array(ir.DenseElementsAttr(value)).reshape(list(kind.shape))
    return ConstantSpec(name, tuple(kind.shape), DTYPES[str(kind.element_type)], keep(array))


def _through(op: Operation, values: dict[Any, Pointer | Scalar]) -> Pointer | Scalar:
    base = values[op.operands[0]]
    if op.name == "memref.view" and isinstance(base, Pointer):
        shift = values[op.operands[1]]
        assert isinstance(shift, Scalar), "host.scalars_to_kernels refuses run-time shifts"
        return Pointer(base.space, base.index, base.byte_offset + int(shift.value))
    return base


def _scalar(op: Operation) -> Scalar:
    value = op.attributes["value"]
    dtype = DTYPES.get(str(op.result.type), "int64")
    number = ir.FloatAttr(value).value if dtype.startswith(("float", "bfloat")) else ir.IntegerAttr(value).value
    return Scalar(dtype, number)


def _step(op: Operation, values: dict[Any, Pointer | Scalar], written: tuple[int, ...]) -> Step:
    groups = iter(op.operands)
    parts = [[next(groups) for _ in range(n)] for n in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]

    def number(part: list[Any]) -> int:
        known = values[part[0]]
        assert isinstance(known, Scalar), "launch sizes are constants"
        return int(known.value)

    return Step(
        kernel=outline.kernel_of(op)[1],
        grid=(number(parts[1]), number(parts[2]), number(parts[3])),
        block=(number(parts[4]), number(parts[5]), number(parts[6])),
        args=tuple(values[v] for v in parts[11]),
        shared_bytes=number(parts[10]) if parts[10] else 0,
        source=naming.source_text(op.location),
        writes=written,
    )


def _written(kernel: Operation) -> tuple[int, ...]:
    """Positions of the arguments that a kernel stores to."""
    found: list[int] = []
    for i, argument in enumerate(kernel.regions[0].blocks[0].arguments):
        if isinstance(argument.type, ir.MemRefType) and any(_stores(use) for use in argument.uses):
            found.append(i)
    return tuple(found)


def _stores(use: Any) -> bool:
    owner = use.owner.operation
    if owner.name in VIEWS:
        return any(_stores(u) for u in owner.results[0].uses)
    return _STORES.get(owner.name) == use.operand_number


def _allocate(sizes: list[int], steps: list[Step]) -> tuple[tuple[Buffer, ...], tuple[Step, ...], int]:
    """Lifetimes from the steps, offsets in the arena, and steps that refer to used buffers only."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, step in enumerate(steps):
        for arg in step.args:
            if isinstance(arg, Pointer) and arg.space == "buffer":
                first.setdefault(arg.index, number)
                last[arg.index] = number
    used = sorted(first)
    lifetimes = [Lifetime(sizes[i], first[i], last[i]) for i in used]
    offsets, arena = place(lifetimes)
    new = {old: i for i, old in enumerate(used)}
    buffers = tuple(Buffer(t.size, o, t.first, t.last) for t, o in zip(lifetimes, offsets, strict=True))

    def moved(arg: Pointer | Scalar) -> Pointer | Scalar:
        if isinstance(arg, Pointer) and arg.space == "buffer":
            return Pointer("buffer", new[arg.index], arg.byte_offset)
        return arg

    return buffers, tuple(replace(s, args=tuple(moved(a) for a in s.args)) for s in steps), arena
