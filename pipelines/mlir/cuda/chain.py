"""Neighbouring operations that one kernel can run: what fills an accumulator, the core, and elementwise work after it.

Everything here is about memory: on buffers, two operations may share a kernel only if no thread can see another
thread's half of the work.
"""

from dataclasses import dataclass, replace
from typing import Any

from dialects.bindings import Operation, load
from pipelines.mlir.cuda.structured import VIEWS, Structured, structured

ir = load("ir")

_ALLOCATIONS = frozenset({"memref.alloc", "memref.alloca"})
_ALIASES = VIEWS | {"memref.extract_strided_metadata"}
_TRANSPARENT = VIEWS | _ALLOCATIONS | {"memref.dealloc", "memref.get_global", "arith.constant"}


@dataclass(frozen=True)
class Chain:
    """One kernel's work. `init` gives the first value of the core's output instead of memory; each `epilogue` takes
    the value of the operation before it instead of loading it."""

    core: Structured
    init: Structured | None = None
    epilogue: tuple[Structured, ...] = ()

    @property
    def members(self) -> list[Structured]:
        """The operations in order."""
        return [*([self.init] if self.init else []), self.core, *self.epilogue]

    @property
    def last(self) -> Structured:
        """The operation whose output is stored."""
        return self.members[-1]


def chains(block: Any, fuse: bool = True) -> list[Chain]:
    """The structured operations of the host code, grouped into kernels in order."""
    found: list[Chain] = []
    adjacent = False
    for op in block.operations:
        operation = op.operation
        if operation.name == "linalg.generic":
            view = structured(operation)
            if fuse and adjacent and found and _joins(found[-1], view):
                found[-1] = replace(found[-1], epilogue=(*found[-1].epilogue, view))
            elif fuse and adjacent and found and _fills(found[-1], view):
                found[-1] = Chain(view, init=found[-1].core)
            else:
                found.append(Chain(view))
            adjacent = True
        elif operation.name not in _TRANSPARENT:
            adjacent = False
    return found


def base(value: Any) -> Any:
    """The buffer under a chain of views."""
    while isinstance(value.owner, ir.Operation | ir.OpView) and value.owner.name in _ALIASES:
        value = value.owner.operands[0]
    return value


def _fills(before: Chain, core: Structured) -> bool:
    """Whether `before` only writes the values that `core` accumulates onto."""
    first = before.core
    alone = len(before.members) == 1 and not first.reduction and _covers(first) and _covers(core)
    alone = alone and _only_loads(first) and _only_loads(core)
    if not alone or not core.reads(core.inputs) or first.reads(first.inputs):
        return False
    target = core.operands[core.inputs]
    return first.operands[first.inputs] == target and base(target) not in _read_bases(core) | _read_bases(first)


def _joins(before: Chain, view: Structured) -> bool:
    """Whether `view` can run in the threads of `before`, on the value each is about to store."""
    if view.reduction or not _covers(view) or not _covers(before.last):
        return False
    if not all(_only_loads(member) for member in (*before.members, view)):
        return False
    value, target = before.last.operands[before.last.inputs], view.operands[view.inputs]
    taken = [i for i in range(view.inputs) if view.operands[i] == value]
    others = [i for i in range(view.inputs) if i not in taken and view.reads(i)]
    if not taken or any(view.maps[i] != view.maps[taken[0]] for i in taken) or not _reaches_all(view, taken[0]):
        return False
    loaded = _captured_bases(view)
    if base(value) in loaded or base(target) in loaded or any(base(view.operands[i]) == base(value) for i in others):
        return False
    if any(base(view.operands[i]) == base(target) and not _same_element(view, i) for i in others):
        return False
    if base(target) in set[Any]().union(*(_read_bases(m) for m in before.members)):
        return False  # another thread may still read what this one would overwrite
    if target == value:
        return view.maps[view.inputs] == view.maps[taken[0]]
    return base(target) != base(value) and _dead_after(value, view.op)


def _covers(view: Structured) -> bool:
    """Whether the one output is written everywhere, each element at one point of the parallel dimensions."""
    return len(view.outputs) == 1 and _reaches_all(view, view.inputs)


def _reaches_all(view: Structured, position: int) -> bool:
    """Whether the parallel dimensions and the operand's elements correspond one to one."""
    exprs = list(view.maps[position].results)
    dims = [e.position for e in exprs if isinstance(e, ir.AffineDimExpr)]
    shape = ir.MemRefType(view.operands[position].type).shape
    fixed = all(isinstance(e, ir.AffineDimExpr) or n == 1 for e, n in zip(exprs, shape, strict=True))
    missed = [d for d in view.parallel if d not in dims and view.extents[d] > 1]
    return fixed and not missed and len(set(dims)) == len(dims) and not set(dims) & set(view.reduction)


def _same_element(view: Structured, position: int) -> bool:
    return view.operands[position] == view.operands[view.inputs] and view.maps[position] == view.maps[view.inputs]


def _read_bases(view: Structured) -> set[Any]:
    """Buffers that the operation reads other than to accumulate: under its inputs, and loaded by its payload."""
    inputs = [view.operands[i] for i in range(view.inputs) if view.reads(i)]
    return {base(v) for v in inputs if _is_buffer(v)} | _captured_bases(view)


def _captured_bases(view: Structured) -> set[Any]:
    return {base(v) for v, _ in view.captured}


def _only_loads(view: Structured) -> bool:
    """Whether the payload touches memory by plain loads only, so that what it stores is what it yields."""
    return all(user == "memref.load" for _, user in view.captured)


def _dead_after(value: Any, op: Operation) -> bool:
    """Whether nothing reads the buffer after `op` before it is overwritten as a whole. Conservative."""
    allocated = isinstance(value.owner, ir.Operation | ir.OpView) and value.owner.name in _ALLOCATIONS
    if not allocated or any(_is_buffer(result) for use in value.uses for result in use.owner.results):
        return False
    block = op.block
    users = {_ancestor(use.owner, block) for use in value.uses}
    passed = False
    for later in block.operations:
        operation = later.operation
        if passed and operation in users:
            return operation.name == "memref.dealloc" or _overwrites(operation, value)
        passed = passed or operation == op
    return True


def _is_buffer(value: Any) -> bool:
    return isinstance(value.type, ir.MemRefType)


def _overwrites(op: Operation, value: Any) -> bool:
    """Whether the operation stores every element of the buffer and reads none."""
    if op.name != "linalg.generic":
        return False
    view = structured(op)
    if not _covers(view) or view.operands[view.inputs] != value or view.reads(view.inputs) or view.reduction:
        return False
    used = {*view.operands[: view.inputs], *(v for v, _ in view.captured)}
    return base(value) not in {base(v) for v in used if _is_buffer(v)}


def _ancestor(op: Operation, block: Any) -> Operation:
    operation = op.operation
    while operation.block != block:
        operation = operation.parent.operation
    return operation
