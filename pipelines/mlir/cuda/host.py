"""What may stay on the host: allocations, views, constants. Scalars move into kernels; the rest is refused by name."""

from typing import Any

from dialects.bindings import Module, Operation, load
from pipelines.mlir.cuda import naming
from pipelines.mlir.cuda.kernel import Grid, launch
from pipelines.mlir.cuda.structured import VIEWS
from workbench.core.errors import CompileError

ir = load("ir")
linalg = load("dialects.linalg")
memref = load("dialects.memref")

STORAGE = frozenset({"memref.alloc", "memref.alloca", "memref.dealloc", "memref.get_global"})
_FREE = VIEWS | STORAGE | {"arith.constant", "func.return", "memref.extract_strided_metadata"}
_SCALAR = ("arith.", "math.", "scf.", "memref.load", "memref.store", "affine.apply", "index.", "cf.assert")


def entry_function(module: Module) -> Operation:
    """The one function with a body; raises CompileError when there are more."""
    found = [o for o in module.body.operations if o.operation.name == "func.func" and o.regions[0].blocks]
    if len(found) != 1:
        names = ", ".join(str(o.attributes["sym_name"]) for o in found) or "none"
        raise CompileError(f"the cuda leg needs one function with a body, found {names}; inline the others first")
    return found[0].operation


def entry_block(module: Module) -> Any:
    """The host code: the single block of the entry function."""
    blocks = list(entry_function(module).regions[0].blocks)
    if len(blocks) != 1:
        raise CompileError("cf.cond_br on the host: a launch plan has no control flow; run this model on the cpu leg")
    return blocks[0]


def copies_to_linalg(module: Module) -> None:
    """memref.copy becomes linalg.copy, so that the copy is made by a kernel and not by the host."""
    for op in list(entry_block(module).operations):
        if op.operation.name == "memref.copy":
            source, target = op.operation.operands
            with ir.InsertionPoint(op), op.operation.location:
                linalg.copy(source, outs=[target])
            op.operation.erase()


def scalars_to_kernels(module: Module) -> None:
    """Runs of scalar operations between the kernels become kernels of one thread.

    A scalar that is used later is handed on through a buffer of one element.
    """
    run: list[Operation] = []
    for op in list(entry_block(module).operations):
        name = op.operation.name
        if name in _FREE or name == "linalg.generic":
            _refuse_runtime_view(op)
            if run and name not in ("arith.constant", "memref.alloc"):
                _wrap(run)
                run = []
        elif name.startswith(_SCALAR):
            _refuse_nested(op)
            run.append(op.operation)
        else:
            raise CompileError(
                f"{name} at {op.operation.location}: the cuda leg cannot run it on the host; use the cpu leg"
            )


def _wrap(run: list[Operation]) -> None:
    inside = set(run)
    name = naming.of_host(run)
    handed: list[tuple[Any, Any]] = []
    with ir.InsertionPoint(run[0]), run[0].location:
        for op in run:
            for result in op.results:
                users = [use for use in result.uses if _root(use.owner, run[0].block) not in inside]
                if users:
                    cell = memref.AllocOp(ir.MemRefType.get([], result.type), [], []).result
                    handed.append((result, cell))
                    for use in users:
                        with ir.InsertionPoint(use.owner), use.owner.location:
                            use.owner.operands[use.operand_number] = memref.LoadOp(cell, []).result
    with launch(run[0], Grid(1, 1), name, run[0].location):
        anchor = ir.InsertionPoint.current
        for op in run:
            anchor.insert(op.detach_from_parent())
        for result, cell in handed:
            memref.StoreOp(result, cell, [])


def _root(op: Operation, block: Any) -> Operation:
    op = op.operation
    while op.block != block:
        op = op.parent.operation
    return op


def _refuse_runtime_view(op: Operation) -> None:
    name = op.operation.name
    if name not in VIEWS and name != "memref.alloc":
        return
    for value in list(op.operation.operands)[0 if name == "memref.alloc" else 1 :]:
        if isinstance(value.type, ir.IndexType) and value.owner.name != "arith.constant":
            raise CompileError(
                f"{name} at {op.operation.location} takes a size or an offset that is computed at run time; "
                "a launch plan is static: give the size a value, or use the cpu leg"
            )


def _refuse_nested(op: Operation) -> None:
    for region in op.operation.regions:
        for block in region.blocks:
            for nested in block.operations:
                name = nested.operation.name
                if not name.startswith(_SCALAR):
                    raise CompileError(
                        f"{op.operation.name} at {op.operation.location} runs {name} on the host: a launch plan has "
                        "no control flow; use the cpu leg"
                    )
                _refuse_nested(nested)
