"""Which node of the user's model a failure after the import comes from.

TVM's messages name none, and most passes drop the spans that would. So each operator of the imported Relay, which has
them all, is compiled alone; the first that fails is it.
"""

from collections.abc import Iterator
from typing import Any

import tvm
from onnx import ModelProto
from tvm import relay

from pipelines.importers.onnx.graph import where
from pipelines.tvm.bindings import OPT_LEVEL


def culprit(model: ModelProto, module: Any, target: Any) -> str:
    """Operator and name of the first node that TVM cannot compile alone; "" where each of them can be compiled."""
    names = {node.name or node.output[0]: where(node) for node in model.graph.node}
    tried: set[int] = set()
    for call in _calls_of(module["main"]):
        function = _alone(call)
        kind = tvm.ir.structural_hash(function)
        if kind not in tried and not _compiles(function, target):
            name = str(call.span.source_name.name) if call.span else ""
            return names.get(name, name)
        tried.add(kind)
    return ""


def _calls_of(function: Any) -> Iterator[Any]:
    found: list[Any] = []
    relay.analysis.post_order_visit(function.body, found.append)
    return (node for node in found if isinstance(node, relay.Call) and isinstance(node.op, tvm.ir.Op))


def _alone(call: Any) -> Any:
    """A function of one operator; what is not constant is a parameter."""
    parameters: list[Any] = []

    def operand(node: Any) -> Any:
        if isinstance(node, relay.Constant):
            return node
        if isinstance(node, relay.Tuple):
            return relay.Tuple([operand(field) for field in node.fields])
        parameters.append(relay.var(f"p{len(parameters)}", node.checked_type))
        return parameters[-1]

    made = relay.Call(call.op, [operand(a) for a in call.args], call.attrs, call.type_args)
    return relay.Function(parameters, made)


def _compiles(function: Any, target: Any) -> bool:
    try:
        with tvm.transform.PassContext(opt_level=OPT_LEVEL):
            relay.build(tvm.IRModule.from_expr(function), target)
    except Exception:  # whatever the schedules' Python raises, as well as TVM's own
        return False
    return True
