"""An .onnx file as a Source: read, its symbolic sizes bound, with inputs to verify on."""

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper, shape_inference

from models.arrays import check_inputs, draw
from models.onnx_reference import reference_of
from workbench.core.arrays import read_npz
from workbench.core.errors import UsageError
from workbench.core.source import Arrays, ModelRequest, Source
from workbench.core.tensors import TensorSpec

NUMBERS = set(TensorProto.DataType.values()) - {TensorProto.UNDEFINED, TensorProto.STRING}
"""Element types that a compiled model can take."""

Sizes = Mapping[str, tuple[int, ...]]


def load_onnx(request: ModelRequest) -> Source:
    """Load an ONNX file with every input's shape fixed.

    Sizes come from `request.sizes`, else from the shapes of `request.inputs`; a symbolic size bound on one input holds
    for every input that names it. Raises UsageError on a damaged file, a size without a value, or wrong inputs. Node
    types are not looked at: a model that no importer takes still loads.
    """
    path = request.model
    if request.weights is not None:
        raise UsageError(f"{path} carries its own weights; --weights is for torch modules")
    model = read_model(path)
    given = read_npz(request.inputs) if request.inputs is not None else {}
    names = [value.name for value in runtime_inputs(model)]
    if unknown := [name for name in request.sizes if name not in names]:
        raise UsageError(f"{path} has no input '{unknown[0]}'; it has: {', '.join(names) or 'none'}")
    model = fix_sizes(path, model, {n: a.shape for n, a in given.items() if n in names} | dict(request.sizes))
    specs = [spec_of(path, value) for value in runtime_inputs(model)]
    inputs: Arrays = (
        check_inputs(request.inputs, given, specs)
        if request.inputs is not None
        else {spec.name: draw(spec, request.seed, _index_range(model, spec.name)) for spec in specs}
    )
    name = Path(path).stem
    reference, kind = reference_of(name, model, inputs)
    return Source(name, "onnx", model, inputs, tuple(out.name for out in model.graph.output), reference, kind)


def read_model(path: str) -> ModelProto:
    """Parse the file and the external data it points to. Raises UsageError naming the file."""
    if not Path(path).is_file():
        raise UsageError(f"{path}: {'not a file' if Path(path).exists() else 'no such file'}")
    try:
        model = onnx.load(path, load_external_data=False)
    except (DecodeError, ValueError, OSError) as error:
        raise UsageError(f"{path} cannot be parsed as ONNX: the file is truncated or damaged") from error
    if not model.graph.output:
        raise UsageError(f"{path} holds no ONNX graph with an output: the file is empty, truncated or damaged")
    try:
        onnx.load_external_data_for_model(model, str(Path(path).parent))
    except Exception as error:  # onnx raises a different type for each way in which the data can be wrong
        raise UsageError(f"{path}: its external weights cannot be read: {error}") from error
    for what, values in (("input", runtime_inputs(model)), ("output", list(model.graph.output))):
        for value in values:
            kind = value.type.WhichOneof("value")
            if kind not in ("tensor_type", None):
                raise UsageError(
                    f"{path}: {what} '{value.name}' is a {kind.removesuffix('_type')}; only tensors can be lowered"
                )
    return model


def runtime_inputs(model: ModelProto) -> list[ValueInfoProto]:
    """The inputs a caller gives; before IR version 4 weights were listed among them."""
    weights = {weight.name for weight in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in weights]


def spec_of(path: str, value: ValueInfoProto) -> TensorSpec:
    """Name, shape and dtype of an input whose sizes are fixed."""
    element = value.type.tensor_type.elem_type
    if element not in NUMBERS:
        kind = "string" if element == TensorProto.STRING else f"number {element}"
        raise UsageError(f"{path}: input '{value.name}' has element type {kind}, which no compiled model can take")
    shape = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    return TensorSpec(value.name, shape, helper.tensor_dtype_to_np_dtype(element).name)


