"""One opset, every type known, shape arithmetic done."""

from onnx import ModelProto, shape_inference, version_converter

from pipelines.importers.onnx.fold import drop_unused, fold_constants
from pipelines.importers.onnx.graph import Graph, opset_of
from workbench.core.errors import CompileError


def upgrade(model: ModelProto, opset: int) -> tuple[ModelProto, str]:
    """The model at the highest opset up to `opset` that the converter reaches, and what stopped it before that."""
    model = Graph(model).to_model()
    for version in range(opset_of(model) + 1, opset + 1):
        try:
            model = version_converter.convert_version(model, version)
        except Exception as error:  # the converter's C++ exceptions have no common Python type
            return model, f"opset {version}: {' '.join(str(error).split())[:200]}"
    return model, ""


def settle(graph: Graph) -> Graph:
    """Infer types and fold constants until nothing changes."""
    infer(graph)
    while fold_constants(graph):
        infer(graph)
    if drop_unused(graph):
        infer(graph)
    return graph


def infer(graph: Graph) -> None:
    """Write the type of every value into the graph; raises CompileError where the types contradict each other."""
    try:
        inferred = shape_inference.infer_shapes(graph.to_model(), strict_mode=True, data_prop=True)
    except shape_inference.InferenceError as error:
        raise CompileError(f"shapes do not fit together: {' '.join(str(error).split())[:300]}") from None
    known = graph.model.graph
    for field, values in (("value_info", inferred.graph.value_info), ("output", inferred.graph.output)):
        known.ClearField(field)  # pyright: ignore[reportArgumentType]
        getattr(known, field).extend(values)
    graph.read_types()
