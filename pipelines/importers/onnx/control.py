"""Control flow that is decided before the model runs: branches taken, loops of a known length written out."""

from collections.abc import Sequence

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, numpy_helper

from pipelines.importers.onnx.graph import Graph, Value
from pipelines.importers.onnx.rewrite import Rewrite, apply, rename

MOST_STEPS = 512
"""Longer loops are left as they are."""


def inline_control(graph: Graph) -> bool:
    """Replace If, Loop and Scan nodes whose course is known; whether there were any."""
    rules = {"If": branch, "Loop": loop, "Scan": scan}
    nodes: list[NodeProto] = []
    changed = False
    for node in graph.nodes:
        made = apply(graph, node, rules[node.op_type]) if node.op_type in rules else None
        changed |= made is not None
        nodes.extend([node] if made is None else made)
    graph.nodes = nodes
    return changed


def branch(r: Rewrite) -> list[Value] | None:
    """The branch that a constant condition takes."""
    condition = r.known(0)
    if condition is None:
        return None
    taken = "then_branch" if bool(condition.reshape(-1)[0]) else "else_branch"
    return inline(r, r.options[taken], [])


def loop(r: Rewrite) -> list[Value] | None:
    """A counted loop whose condition never ends it early."""
    body: GraphProto = r.options["body"]
    count, condition = r.known(0), r.known(1)
    if count is None or (r.input(1) and (condition is None or not bool(condition.reshape(-1)[0]))):
        return None
    steps = int(count.reshape(-1)[0])
    if not 0 < steps <= MOST_STEPS or not _always_goes_on(body):
        return None
    state = list(r.node.input[2:])
    gathered: list[list[Value]] = []
    for i in range(steps):
        results = inline(r, body, [r.const(i, np.int64), r.const(True, np.bool_), *state])
        gathered.append(results[1 + len(state) :])
        state = results[1 : 1 + len(state)]
    return [*state, *(_stack(r, list(each), 0) for each in zip(*gathered, strict=True))]


def scan(r: Rewrite) -> list[Value] | None:
    """A loop over slices of its inputs."""
    body: GraphProto = r.options["body"]
    inputs = r.options["num_scan_inputs"]
    states = len(r.node.input) - inputs
    outputs = len(r.node.output) - states
    axes = r.options.get("scan_input_axes", [0] * inputs)
    backward = r.options.get("scan_input_directions", [0] * inputs)
    shapes = [r.graph.shape(name) for name in r.node.input[states:]]
    first = shapes[0]
    if first is None:
        return None
    steps = first[axes[0]]
    if not 0 < steps <= MOST_STEPS:
        return None
    state = list(r.node.input[:states])
    gathered: list[list[Value]] = []
    for t in range(steps):
        slices = [
            r.op("Gather", name, r.const(steps - 1 - t if backward[i] else t, np.int64), axis=axes[i])
            for i, name in enumerate(r.node.input[states:])
        ]
        results = inline(r, body, [*state, *slices])
        state, rest = results[:states], results[states:]
        gathered.append(list(rest))
    places = r.options.get("scan_output_axes", [0] * outputs)
    reverse = r.options.get("scan_output_directions", [0] * outputs)
    stacked = [list(each) for each in zip(*gathered, strict=True)]
    return [*state, *(_stack(r, v[::-1] if reverse[i] else v, places[i]) for i, v in enumerate(stacked))]


def inline(r: Rewrite, body: GraphProto, arguments: Sequence[Value]) -> list[Value]:
    """Emit a subgraph's nodes for the given arguments; its results."""
    names = {formal.name: actual for formal, actual in zip(body.input, arguments, strict=True)}
    for weight in body.initializer:
        names[weight.name] = r.graph.constant(numpy_helper.to_array(weight), weight.name)
    for node in body.node:
        names.update({name: r.graph.fresh(name) for name in node.output if name})
    for node in body.node:
        copy = NodeProto()
        copy.CopyFrom(node)
        rename(copy, names)
        r.made.append(copy)
    # A result that is an argument, or a value from outside, still needs a node of its own to be renamed.
    return [r.op("Identity", names.get(v.name, v.name)) for v in body.output]


def _stack(r: Rewrite, values: list[Value], axis: int) -> Value:
    return r.op("Concat", *(r.op("Unsqueeze", v, r.ints(axis)) for v in values), axis=axis)


def _always_goes_on(body: GraphProto) -> bool:
    """Whether a loop's body hands its condition on, or makes it a constant true."""
    makers = {name: node for node in body.node for name in node.output}
    weights = {w.name: numpy_helper.to_array(w) for w in body.initializer}
    name = body.output[0].name
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    if name == body.input[1].name:
        return True
    if name in weights:
        return bool(weights[name].reshape(-1)[0])
    maker = makers.get(name)
    if maker is None or maker.op_type != "Constant":
        return False
    value = next((a for a in maker.attribute if a.type == AttributeProto.TENSOR), None)
    return value is not None and bool(numpy_helper.to_array(value.t).reshape(-1)[0])
