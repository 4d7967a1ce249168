"""gpu-map: linalg on buffers to `gpu.launch` with full blocks; views and allocations stay on the host."""

from dialects.bindings import Module
from pipelines.mlir.cuda import host, naming
from pipelines.mlir.cuda.kernel import emit
from pipelines.mlir.cuda.schedule import LaunchRules, choose
from pipelines.mlir.cuda.structured import structured

BEFORE = "func.func(linalg-generalize-named-ops)"
"""Pass pipeline that leaves one form of linalg operation to map."""
AFTER = "canonicalize,cse"


def map_to_kernels(module: Module, rules: LaunchRules) -> None:
    """Replace every structured operation by a kernel, in place. Raises CompileError naming what cannot be mapped."""
    for op in list(host.entry_block(module).operations):
        if op.operation.name == "linalg.generic":
            view = structured(op)
            emit(view, choose(view, rules), naming.computes(view))
