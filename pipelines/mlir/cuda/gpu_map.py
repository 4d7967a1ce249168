"""gpu-map: linalg on buffers to `gpu.launch` with full blocks; views and allocations stay on the host."""

from dialects.bindings import Module
from pipelines.mlir.cuda import host, naming
from pipelines.mlir.cuda.kernel import emit
from pipelines.mlir.cuda.schedule import Mapping, choose
from pipelines.mlir.cuda.structured import structured

BEFORE = "func.func(linalg-generalize-named-ops)"
"""Pass pipeline between `host.copies_to_linalg` and `map_to_kernels`: one form of linalg op to map."""
AFTER = "canonicalize,cse"


def map_to_kernels(module: Module, rules: Mapping) -> None:
    """Replace everything that computes by kernels, in place. Raises CompileError naming what cannot be mapped."""
    host.scalars_to_kernels(module)
    for op in list(host.entry_block(module).operations):
        if op.operation.name == "linalg.generic":
            view = structured(op)
            where = naming.source(op.operation.location)
            emit(view, choose(view, rules), naming.identifier("_".join(filter(None, (naming.computes(view), where)))))
