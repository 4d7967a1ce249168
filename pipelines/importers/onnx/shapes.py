"""One opset, every type known, shape arithmetic done."""

from collections.abc import Collection

from onnx import ModelProto, shape_inference, version_converter

from pipelines.importers.onnx.control import inline_control
from pipelines.importers.onnx.fold import drop_unused, fold_constants
from pipelines.importers.onnx.graph import Graph, opset_of, where
from workbench.core.errors import CompileError

SMALL = 4096
"""Constants of up to this many elements may say something about shapes; larger ones are weights."""

MISJUDGED = ("STFT", "MeanVarianceNormalization")
"""Operators whose shapes onnx 1.23 itself infers wrongly or not at all; the declared ones are right."""


def upgrade(model: ModelProto, opset: int) -> tuple[ModelProto, str]:
    """The model at the highest opset up to `opset` that the converter reaches, and what stopped it before that."""
    weights = Graph(model)
    model = weights.to_model(SMALL)
    if opset_of(model) < 9 and (old := next((n for n in model.graph.node if n.op_type == "Scan"), None)):
        # onnx's converter would let it through with the meaning it has from opset 9 on, which has no batch.
        raise CompileError(f"{where(old)} is of opset 8, which no converter raises; export with opset 9 or later")
    problem = ""
    for version in range(opset_of(model) + 1, opset + 1):
        try:
            model = version_converter.convert_version(model, version)
        except Exception as error:  # the converter's C++ exceptions have no common Python type
            problem = f"opset {version}: {' '.join(str(error).split())[:200]}"
            break
    converted = Graph(model)
    converted.constants = weights.constants | converted.constants
    return converted.to_model(), problem


def settle(graph: Graph, unfolded: Collection[str] = ()) -> Graph:
    """Infer types, fold constants and follow decided control flow until nothing changes.

    Operators in `unfolded` stay even where their result is known.
    """
    infer(graph)
    while fold_constants(graph, unfolded) or inline_control(graph):
        infer(graph)
    if drop_unused(graph):
        infer(graph)
    return graph


def infer(graph: Graph) -> None:
    """Write the type of every value into the graph; raises CompileError where the types contradict each other."""
    model = graph.to_model(SMALL)
    try:
        inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except shape_inference.InferenceError as error:
        if not any(f"op_type:{kind}," in str(error) for kind in MISJUDGED):
            raise CompileError(f"shapes do not fit together: {' '.join(str(error).split())[:300]}") from None
        inferred = shape_inference.infer_shapes(model, data_prop=True)
    known = graph.model.graph
    for field, values in (("value_info", inferred.graph.value_info), ("output", inferred.graph.output)):
        known.ClearField(field)  # pyright: ignore[reportArgumentType]
        getattr(known, field).extend(values)
    graph.read_types()
