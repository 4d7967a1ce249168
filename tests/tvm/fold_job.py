"""Worker jobs: what FoldWeights makes of small Relay functions, against the interpreter that TVM's folding uses."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipelines.tvm.bindings import load

SHAPE = (32, 16, 3, 3)
LAYOUTS = ("OIHW16o", "OIHW16i16o", "OIHW8i4o", "OIHW4i16o4i", "HWIO", "OHWI16o", "OIHW")


def run(params: dict[str, Any], send: object) -> dict[str, Any]:
    """`params["job"]` of the jobs in this module."""
    load()
    return globals()[params["job"]](params)


def fold(expression: Any, inputs: Sequence[Any] = ()) -> Any:
    """A function of `inputs` after FoldWeights."""
    from tvm import IRModule, relay

    from pipelines.tvm.fold import fold_weights

    module = relay.transform.InferType()(IRModule.from_expr(relay.Function(list(inputs), expression)))
    return relay.transform.InferType()(fold_weights()(module))["main"]


def layouts(params: dict[str, Any]) -> dict[str, Any]:
    """Layouts that are not folded to what TVM's own folding gives."""
    from tvm import relay

    weight = relay.const(np.arange(np.prod(SHAPE), dtype=np.float32).reshape(SHAPE))
    wrong: dict[str, str] = {}
    for layout in LAYOUTS:
        call = relay.layout_transform(weight, "OIHW", layout)
        ours, theirs = (
            fold(call).body,
            relay.transform.FoldConstantExpr(call, relay.transform.InferType()(_module(call))),
        )
        if not isinstance(ours, relay.Constant) or not np.array_equal(ours.data.numpy(), theirs.data.numpy()):
            wrong[layout] = str(ours)[:200]
    return wrong


def chains(params: dict[str, Any]) -> dict[str, Any]:
    """Results of chains such as "*+*" on `params["x"]`, whole and folded, and how many operators are left."""
    from tvm import relay
    from tvm.relay import op

    rng = np.random.default_rng(params["seed"])
    x = relay.var("x", shape=(2, 4, 3), dtype="float64")
    out: dict[str, Any] = {}
    for chain in params["chains"]:
        whole: Any = x
        value = given = rng.standard_normal((2, 4, 3))
        for kind in chain:
            constant = rng.standard_normal((4, 1)) if rng.random() < 0.7 else np.asarray(rng.standard_normal())
            pair = [whole, relay.const(constant, "float64")][:: 1 if rng.random() < 0.5 else -1]
            whole = op.add(*pair) if kind == "+" else op.multiply(*pair)
            value = value + constant if kind == "+" else value * constant
        folded = fold(whole, [x])
        ran = relay.create_executor("graph").evaluate(folded)(given).numpy()
        out[chain] = [float(np.abs(ran - value).max()), str(folded).count("add(") + str(folded).count("multiply(")]
    return out


def _module(expression: Any) -> Any:
    from tvm import IRModule

    return IRModule.from_expr(expression)
