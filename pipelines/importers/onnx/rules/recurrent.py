"""Recurrent layers written out step by step: the number of steps is known, and no loop over tensors is left."""

from dataclasses import dataclass

import numpy as np

from pipelines.importers.onnx.graph import Value
from pipelines.importers.onnx.rewrite import Rewrite
from workbench.core.errors import CompileError

MOST_STEPS = 512
"""A longer sequence would make an unreadable, slowly compiled program."""
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
ACTIVATIONS = frozenset({"Relu", "Tanh", "Sigmoid", "Softsign", "Softplus"})
"""Those without parameters."""


@dataclass(frozen=True)
class _Way:
    """One direction of a layer. Weights are [inputs, gates hidden], `p` the peepholes [3 hidden] or ""."""

    w: Value
    r: Value
    wb: Value
    rb: Value
    p: Value
    activations: list[str]


def unroll(r: Rewrite) -> list[Value]:
    """RNN, GRU and LSTM. Y is [steps, directions, batch, hidden], states [directions, batch, hidden], time first."""
    layout = bool(r.options.get("layout"))
    x = r.op("Transpose", r.input(0), perm=[1, 0, 2]) if layout else r.input(0)
    steps, batch = (r.shape()[1], r.shape()[0]) if layout else r.shape()[:2]
    if steps > MOST_STEPS:
        raise CompileError(
            f"{r.node.op_type} at node '{r.node.name}' has {steps} steps; at most {MOST_STEPS} are written out"
        )
    if r.options.get("input_forget"):
        raise CompileError(f"{r.node.op_type} at node '{r.node.name}': input_forget has no lowering")
    direction = r.options.get("direction", "forward")
    backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    ys: list[Value] = []
    finals: list[list[Value]] = []
    for d, back in enumerate(backward):
        y, states = _run(r, x, d, back, len(backward), steps, batch, layout)
        ys.append(y)
        finals.append(states)
    y = r.op("Concat", *ys, axis=1)
    states = [r.op("Concat", *parts, axis=0) for parts in zip(*finals, strict=True)]
    if layout:
        y = r.op("Transpose", y, perm=[2, 0, 1, 3])
        states = [r.op("Transpose", s, perm=[1, 0, 2]) for s in states]
    return [y, *states][: len(r.node.output)]


def _run(
    r: Rewrite, x: Value, d: int, back: bool, ways: int, steps: int, batch: int, layout: bool
) -> tuple[Value, list[Value]]:
    """One direction: its Y [steps, 1, batch, hidden] and its final states, each [1, batch, hidden]."""
    way, kind = _way(r, d, ways), r.dtype()
    hidden = r.shape(2)[-1]
    order = range(steps)
    lengths = r.input(4)
    if back and lengths:
        x = r.op("ReverseSequence", x, r.cast(lengths, np.int64), time_axis=0, batch_axis=1)
    elif back:
        order = range(steps - 1, -1, -1)
    states = [_state(r, i, d, batch, hidden, layout) for i in ([5, 6] if r.node.op_type == "LSTM" else [5])]
    cell = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}[r.node.op_type]
    outputs: dict[int, Value] = {}
    for t in order:
        projected = r.op("MatMul", r.op("Gather", x, r.const(t, np.int64), axis=0), way.w)
        new = cell(r, way, projected, states, hidden)
        shown = new[0]
        if lengths:
            live = r.op("Less", r.const(t, np.int64), r.op("Unsqueeze", r.cast(lengths, np.int64), r.ints(1)))
            new = [r.op("Where", live, a, b) for a, b in zip(new, states, strict=True)]
            shown = r.op("Where", live, shown, r.const(0, kind))
        states, outputs[t] = new, r.op("Unsqueeze", shown, r.ints(0, 1))
    y = r.op("Concat", *(outputs[t] for t in range(steps)), axis=0)
    if back and lengths:
        flat = r.op("Squeeze", y, r.ints(1))
        flat = r.op("ReverseSequence", flat, r.cast(lengths, np.int64), time_axis=0, batch_axis=1)
        y = r.op("Unsqueeze", flat, r.ints(1))
    return y, [r.op("Unsqueeze", s, r.ints(0)) for s in states]


def _rnn(r: Rewrite, way: _Way, x: Value, states: list[Value], hidden: int) -> list[Value]:
    (h,) = states
    total = _sum(r, x, r.op("MatMul", h, way.r), way.wb, way.rb)
    return [_activate(r, way.activations[0], total)]


