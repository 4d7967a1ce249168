"""An ONNX model run in float64: the same graph with every floating type widened, by ONNX's own reference evaluator."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    helper,
    numpy_helper,
)
from onnx.reference import ReferenceEvaluator

from models.messages import one_line
from models.onnx_corrections import corrections
from models.onnx_windows import WINDOWED
from workbench.core.errors import CompileError, ToolMissing
from workbench.core.source import Arrays

Reference = Callable[[Arrays], Arrays]

WIDENED = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)
TYPE_ATTRIBUTES = ("to", "dtype", "output_datatype", "output_dtype")
"""Integer attributes that hold an element type."""
FLOAT_BY_DEFAULT = ("HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix")
"""Operators that make float32 unless their attribute `output_datatype` says otherwise."""


def reference_of(name: str, model: ModelProto, inputs: Arrays) -> tuple[Reference, str]:
    """The best reference there is for `model`, and what it is.

    Float64 wherever ONNX's evaluator can run the model, which is tried on `inputs`; otherwise (an operator of a vendor,
    or one that reads a float's bits) onnxruntime as it is.
    """
    wide = Float64Graph(model)
    try:
        known = wide(inputs)
    except Exception as error:  # the evaluator raises whatever its operators happen to raise
        return OnnxRuntime(name, model, one_line(error)), "onnxruntime float32"
    return lambda arrays: known if arrays is inputs else wide(arrays), "onnx.reference float64"


class Float64Graph:
    """`model` in float64. The widened copy, twice the size of the weights, is made at the first call and kept."""

    def __init__(self, model: ModelProto) -> None:
        self._model = model

    @cached_property
    def _evaluator(self) -> ReferenceEvaluator:
        opset = next((o.version for o in self._model.opset_import if o.domain == ""), 0)
        return ReferenceEvaluator(widen_model(self._model), new_ops=[*WINDOWED, *corrections(opset)])

    def __call__(self, inputs: Arrays) -> Arrays:
        """Outputs by name; floating ones in float64, others in their own dtype."""
        names = [out.name for out in self._model.graph.output]
        wide = {name: widen_array(x) for name, x in inputs.items()}
        with np.errstate(all="ignore"):  # NaN and infinity are results here, not accidents
            results = self._evaluator.run(names, wide)
        return {name: widen_array(np.asarray(out)) for name, out in zip(names, results, strict=True)}


class OnnxRuntime:
    """`model` by onnxruntime, unoptimised, in the model's own precision."""

    def __init__(self, name: str, model: ModelProto, why: str) -> None:
        self._name, self._model, self._why = name, model, why

    def __call__(self, inputs: Arrays) -> Arrays:
        """Outputs by name, floating ones cast to float64. Raises ToolMissing, or CompileError when it refuses too."""
        try:
            import onnxruntime
        except ImportError:
            raise ToolMissing(
                f"{self._name} has no reference: onnx.reference says {self._why}; pip install onnxruntime to try that"
            ) from None
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        names = [out.name for out in self._model.graph.output]
        try:
            session = onnxruntime.InferenceSession(self._model.SerializeToString(), options)
            results = session.run(names, inputs)
        except Exception as error:  # onnxruntime has no public base class for its errors
            raise CompileError(
                f"{self._name} has no reference: onnx.reference says {self._why}; onnxruntime says {one_line(error)}"
            ) from error
        return {name: widen_array(np.asarray(out)) for name, out in zip(names, results, strict=True)}


def widen_array(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """A floating array in float64, any other as it is."""
    floating = array.dtype.kind == "f" or array.dtype.name == "bfloat16"
    return array.astype(np.float64) if floating else array


def widen_model(model: ModelProto) -> ModelProto:
    """A copy of `model` whose floating types are all float64."""
    wide = ModelProto()
    wide.CopyFrom(model)
    widen_graph(wide.graph)
    for function in wide.functions:
        widen_types(v.type for v in function.value_info)
        widen_nodes(function.node)
    return wide


def widen_graph(graph: GraphProto) -> None:
    """Widen a graph in place: weights, declared types, and what its nodes say about types."""
    for weight in graph.initializer:
        widen_tensor(weight)
    widen_types(v.type for values in (graph.input, graph.output, graph.value_info) for v in values)
    widen_nodes(graph.node)


def widen_nodes(nodes: Iterable[NodeProto]) -> None:
    """Widen attributes that hold tensors, element types, or graphs."""
    for node in nodes:
        if node.op_type in FLOAT_BY_DEFAULT and all(a.name != "output_datatype" for a in node.attribute):
            node.attribute.append(helper.make_attribute("output_datatype", TensorProto.FLOAT))
        for attribute in node.attribute:
            widen_attribute(attribute)


def widen_attribute(attribute: AttributeProto) -> None:
    """Widen one attribute in place."""
    if attribute.type == AttributeProto.TENSOR:
        widen_tensor(attribute.t)
    elif attribute.type == AttributeProto.GRAPH:
        widen_graph(attribute.g)
    elif attribute.name in ("value_float", "value_floats"):
        # A Constant given as plain numbers is float32 by definition; as a tensor it can be wide.
        values = attribute.f if attribute.name == "value_float" else list(attribute.floats)
        attribute.CopyFrom(helper.make_attribute("value", numpy_helper.from_array(np.asarray(values, np.float64))))
    elif attribute.name in TYPE_ATTRIBUTES and attribute.i in WIDENED:
        attribute.i = TensorProto.DOUBLE


def widen_tensor(tensor: TensorProto) -> None:
    """Widen one tensor in place."""
    if tensor.data_type in WIDENED:
        values = numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def widen_types(types: Iterable[TypeProto]) -> None:
    """Widen declared types in place, in sequences and optionals too."""
    for declared in types:
        match declared.WhichOneof("value"):
            case "tensor_type" if declared.tensor_type.elem_type in WIDENED:
                declared.tensor_type.elem_type = TensorProto.DOUBLE
            case "sequence_type":
                widen_types([declared.sequence_type.elem_type])
            case "optional_type":
                widen_types([declared.optional_type.elem_type])
            case _:
                pass
