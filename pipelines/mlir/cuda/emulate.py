"""Executes a launch plan in numpy: all threads of a launch at once, one array element a thread. Slow, and exact.

It reads the outlined module, so it says whether mapping, outlining, merging, views and the arena are right on a
machine without a GPU. It does not model time or caches.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from dialects.bindings import Module, Operation, load
from pipelines.mlir.cuda import outline, scalars
from pipelines.mlir.cuda.schedule import WARP
from pipelines.mlir.cuda.structured import VIEWS
from workbench.core.arrays import numpy_dtype
from workbench.core.errors import CompileError, Skip
from workbench.launch.plan import LaunchPlan, Pointer, Step, tensor_bytes

ir = load("ir")

Array = np.ndarray[Any, Any]
WarpOrder = Literal["together", "forward", "backward"]
_SIGNED = {1: np.bool_, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def run_plan(
    module: Module, plan: LaunchPlan, arrays: Mapping[str, Array], warps: WarpOrder = "together"
) -> dict[str, Array]:
    """Outputs of `plan` on its outlined module. `arrays` gives inputs and constants by name.

    `warps` is the order in which a launch's warps run: in lockstep, or one after the other from either end, which
    gives another result when threads of one launch race. Scratch and outputs start as NaN bytes. Raises Skip for an
    operation it has no meaning for, and CompileError when an assertion of the model fails.
    """
    kernels = {name: op for (_, name), op in outline.kernels(module).items()}
    arena = np.full(plan.arena_bytes, 0xFF, np.uint8)
    memory: dict[str, list[Array]] = {
        "input": [_bytes_of(arrays[t.name]) for t in plan.inputs],
        "constant": [_bytes_of(arrays[t.name]) for t in plan.constants],
        "output": [np.full(tensor_bytes(t.shape, t.dtype), 0xFF, np.uint8) for t in plan.outputs],
        "buffer": [arena[b.offset : b.offset + b.bytes] for b in plan.buffers],
    }
    with np.errstate(all="ignore"):
        for step in plan.steps:
            for threads in _order(step, warps):
                _Launch(step, memory, threads).run(kernels[step.kernel])
    return {
        t.name: raw.view(numpy_dtype(t.dtype)).reshape(t.shape)
        for t, raw in zip(plan.outputs, memory["output"], strict=True)
    }


def operations(module: Module, plan: LaunchPlan) -> int:
    """How many operations all threads of the plan execute together: the emulator does about a billion in 2 s."""
    cost = {name: _cost(op.regions[0].blocks[0]) for (_, name), op in outline.kernels(module).items()}
    return sum(math.prod(s.grid) * math.prod(s.block) * cost[s.kernel] for s in plan.steps)


def _cost(block: Any) -> int:
    total = 0
    for op in block.operations:
        inner = sum(_cost(b) for region in op.operation.regions for b in region.blocks)
        total += 1 + inner * (_trips(op.operation) if op.operation.name == "scf.for" else 1)
    return total


def _trips(loop: Operation) -> int:
    """Iterations of a loop with constant upper bound and step; a lower bound that is a lane counts as 0."""
    upper, step = (v.owner for v in list(loop.operands)[1:3])
    if upper.name != "arith.constant" or step.name != "arith.constant":
        return 1
    return -(-_integer(upper.attributes["value"]) // _integer(step.attributes["value"]))


def _order(step: Step, warps: WarpOrder) -> list[Array]:
    """The launch's threads by number, in groups that run in lockstep."""
    numbers = np.arange(math.prod(step.grid) * math.prod(step.block))
    if warps == "together":
        return [numbers]
    groups = [numbers[i : i + WARP] for i in range(0, len(numbers), WARP)]
    return groups if warps == "forward" else groups[::-1]