def _gru(r: Rewrite, way: _Way, x: Value, states: list[Value], hidden: int) -> list[Value]:
    (h,) = states
    f, g = way.activations
    x = _sum(r, x, way.wb)
    xz, xr, xh = (_gate(r, x, i, hidden) for i in range(3))
    rz, rr, rh = (_gate(r, way.r, i, hidden) for i in range(3))
    bz, br, bh = (_gate(r, way.rb, i, hidden) if way.rb else "" for i in range(3))
    z = _activate(r, f, _sum(r, xz, r.op("MatMul", h, rz), bz))
    reset = _activate(r, f, _sum(r, xr, r.op("MatMul", h, rr), br))
    if r.options.get("linear_before_reset"):
        candidate = _sum(r, xh, r.op("Mul", reset, _sum(r, r.op("MatMul", h, rh), bh)))
    else:
        candidate = _sum(r, xh, r.op("MatMul", r.op("Mul", reset, h), rh), bh)
    new = _activate(r, g, candidate)
    kept = r.op("Mul", z, h)
    return [r.op("Add", r.op("Mul", r.op("Sub", r.const(1, r.dtype()), z), new), kept)]


def _lstm(r: Rewrite, way: _Way, x: Value, states: list[Value], hidden: int) -> list[Value]:
    h, c = states
    f, g, out = way.activations
    total = _sum(r, x, r.op("MatMul", h, way.r), way.wb, way.rb)
    gate_i, gate_o, gate_f, gate_c = (_gate(r, total, i, hidden) for i in range(4))
    peep_i, peep_o, peep_f = (_gate(r, way.p, i, hidden) if way.p else "" for i in range(3))
    i = _activate(r, f, _peep(r, gate_i, peep_i, c))
    forget = _activate(r, f, _peep(r, gate_f, peep_f, c))
    cell = r.op("Add", r.op("Mul", forget, c), r.op("Mul", i, _activate(r, g, gate_c)))
    o = _activate(r, f, _peep(r, gate_o, peep_o, cell))
    return [r.op("Mul", o, _activate(r, out, cell, clip=False)), cell]


def _peep(r: Rewrite, gate: Value, weight: Value, cell: Value) -> Value:
    return r.op("Add", gate, r.op("Mul", weight, cell)) if weight else gate


def _sum(r: Rewrite, first: Value, *others: Value) -> Value:
    for other in filter(None, others):
        first = r.op("Add", first, other)
    return first


def _gate(r: Rewrite, value: Value, i: int, hidden: int) -> Value:
    return r.op("Slice", value, r.ints(i * hidden), r.ints((i + 1) * hidden), r.ints(-1))


def _activate(r: Rewrite, name: str, value: Value, clip: bool = True) -> Value:
    limit = r.options.get("clip")
    if clip and limit:
        value = r.op("Clip", value, r.const(-limit, r.dtype()), r.const(limit, r.dtype()))
    if name not in ACTIVATIONS:
        raise CompileError(f"{r.node.op_type} at node '{r.node.name}': activation {name} has no lowering")
    return r.op(name, value)


def _way(r: Rewrite, d: int, ways: int) -> _Way:
    """The weights of one direction, as the cells use them."""

    def part(position: int, transpose: bool = False) -> Value:
        value = r.op("Gather", r.input(position), r.const(d, np.int64), axis=0)
        return r.op("Transpose", value, perm=[1, 0]) if transpose else value

    wb = rb = ""
    if r.input(3):
        half = r.shape(3)[-1] // 2
        both = part(3)
        wb, rb = _gate(r, both, 0, half), _gate(r, both, 1, half)
    names = [str(n, "utf8") if isinstance(n, bytes) else str(n) for n in r.options.get("activations", [])]
    names = names or DEFAULTS[r.node.op_type] * ways
    each = len(names) // ways
    p = part(7) if r.input(7) else ""
    return _Way(part(1, True), part(2, True), wb, rb, p, names[d * each : (d + 1) * each])


def _state(r: Rewrite, position: int, d: int, batch: int, hidden: int, layout: bool) -> Value:
    """The state before the first step: [batch, hidden]."""
    if not r.input(position):
        return r.const(np.zeros((batch, hidden)), r.dtype())
    return r.op("Gather", r.input(position), r.const(d, np.int64), axis=1 if layout else 0)
