"""Places of a model that any build of it has: the n-th convolution, the n-th product, whatever it was fused into."""

import re
from collections import Counter
from typing import Any

from pipelines.tvm.bindings import load
from pipelines.tvm.functions import MOVES, calls_of, shape_of

Anchor = tuple[str, int]
"""(operator's family, how many of the family the model computes before it)."""

_VARIANT = re.compile(r"_winograd.*|_NCHWc.*|_nchwc.*|_pack.*|_gemm.*")


def family(op: str) -> str:
    """The operator whatever its algorithm and layout: `conv2d` of `nn.contrib_conv2d_NCHWc`."""
    return _VARIANT.sub("", op.removeprefix("nn.").removeprefix("contrib_")).removeprefix("depthwise_")


def anchors_of(optimised: Any) -> list[tuple[Anchor, Any]]:
    """Each call of a fused function in an optimised module, in the order in which the graph runs them.

    A call is known by its first operator that computes; one that only moves elements gets no entry.
    """
    relay = load("relay")
    counts: Counter[str] = Counter()
    found: list[tuple[Anchor, Any]] = []

    def visit(node: Any) -> None:
        if not (isinstance(node, relay.Call) and isinstance(node.op, relay.Function)):
            return
        names = computes(calls_of(node.op))
        if names:
            kind = family(names[0])
            found.append(((kind, counts[kind]), node.op))
            counts[kind] += 1

    relay.analysis.post_order_visit(optimised["main"].body, visit)
    return found


def computes(calls: list[Any]) -> list[str]:
    """The operators among `calls` that do more than move elements."""
    names = [str(call.op.name).removeprefix("nn.") for call in calls]
    return [name for name in names if name not in MOVES]


def described(function: Any) -> str:
    """Operators of a fused function and the shape of its result: `conv2d+add+maximum 1x56x56x64`."""
    names = "+".join(family(str(call.op.name)) for call in calls_of(function))
    kind = function.ret_type
    return f"{names} {'x'.join(map(str, shape_of(kind))) if hasattr(kind, 'shape') else 'tuple'}"