def fix_sizes(path: str, model: ModelProto, given: Sizes) -> ModelProto:
    """`model` with every input's shape fixed, and the shapes that follow inferred.

    Raises UsageError naming an input and its sizes that have no value or contradict `given`.
    """
    bound: dict[str, int] = {}
    for value in runtime_inputs(model):
        if value.name in given:
            _bind(path, value, given[value.name], bound)
    for value in runtime_inputs(model):
        _require(path, value, bound)
    if not bound:
        return model
    for value in runtime_inputs(model):
        for size, dim in zip(_sizes(value), value.type.tensor_type.shape.dim, strict=True):
            if isinstance(size, str):
                dim.dim_value = bound[size]
    for value in _declared(model.graph):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in bound:
                dim.dim_value = bound[dim.dim_param]
    try:
        return infer_shapes(model)
    except shape_inference.InferenceError as error:
        sizes = ", ".join(f"{name}={size}" for name, size in bound.items())
        raise UsageError(f"{path}: shapes do not fit together with {sizes}: {error}") from error


def infer_shapes(model: ModelProto) -> ModelProto:
    """`model` with shapes that follow from its inputs.

    Shapes written down for outputs yield to inferred ones: exporters leave fixed sizes there that held for their own
    example only. Raises InferenceError where operators of ONNX itself contradict each other; foreign ones are passed
    over.
    """
    declared = [copy.deepcopy(out.type) for out in model.graph.output]
    for out in model.graph.output:
        out.type.tensor_type.ClearField("shape")
    strict = all(node.domain in ("", "ai.onnx") for node in model.graph.node)
    inferred = shape_inference.infer_shapes(model, strict_mode=strict, data_prop=True)
    for out, before in zip(inferred.graph.output, declared, strict=True):
        if not out.type.tensor_type.HasField("shape"):
            out.type.CopyFrom(before)
    return inferred


def _bind(path: str, value: ValueInfoProto, shape: tuple[int, ...], bound: dict[str, int]) -> None:
    """Note in `bound` what `shape` says about the symbolic sizes of one input."""
    if not value.type.tensor_type.HasField("shape"):
        value.type.tensor_type.shape.SetInParent()
        for _ in shape:
            value.type.tensor_type.shape.dim.add()
    sizes = _sizes(value)
    fits = len(sizes) == len(shape) and all(isinstance(s, str) or s == n for s, n in zip(sizes, shape, strict=True))
    if not fits:
        raise UsageError(f"{path}: input '{value.name}' is [{_text(sizes)}], which [{_text(shape)}] does not fit")
    for size, number in zip(sizes, shape, strict=True):
        if isinstance(size, str) and bound.setdefault(size, number) != number:
            raise UsageError(f"{path}: size '{size}' cannot be both {bound[size]} and {number} (input '{value.name}')")


def _require(path: str, value: ValueInfoProto, bound: Mapping[str, int]) -> None:
    if not value.type.tensor_type.HasField("shape"):
        raise UsageError(f"{path}: input '{value.name}' has no shape; give it as --input {value.name}=SHAPE (1x3 ...)")
    sizes = _sizes(value)
    unset = [size for size in sizes if isinstance(size, str) and size not in bound]
    if unset:
        example = "x".join("1" if size in unset else str(bound.get(str(size), size)) for size in sizes)
        raise UsageError(
            f"{path}: input '{value.name}' is [{_text(sizes)}] and {', '.join(unset)} has no value; "
            f"give the shape, for example --input {value.name}={example}"
        )


def _sizes(value: ValueInfoProto) -> list[int | str]:
    """An input's sizes: numbers where fixed, else the symbol's name; one without a name is called after its place."""
    return [
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else dim.dim_param or f"{value.name}[{i}]"
        for i, dim in enumerate(value.type.tensor_type.shape.dim)
    ]


def _text(sizes: "list[int | str] | tuple[int, ...]") -> str:
    return ", ".join(map(str, sizes))


def _declared(graph: GraphProto) -> Iterator[ValueInfoProto]:
    """Every value whose shape is written down, in the graphs of loops and branches too."""
    yield from (*graph.input, *graph.output, *graph.value_info)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _declared(attribute.g)


def _index_range(model: ModelProto, name: str) -> tuple[int, int] | None:
    """Which integers input `name` may hold where it is an index into tables of the model; None where it is none."""
    tables = {weight.name: weight.dims for weight in model.graph.initializer}
    sizes = [
        tables[node.input[0]][next((a.i for a in node.attribute if a.name == "axis"), 0)]
        for node in model.graph.node
        if node.op_type == "Gather" and node.input[1] == name and node.input[0] in tables
    ]
    return (0, min(sizes)) if sizes else None
