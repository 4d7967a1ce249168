"""An ONNX graph that can be looked up and rewritten: types by name, constants as arrays, nodes in order."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from workbench.core.errors import CompileError
from workbench.core.tensors import TensorSpec

Array = np.ndarray[Any, Any]
Value = str
"""The name of a tensor in a graph; "" is an input or output left out."""


class Graph:
    """A copy of a model's graph. `constants` holds its initializers, `nodes` is replaced by rewrites.

    `opset` is the version of ONNX's own operators. Names that rewrites make are fresh.
    """

    def __init__(self, model: ModelProto) -> None:
        self.model = without_weights(model)
        self.constants: dict[Value, Array] = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        self.nodes: list[NodeProto] = list(self.model.graph.node)
        self.opset = opset_of(model)
        self._fresh = 0
        self.read_types()

    def read_types(self) -> None:
        """Take up the types that shape inference wrote into the model."""
        graph = self.model.graph
        self.types: dict[Value, ValueInfoProto] = {
            v.name: v for values in (graph.value_info, graph.input, graph.output) for v in values
        }

    def shape(self, value: Value) -> tuple[int, ...] | None:
        """Static shape of a value, None when a size is not known."""
        if value in self.constants:
            return self.constants[value].shape
        if value not in self.types or not self.types[value].type.tensor_type.HasField("shape"):
            return None
        dims = self.types[value].type.tensor_type.shape.dim
        return tuple(d.dim_value for d in dims) if all(d.HasField("dim_value") for d in dims) else None

    def element(self, value: Value) -> int:
        """ONNX element type of a value, 0 when it is not known."""
        if value in self.constants:
            return helper.np_dtype_to_tensor_dtype(self.constants[value].dtype)
        return self.types[value].type.tensor_type.elem_type if value in self.types else 0

    def dtype(self, value: Value) -> "np.dtype[Any]":
        """numpy dtype of a value."""
        return helper.tensor_dtype_to_np_dtype(self.element(value))

    def spec(self, value: Value) -> TensorSpec:
        """A value as part of the model's signature; raises CompileError when its shape is not static."""
        shape = self.shape(value)
        if shape is None:
            raise CompileError(f"'{value}' has a size that depends on the data; only static sizes can be lowered")
        return TensorSpec(value, shape, self.dtype(value).name)

    @property
    def inputs(self) -> list[ValueInfoProto]:
        """What a caller gives; old files list weights among the inputs too."""
        return [v for v in self.model.graph.input if v.name not in self.constants]

    @property
    def outputs(self) -> list[ValueInfoProto]:
        """What a caller gets."""
        return list(self.model.graph.output)

    def fresh(self, base: Value) -> Value:
        """A name that nothing in the graph has."""
        self._fresh += 1
        return f"{base}/{self._fresh}"

    def constant(self, array: Any, base: Value = "constant") -> Value:
        """Add a constant."""
        name = self.fresh(base)
        self.constants[name] = np.asarray(array)
        return name

    def to_model(self, largest: float = math.inf) -> ModelProto:
        """The graph as a model again, without constants and types that nothing uses.

        Constants of more than `largest` elements become inputs: enough for whoever only looks at types.
        """
        graph = self.model.graph
        used = used_values(self.nodes) | {v.name for v in graph.output}
        model = ModelProto()
        model.CopyFrom(self.model)
        # Before version 4 a weight that is no input of the graph does not count.
        model.ir_version = max(model.ir_version, 10)
        made = model.graph
        for field in ("node", "input", "value_info"):
            made.ClearField(field)  # pyright: ignore[reportArgumentType]
        made.node.extend(self.nodes)
        made.input.extend(self.inputs)
        for name, array in self.constants.items():
            if name in used and array.size <= largest:
                made.initializer.append(numpy_helper.from_array(array, name))
            elif name in used:
                made.input.append(helper.make_tensor_value_info(name, self.element(name), array.shape))
        # A size that inference could only give a name would stand in the way of its value, once that is known.
        made.value_info.extend(
            v for v in graph.value_info if v.name in used - self.constants.keys() and self.shape(v.name) is not None
        )
        return model


def without_weights(model: ModelProto) -> ModelProto:
    """A copy of a model that leaves its initializers out; copying those would take the longest by far."""
    out, inner = ModelProto(), GraphProto()
    for source, target, dropped in ((model, out, "graph"), (model.graph, inner, "initializer")):
        for field, value in source.ListFields():
            if field.name == dropped:
                continue
            if field.is_repeated:
                getattr(target, field.name).extend(value)
            else:
                setattr(target, field.name, value)
    out.graph.CopyFrom(inner)
    return out


def opset_of(model: ModelProto) -> int:
    """The version of ONNX's own operators that a model was written for."""
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)


def used_values(nodes: Iterable[NodeProto]) -> set[Value]:
    """Every name that nodes read, also from inside their subgraphs."""
    used: set[Value] = set()
    for node in nodes:
        used.update(node.input)
        for sub in subgraphs(node):
            used |= used_values(sub.node) | {v.name for v in sub.output}
    return used


def subgraphs(node: NodeProto) -> list[GraphProto]:
    """The graphs that If, Loop and Scan carry."""
    single = [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]
    return [*single, *(g for a in node.attribute for g in a.graphs)]


def attributes(node: NodeProto) -> dict[str, Any]:
    """Attributes by name, strings decoded."""
    values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return {n: v.decode() if isinstance(v, bytes) else v for n, v in values.items()}


def value_at(values: Sequence[Value], position: int) -> Value:
    """An optional input or output: "" when it was left out."""
    return values[position] if position < len(values) else ""


def element_name(element: int) -> str:
    """`float`, `int64`, `string` ..."""
    return TensorProto.DataType.Name(element).lower()


def where(node: NodeProto) -> str:
    """How an error names a node: its operator, its domain where that is not ONNX's own, and its name."""
    domain = f" (domain {node.domain})" if node.domain not in ("", "ai.onnx") else ""
    return f"{node.op_type}{domain} at node '{node.name or value_at(node.output, 0)}'"
