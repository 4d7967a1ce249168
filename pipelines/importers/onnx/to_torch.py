"""torch-mlir's ONNX importer with weights as trailing arguments and the names of nodes as locations."""

from onnx import ModelProto, TensorProto, helper, numpy_helper
from torch_mlir.extras import onnx_importer  # pyright: ignore[reportMissingImports]

from dialects.protocol import Module
from dialects.torch_bindings import INLINE, new_context
from pipelines.importers.constants import Array
from pipelines.importers.onnx.graph import without_weights
from workbench.core.errors import CompileError


def weights_as_inputs(model: ModelProto) -> tuple[ModelProto, dict[str, Array]]:
    """The model with its weights as trailing inputs and their values by name; small ones stay, as plain numbers."""
    out = without_weights(model)
    out.graph.name = "main"
    weights: dict[str, Array] = {}
    for weight in model.graph.initializer:
        array = numpy_helper.to_array(weight)
        if array.size <= INLINE and weight.data_type in onnx_importer.ELEM_TYPE_INLINE_TENSOR_PROTO_CB:
            out.graph.initializer.append(as_numbers(weight, array))
        else:
            weights[weight.name] = array
            out.graph.input.append(helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims))
    return out, weights


def as_numbers(weight: TensorProto, array: Array) -> TensorProto:
    """A small weight in typed fields: raw bytes would be imported as a resource, which no conversion reads."""
    return helper.make_tensor(weight.name, weight.data_type, weight.dims, array.reshape(-1).tolist())


def import_model(model: ModelProto) -> Module:
    """The model's graph as a function of a module, called as the graph is."""
    info = onnx_importer.ModelInfo(model, config=onnx_importer.Config())
    module = info.create_module(context=new_context())
    try:
        onnx_importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
    except onnx_importer.OnnxImportError as error:
        raise CompileError(f"the model has no form in the torch dialect: {str(error).splitlines()[0]}") from error
    return module
