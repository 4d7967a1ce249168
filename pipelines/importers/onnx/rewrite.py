"""Rewriting one ONNX node into others that compute the same."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, defs, helper, inliner

from pipelines.importers.onnx.graph import Array, Graph, Value, attributes, subgraphs, value_at, where
from workbench.core.errors import CompileError


class SizeUnknown(Exception):
    """A rule needs a size that is not known yet: other rewrites may have to come first."""


class Rewrite:
    """The replacement of `node`, built by emitting nodes; they take over its name, which later forms carry along."""

    def __init__(self, graph: Graph, node: NodeProto) -> None:
        self.graph = graph
        self.node = node
        self.options: dict[str, Any] = attributes(node)
        self.made: list[NodeProto] = []

    def input(self, position: int) -> Value:
        """An input by position, "" where it was left out."""
        return value_at(self.node.input, position)

    def known(self, position: int) -> Array | None:
        """The value of an input that is a constant."""
        return self.graph.constants.get(self.input(position))

    def maker(self, position: int) -> str:
        """The operator that makes an input, "" when no node does."""
        name = self.input(position)
        return next((n.op_type for n in self.graph.nodes if name and name in n.output), "")

    def shape(self, position: int = 0) -> tuple[int, ...]:
        """The static shape of an input; every size is known when rules run."""
        return self._static(self.input(position))

    def dtype(self, position: int = 0) -> "np.dtype[Any]":
        """The numpy dtype of an input."""
        return self.graph.dtype(self.input(position))

    def result_shape(self, position: int = 0) -> tuple[int, ...]:
        """The static shape of one of the node's results."""
        return self._static(self.node.output[position])

    def _static(self, value: Value) -> tuple[int, ...]:
        shape = self.graph.shape(value)
        if shape is None:
            raise SizeUnknown(value)
        return shape

    def op(self, kind: str, *inputs: Value, **options: Any) -> Value:
        """Emit a node with one result."""
        return self.ops(kind, *inputs, results=1, **options)[0]

    def ops(self, kind: str, *inputs: Value, results: int, **options: Any) -> list[Value]:
        """Emit a node with several results."""
        names = [self.graph.fresh(value_at(self.node.output, 0)) for _ in range(results)]
        self.made.append(helper.make_node(kind, list(inputs), names, name=self.node.name, **options))
        return names

    def const(self, value: Any, dtype: Any) -> Value:
        """A constant of the given numpy dtype."""
        return self.graph.constant(np.asarray(value, dtype), value_at(self.node.output, 0))

    def ints(self, *values: int) -> Value:
        """A list of integers, as axes and shapes are given."""
        return self.const(list(values), np.int64)

    def cast(self, value: Value, dtype: Any) -> Value:
        """Emit a conversion to a numpy dtype."""
        return self.op("Cast", value, to=int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))

    def same(self, **changes: Any) -> list[Value]:
        """Emit the node as it is, except for attributes; None removes one."""
        options = {k: v for k, v in (self.options | changes).items() if v is not None}
        return self.ops(self.node.op_type, *self.node.input, results=len(self.node.output), **options)


Rule = Callable[[Rewrite], Sequence[Value] | None]
"""Emits a node's replacement and returns its results in order, or None to leave the node as it is."""


def apply(graph: Graph, node: NodeProto, rule: Rule) -> list[NodeProto] | None:
    """The nodes that replace `node`, None when the rule leaves it."""
    rewrite = Rewrite(graph, node)
    try:
        results = rule(rewrite)
    except SizeUnknown:
        return None
    if results is None:
        return None
    made = {name for n in rewrite.made for name in n.output}
    renamed = {new: old for new, old in zip(results, node.output, strict=False) if old and new in made}
    for emitted in rewrite.made:
        rename(emitted, renamed)
    for new, old in zip(results, node.output, strict=False):
        if old and renamed.get(new) != old:
            source = renamed.get(new, new)
            rewrite.made.append(helper.make_node("Identity", [source], [old], name=node.name))
    return rewrite.made


def rename(node: NodeProto, names: dict[Value, Value]) -> None:
    """Rename what a node reads and makes, inside its subgraphs too."""
    for field in (node.input, node.output):
        field[:] = [names.get(name, name) for name in field]
    for sub in subgraphs(node):
        for inner in sub.node:
            rename(inner, names)
        for value in (*sub.input, *sub.output):
            value.name = names.get(value.name, value.name)


def by_definition(rewrite: Rewrite) -> list[Value] | None:
    """Replace an operator that ONNX defines as a function of others by that definition."""
    node, graph = rewrite.node, rewrite.graph
    inputs = [
        helper.make_tensor_value_info(n, graph.element(n), graph.shape(n)) for n in dict.fromkeys(node.input) if n
    ]
    outputs = [helper.make_tensor_value_info(n, graph.element(n), graph.shape(n)) for n in node.output if n]
    opsets = [helper.make_opsetid("", graph.opset)]
    model = helper.make_model(helper.make_graph([node], "call", inputs, outputs), opset_imports=opsets)
    _spell_defaults(model.graph.node[0], graph.opset)
    try:
        body = inliner.inline_selected_functions(model, [("", node.op_type)], inline_schema_functions=True).graph
    except RuntimeError:  # onnx 1.23 fails on some definitions when an optional input in the middle is left out
        raise CompileError(f"{where(node)} with these inputs has no lowering; export the model without it") from None
    if len(body.node) == 1 and body.node[0].op_type == node.op_type:
        return None
    kept = {"", *node.input}
    inner = {name for n in body.node for name in n.output} - kept
    names = {name: graph.fresh(node.output[0]) for name in sorted(inner)}
    for made in body.node:
        rename(made, names)
        made.name = node.name
    rewrite.made.extend(body.node)
    return [names.get(name, name) for name in node.output]


def _spell_defaults(node: NodeProto, opset: int) -> None:
    """Write out the attributes that a node leaves at their default, which the inliner does not look up."""
    given = {a.name for a in node.attribute}
    schema = defs.get_schema(node.op_type, opset)
    node.attribute.extend(
        a.default_value for n, a in schema.attributes.items() if n not in given and a.default_value.name
    )
