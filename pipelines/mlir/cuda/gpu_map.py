"""gpu-map: linalg on buffers to `gpu.launch` with full blocks; views and allocations stay on the host."""

from dialects.bindings import Module
from pipelines.mlir.cuda import host, naming
from pipelines.mlir.cuda.chain import chains
from pipelines.mlir.cuda.kernel import emit
from pipelines.mlir.cuda.schedule import LaunchRules, choose

BEFORE = "func.func(linalg-generalize-named-ops)"
"""Pass pipeline that leaves one form of linalg operation to map."""
AFTER = "canonicalize,cse"


def map_to_kernels(module: Module, rules: LaunchRules) -> None:
    """Replace structured operations by kernels, in place. Raises CompileError naming what cannot be mapped."""
    for chain in chains(host.entry_block(module), rules.fuse):
        emit(chain, choose(chain.core, rules), naming.of_chain(chain.core, chain.epilogue))