class _Launch:
    """Threads of one launch: values by SSA value, each an array with one element a thread, or a memory view."""

    def __init__(self, step: Step, memory: Mapping[str, list[Array]], numbers: Array) -> None:
        self.step, self.memory, self.numbers = step, memory, numbers
        self.threads = len(numbers)
        self.values: dict[Any, Any] = {}

    def run(self, kernel: Operation) -> None:
        for argument, given in zip(kernel.regions[0].blocks[0].arguments, self.step.args, strict=True):
            if isinstance(given, Pointer):
                raw = self.memory[given.space][given.index][given.byte_offset :]
                self.values[argument] = raw.view(dtype_of(ir.MemRefType(argument.type).element_type))
            else:
                self.values[argument] = np.full(self.threads, given.value, dtype_of(argument.type))
        self._block(kernel.regions[0].blocks[0], np.ones(self.threads, bool))

    def _block(self, block: Any, mask: Array) -> list[Any]:
        for op in block.operations:
            operation = op.operation
            if operation.name in ("scf.yield", "gpu.return"):
                return [self.values[v] for v in operation.operands]
            self._operation(operation, mask)
        return []

    def _operation(self, op: Operation, mask: Array) -> None:
        name = op.name
        args = [self.values[v] for v in op.operands]
        if name == "scf.for":
            results = self._loop(op, args, mask)
        elif name == "scf.if":
            results = self._branch(op, args[0], mask)
        elif name == "memref.load":
            at = self._places(op, op.operands[0], args[1:], mask)
            loaded = np.zeros(self.threads, args[0].dtype)
            loaded[mask] = args[0][at]
            results = [loaded]
        elif name == "memref.store":
            args[1][self._places(op, op.operands[1], args[2:], mask)] = args[0][mask]
            results = []
        elif name == "cf.assert":
            results = []
            if np.any(mask & ~args[0]):
                raise CompileError(f"the model's own check failed: {ir.StringAttr(op.attributes['msg']).value}")
        elif name in VIEWS:
            results = [args[0]]
        elif name == "gpu.shuffle":
            lanes = np.arange(self.threads) ^ int(args[1][0])
            results = [args[0][lanes], np.ones(self.threads, bool)]
        else:
            results = [self._pure(op, args)]
        self.values.update(zip(op.results, results, strict=True))

    def _places(self, op: Operation, memref: Any, indices: list[Array], mask: Array) -> Array:
        """Element numbers that the active threads touch; raises CompileError when one lies outside the buffer."""
        strides, offset = ir.MemRefType(memref.type).get_strides_and_offset()
        at = np.full(self.threads, offset)
        for index, stride in zip(indices, strides, strict=True):
            at = at + index * stride
        at = at[mask]
        if at.size and not 0 <= at.min() <= at.max() < len(self.values[memref]):
            raise CompileError(f"{op.name} at {op.location} in {self.step.kernel} reaches outside its buffer")
        return at

    def _pure(self, op: Operation, args: list[Any]) -> Any:
        name = op.name
        if name == "arith.constant":
            value = op.attributes["value"]
            number = ir.FloatAttr(value).value if isinstance(value, ir.FloatAttr) else _integer(value)
            return np.full(self.threads, number).astype(dtype_of(op.result.type))
        if name in ("gpu.thread_id", "gpu.block_id"):
            block = self.step.block[0]
            return self.numbers % block if name == "gpu.thread_id" else self.numbers // block
        if name == "affine.apply":
            indexing = ir.AffineMapAttr(op.attributes["map"]).value
            return evaluate(indexing.results[0], args[: indexing.n_dims], args[indexing.n_dims :])
        if name == "arith.select":
            return np.where(args[0], args[1], args[2])
        if name in ("arith.cmpi", "arith.cmpf"):
            return scalars.compare(name, _integer(op.attributes["predicate"]), args[0], args[1])
        if name in scalars.READS_UNSIGNED:
            args = [scalars.unsigned(a) for a in args]
        if name in scalars.BINARY:
            out = scalars.BINARY[name](args[0], args[1])
        elif name in scalars.UNARY:
            out = scalars.UNARY[name](args[0])
        elif name == "math.fma":
            out = args[0] * args[1] + args[2]
        else:
            raise Skip(f"the emulator has no meaning for {name} at {op.location}")
        return scalars.convert(out, dtype_of(op.result.type), name)

    def _loop(self, op: Operation, args: list[Any], mask: Array) -> list[Any]:
        lower, upper, step, *carried = args
        body = op.regions[0].blocks[0]
        number = lower.copy()
        active = mask & (number < upper)
        while active.any():
            self.values.update(zip(body.arguments, [number, *carried], strict=True))
            new = self._block(body, active)
            carried = [np.where(active, n, c) for n, c in zip(new, carried, strict=True)]
            number = number + step
            active = active & (number < upper)
        return carried

    def _branch(self, op: Operation, condition: Any, mask: Array) -> list[Any]:
        taken = mask & condition
        then = self._block(op.regions[0].blocks[0], taken)
        blocks = list(op.regions[1].blocks)
        other = self._block(blocks[0], mask & ~condition) if blocks else []
        return [np.where(taken, a, b) for a, b in zip(then, other, strict=True)]


def evaluate(expr: Any, dims: list[Any], symbols: list[Any]) -> Any:
    """Value of an affine expression, given the values of its dimensions and symbols."""
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value
    if isinstance(expr, ir.AffineDimExpr):
        return dims[expr.position]
    if isinstance(expr, ir.AffineSymbolExpr):
        return symbols[expr.position]
    left, right = evaluate(expr.lhs, dims, symbols), evaluate(expr.rhs, dims, symbols)
    if isinstance(expr, ir.AffineAddExpr):
        return left + right
    if isinstance(expr, ir.AffineMulExpr):
        return left * right
    if isinstance(expr, ir.AffineModExpr):
        return left % right
    return left // right if isinstance(expr, ir.AffineFloorDivExpr) else -(-left // right)


def dtype_of(kind: Any) -> Any:
    """numpy dtype of an MLIR scalar type."""
    text = str(kind)
    if text == "index":
        return np.dtype(np.int64)
    if text == "bf16":
        return numpy_dtype("bfloat16")
    return np.dtype(_SIGNED[int(text[1:])] if text.startswith("i") else f"float{text[1:]}")


def _integer(value: Any) -> int:
    return int(value.value) if hasattr(value, "value") else int(ir.IntegerAttr(value).value)


def _bytes_of(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).copy()
