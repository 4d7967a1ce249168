"""Elementwise fusion that leaves contractions, convolutions and pools alone, so that they can be tiled."""

import re

from dialects.bindings import Module, Operation, walk
from pipelines.mlir.tiled.fences import Fences

ANCHOR = re.compile(
    r"linalg\.(conv|depthwise|pooling|matmul|batch|contract|dot|matvec|vecmat|mmt4d|quantized|.*matmul)"
)
"""Named operations that are tiled, and so must not swallow the elementwise operations before them."""
KEPT = {
    "linalg.generic",
    "linalg.fill",
    "linalg.yield",
    "linalg.index",
    "linalg.pack",
    "linalg.unpack",
    "linalg.softmax",
}


def loose_ops(module: Module) -> list[str]:
    """Names of the named linalg operations that may be fused once they are generic."""
    names: set[str] = set()

    def visit(op: Operation) -> None:
        name = op.operation.name
        if name.startswith("linalg.") and name not in KEPT and not ANCHOR.match(name):
            names.add(name)

    walk(module.operation, visit)
    return sorted(names)


def generalize_script(names: list[str]) -> str:
    """Transform script that turns the named operations into `linalg.generic`."""
    ops = ", ".join(f'"{name}"' for name in names)
    return f"""
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %ops = transform.structured.match ops{{[{ops}]}} in %root : (!transform.any_op) -> !transform.any_op
    %generics = transform.structured.generalize %ops : (!transform.any_op) -> !transform.any_op
    transform.yield
  }}
}}
"""


def fence_anchors(module: Module) -> None:
    """Fence what anchors read and write, so that fusion neither changes nor enters them.

    linalg-fuse-elementwise-ops has no option for this; it pushes reshapes through a matmul, which then is no matmul.
    """
    fences = Fences(module)
    anchors: list[Operation] = []
    walk(module.operation, lambda op: anchors.append(op.operation) if ANCHOR.match(op.operation.name) else None)
    for anchor in anchors:
        for number in range(len(anchor.operands)):
            fences.before(anchor, number)
        for result in anchor.results:
            fences.after(anchor, result)
