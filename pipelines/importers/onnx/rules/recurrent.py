"""Recurrent layers: backward and two-way ones are forward layers on reversed sequences."""

import numpy as np

from pipelines.importers.onnx.graph import Value
from pipelines.importers.onnx.rewrite import Rewrite
from workbench.core.errors import CompileError

SPLIT = (1, 2, 3, 5, 6, 7)
"""Inputs with one part for each direction: W, R, B, initial_h, and for LSTM initial_c and P."""


def one_way(r: Rewrite) -> list[Value] | None:
    """RNN, GRU and LSTM in one direction from the first step to the last, time first."""
    direction, layout = r.options.get("direction", "forward"), r.options.get("layout", 0)
    if not r.input(4) and direction == "forward" and not layout:
        return None
    steps = r.shape()[1 if layout else 0]
    _check_lengths(r, steps)
    x = r.op("Transpose", r.input(0), perm=[1, 0, 2]) if layout else r.input(0)
    ways = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    results = [_run(r, x, d, len(ways), steps, backward, bool(layout)) for d, backward in enumerate(ways)]
    joined = [
        parts[0] if len(parts) == 1 else r.op("Concat", *parts, axis=1 if i == 0 else 0)
        for i, parts in enumerate(zip(*results, strict=True))
    ]
    if layout:
        joined = [r.op("Transpose", v, perm=[2, 0, 1, 3] if i == 0 else [1, 0, 2]) for i, v in enumerate(joined)]
    return joined[: len(r.node.output)]


def _run(r: Rewrite, x: Value, way: int, ways: int, steps: int, backward: bool, layout: bool) -> list[Value]:
    """One direction: Y [steps, 1, batch, hidden], then the final states [1, batch, hidden]."""
    inputs = [r.input(i) for i in range(len(r.node.input))]
    inputs[0] = _reversed(r, x, steps) if backward else x
    if len(inputs) > 4:
        inputs[4] = ""
    for i in SPLIT:
        if i < len(inputs) and inputs[i]:
            part = inputs[i]
            if layout and i in (5, 6):
                part = r.op("Transpose", part, perm=[1, 0, 2])
            inputs[i] = part if ways == 1 else r.op("Slice", part, r.ints(way), r.ints(way + 1), r.ints(0))
    options = {k: v for k, v in r.options.items() if k not in ("direction", "layout")}
    for name in ("activations", "activation_alpha", "activation_beta"):
        if name in options:
            each = len(options[name]) // ways
            options[name] = options[name][way * each : (way + 1) * each]
    states = 2 if r.node.op_type == "LSTM" else 1
    y, *last = r.ops(r.node.op_type, *inputs, results=1 + states, **options)
    return [_reversed(r, y, steps) if backward else y, *last]


def _reversed(r: Rewrite, value: Value, steps: int) -> Value:
    return r.op("Gather", value, r.const(np.arange(steps)[::-1], np.int64), axis=0)


def _check_lengths(r: Rewrite, steps: int) -> None:
    lengths = r.known(4)
    if r.input(4) and (lengths is None or np.any(lengths != steps)):
        raise CompileError(
            f"{r.node.op_type} at node '{r.node.name}' has sequence_lens '{r.input(4)}' shorter than its input; "
            "pad the sequences and leave sequence_lens out"
        )
