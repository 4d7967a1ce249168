"""The ONNX operators that torch-mlir lacks or gets wrong, written in those it gets right."""

from collections import Counter
from collections.abc import Collection, Mapping

from onnx import NodeProto

from pipelines.importers.onnx.check import check_static
from pipelines.importers.onnx.graph import Graph
from pipelines.importers.onnx.rewrite import Rule, apply
from pipelines.importers.onnx.shapes import settle
from workbench.core.errors import CompileError

ROUNDS = 16
"""Rules may emit nodes that have rules; no definition in ONNX is nested deeper than a few levels."""


def legalize(graph: Graph, rules: Mapping[str, Rule], unfolded: Collection[str] = ()) -> dict[str, int]:
    """Apply rules until none applies; how many nodes of each operator were replaced. `unfolded` as in `settle`."""
    replaced: Counter[str] = Counter()
    for _ in range(ROUNDS):
        nodes: list[NodeProto] = []
        before = replaced.total()
        for node in graph.nodes:
            rule = rules.get(node.op_type)
            made = apply(graph, node, rule) if rule is not None else None
            replaced[node.op_type] += made is not None
            nodes.extend([node] if made is None else made)
        if replaced.total() == before:
            check_static(graph)
            return {kind: n for kind, n in replaced.items() if n}
        graph.nodes = nodes
        settle(graph, unfolded)
    raise CompileError(f"the rules for {', '.join(replaced)} undo each other")
