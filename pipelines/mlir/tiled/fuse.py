"""Elementwise fusion that leaves contractions, convolutions and pools alone, so that they can be tiled."""

import re
from typing import Any

from dialects.bindings import Module, Operation, walk
from pipelines.mlir.tiled.edit import ir

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


FENCE = "tiled_fence"
"""Prefix of the functions that stand, while elementwise operations are fused, between an anchor and the rest."""


def fence_anchors(module: Module) -> None:
    """Pass what anchors read and write through calls, so that fusion neither changes nor enters them.

    linalg-fuse-elementwise-ops has no option for this; it pushes reshapes through a matmul, which then is no matmul.
    """
    declared: dict[str, str] = {}
    anchors: list[Operation] = []
    walk(module.operation, lambda op: anchors.append(op.operation) if ANCHOR.match(op.operation.name) else None)
    for anchor in anchors:
        for number, value in enumerate(anchor.operands):
            with ir.InsertionPoint(anchor), anchor.location:
                anchor.operands[number] = _fenced(module, declared, value)
        for result in anchor.results:
            readers = [(use.owner, use.operand_number) for use in result.uses]
            with ir.InsertionPoint.after(anchor), anchor.location:
                fenced = _fenced(module, declared, result)
            for owner, number in readers:
                owner.operands[number] = fenced


def _fenced(module: Module, declared: dict[str, str], value: Any) -> Any:
    kind = str(value.type)
    if kind not in declared:
        declared[kind] = f"{FENCE}{len(declared)}"
        with ir.InsertionPoint(module.body):
            ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get(declared[kind]),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get([value.type], [value.type])),
                    "sym_visibility": ir.StringAttr.get("private"),
                },
                regions=1,
            )
    callee = ir.FlatSymbolRefAttr.get(declared[kind])
    call = ir.Operation.create("func.call", operands=[value], results=[value.type], attributes={"callee": callee})
    return call.results[0]


def remove_fences(module: Module) -> None:
    """Undo `fence_anchors`."""

    def visit(op: Operation) -> None:
        if op.operation.name == "func.call" and op.attributes["callee"].value.startswith(FENCE):
            op.operation.results[0].replace_all_uses_with(op.operation.operands[0])
            op.operation.erase()
        elif op.operation.name == "func.func" and op.attributes["sym_name"].value.startswith(FENCE):
            op.operation.erase()

    walk(module.operation, visit)
