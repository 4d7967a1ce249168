"""TVM's ONNX importer, corrected: large weights are trailing parameters of `@main`, and errors name the node."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import tvm
from onnx import ModelProto, TensorProto, helper, numpy_helper
from tvm import nd, relay
from tvm.ir import IRModule
from tvm.relay.frontend import onnx as frontend

from pipelines.importers.onnx.graph import opset_of, where
from pipelines.tvm.bindings import refusals, said
from pipelines.tvm.corrections import CORRECTIONS
from pipelines.tvm.names import identifiers
from pipelines.tvm.weights import INLINE
from workbench.core.errors import CompileError

Array = np.ndarray[Any, Any]


def import_model(model: ModelProto, inputs: Sequence[str]) -> tuple[Any, dict[str, Array]]:
    """Relay of a model with static shapes, and its weights by name.

    The parameters of `@main` are `inputs` and then the weights, in order, under `identifiers` of their names. Raises
    CompileError naming the node that TVM refuses.
    """
    shapes = {v.name: tuple(d.dim_value for d in v.type.tensor_type.shape.dim) for v in model.graph.input}
    with onnx_mapping():
        graph = _Graph({name: shapes[name] for name in inputs})
        with graph:
            module, weights = graph.from_onnx(model.graph, opset_of(model))
    with refusals("TVM's importer cannot settle the model's types"):
        module = relay.transform.DynamicToStatic()(module)
    used = {str(p.name_hint): p for p in module["main"].params}
    weights = {name: array.numpy() for name, array in weights.items() if name in used}
    return renamed(module, [*inputs, *weights]), weights


def renamed(module: Any, names: Sequence[str]) -> Any:
    """The module with the parameters of `@main` in the order of `names`, under their `identifiers`."""
    main = module["main"]
    old = {str(p.name_hint): p for p in main.params}
    typed = {str(p.name_hint): p.type_annotation for p in main.params}
    new = {
        name: relay.var(clean, typed[name])
        for name, clean in zip(names, identifiers(names), strict=True)
        if name in old
    }
    body = relay.bind(main.body, {old[name]: var for name, var in new.items()})
    return relay.transform.InferType()(IRModule.from_expr(relay.Function(list(new.values()), body)))


@contextmanager
def onnx_mapping() -> Generator[None]:
    """The table of element types that TVM imports from `onnx.mapping`, which onnx removed; there in the block only."""
    table = {t: helper.tensor_dtype_to_np_dtype(t) for t in TensorProto.DataType.values() if t != TensorProto.UNDEFINED}
    stand_in = ModuleType("onnx.mapping")
    vars(stand_in)["TENSOR_TYPE_TO_NP_TYPE"] = table
    sys.modules["onnx.mapping"] = stand_in
    try:
        yield
    finally:
        del sys.modules["onnx.mapping"]


class _Graph(frontend.GraphProto):
    """TVM's importer of one graph (and, by TVM's own means, of the graphs inside it).

    Shapes of the inputs are given, for TVM reads a size of zero as one that is not known.
    """

    def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
        super().__init__(shapes, "", freeze_params=False, op_type_dict={})

    def _parse_graph_initializers(self, graph: Any) -> None:
        for weight in graph.initializer:
            array = numpy_helper.to_array(weight)
            if array.size <= INLINE:
                self._nodes[weight.name] = relay.const(nd.array(array))
            else:
                self._params[weight.name] = nd.array(array)
                self._nodes[weight.name] = relay.var(weight.name, shape=array.shape, dtype=array.dtype.name)

    def _check_for_unsupported_ops(self, graph: Any) -> None:
        for node in graph.node:
            try:
                if node.op_type not in CORRECTIONS:
                    super()._check_for_unsupported_ops(type(graph)(node=[node]))
            except tvm.error.OpNotImplemented:
                raise CompileError(
                    f"{where(node)}: TVM has no converter for it; lower the model --via mlir, or write it otherwise"
                ) from None

    def _construct_nodes(self, graph: Any) -> None:
        for node in graph.node:
            single = type(graph)(node=[node])
            single.node[0].name = node.name or node.output[0]  # what spans are made of
            try:
                super()._construct_nodes(single)
            except CompileError:
                raise
            except Exception as error:  # converters raise whatever their asserts happen to raise
                raise CompileError(f"{where(node)}: TVM's importer refuses it: {said(error)}") from error

    def _convert_operator(self, op_name: str, inputs: Any, attrs: Any, opset: int) -> Any:
        if op_name in CORRECTIONS:
            return CORRECTIONS[op_name](inputs, attrs)
        return super()._convert_operator(op_name, inputs, attrs, opset)

    def _fix_outputs(self, op_name: str, outputs: Any) -> Any:
        return outputs  # TVM's drops the mask of a Dropout
