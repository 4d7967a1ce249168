"""Folds what follows from constants and static sizes, so that shape arithmetic is gone before the import."""

from collections.abc import Collection

import numpy as np
from onnx import NodeProto
from onnx.reference import ReferenceEvaluator

from pipelines.importers.onnx.check import RANDOM
from pipelines.importers.onnx.graph import Array, Graph, attributes, subgraphs, used_values

COUNTED = frozenset({"Split", "If", "Loop", "Scan"})
"""Operators whose number of results means something."""
GROWN = 1 << 14
"""A fold may not make more elements than this out of fewer: an expanded constant is better left to be computed."""


def fold_constants(graph: Graph, unfolded: Collection[str] = ()) -> bool:
    """Replace nodes whose results are known by constants, but for operators in `unfolded`; whether there were any."""
    kept: list[NodeProto] = []
    for node in graph.nodes:
        results = None if node.op_type in unfolded else _known(graph, node)
        if results is None:
            kept.append(node)
        else:
            graph.constants.update({n: a for n, a in zip(node.output, results, strict=False) if n})
    changed = len(kept) < len(graph.nodes)
    graph.nodes = kept
    return changed


def drop_unused(graph: Graph) -> bool:
    """Remove nodes that nothing needs, and results that nothing reads from the end of the others."""
    needed = {v.name for v in graph.outputs}
    kept: list[NodeProto] = []
    trimmed = False
    for node in reversed(graph.nodes):
        if not needed & set(node.output):
            continue
        while len(node.output) > 1 and node.output[-1] not in needed and node.op_type not in COUNTED:
            del node.output[-1]
            trimmed = True
        needed |= used_values([node])
        kept.append(node)
    trimmed |= len(kept) < len(graph.nodes)
    graph.nodes = kept[::-1]
    return trimmed


def _known(graph: Graph, node: NodeProto) -> list[Array] | None:
    """The results of a node, None when they are not known before running the model."""
    if node.op_type in ("Shape", "Size"):
        return _of_shape(graph, node)
    if all(graph.shape(n) is not None and 0 in (graph.shape(n) or ()) for n in node.output if n):
        return [np.zeros(graph.shape(n) or (), graph.dtype(n)) if n else np.zeros(0) for n in node.output]
    if node.op_type in RANDOM or subgraphs(node) or any(n and n not in graph.constants for n in node.input):
        return None
    inputs = {n: graph.constants[n] for n in node.input if n}
    limit = max(GROWN, *(a.size for a in inputs.values()), 0)
    if any((shape := graph.shape(n)) is not None and int(np.prod(shape)) > limit for n in node.output if n):
        return None
    try:
        results = ReferenceEvaluator(node, opsets={"": graph.opset}).run(None, inputs)
    except Exception:  # the evaluator raises whatever its operators happen to raise; the node is then left as it is
        return None
    return [np.asarray(r) for r in results] if all(isinstance(r, np.ndarray | np.generic) for r in results) else None


def _of_shape(graph: Graph, node: NodeProto) -> list[Array] | None:
    shape = graph.shape(node.input[0])
    if shape is None:
        return None
    options = attributes(node)
    if node.op_type == "Size":
        return [np.asarray(int(np.prod(shape)), np.int64)]
    return [np.asarray(shape[options.get("start", 0) : options.get("end")], np.int64)]
