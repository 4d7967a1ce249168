"""TVM's importers of exported programs and ONNX graphs, with refusals that name the node. Loads TVM."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from onnx import ModelProto, numpy_helper

from pipelines.importers.fx.tensors import as_numpy
from pipelines.importers.onnx.graph import opset_of, where
from pipelines.relax.bindings import load
from pipelines.tvm.bindings import said
from pipelines.tvm.names import identifiers
from workbench.core.errors import CompileError

_relax: Any = load("relax")
_fx: Any = load("relax.frontend.torch.exported_program_translator")
_onnx: Any = load("relax.frontend.onnx.onnx_frontend")

Array = np.ndarray[Any, Any]

REMEDY = "lower the model --via mlir, or write it otherwise"

INLINE = 16
"""ONNX constants of up to this many elements stay constants: among them is everything that decides a shape."""


def import_program(program: Any) -> tuple[Any, dict[str, Array]]:
    """Relax of an exported program, after PyTorch's own decompositions, and its weights by name.

    The parameters of `@main` are the inputs and then the weights, in order; buffers are constants. Raises CompileError
    naming the operator and the node that TVM refuses.
    """
    decomposed = program.run_decompositions(_decompositions())
    importer = _Program()
    module = importer.from_exported_program(
        decomposed,
        keep_params_as_input=True,
        unwrap_unit_return_tuple=False,
        no_bind_return_tuple=False,
        custom_convert_map=None,
    )
    module, _ = _relax.frontend.detach_params(module)
    targets = {spec.arg.name: spec.target for spec in decomposed.graph_signature.input_specs}
    main = module["main"]
    trailing = [targets[str(p.name)] for p in main.params[int(main.attrs["num_input"]) :]]
    return module, {name: as_numpy(decomposed.state_dict[name]) for name in trailing}


def _decompositions() -> Any:
    """PyTorch's own, and quantisation by its definition, which TVM has no converter for."""
    from torch.ao.quantization.fx import _decomposed
    from torch.export import default_decompositions

    table = default_decompositions()
    for name in ("quantize_per_tensor", "dequantize_per_tensor", "dequantize_per_channel"):
        table[getattr(torch.ops.quantized_decomposed, name).default] = getattr(_decomposed, name)
    return table


class _Program(_fx.ExportedProgramImporter):
    """TVM's importer of exported programs."""

    def create_convert_map(self) -> dict[str, Callable[[Any], Any]]:
        return {name: _naming_node(convert) for name, convert in super().create_convert_map().items()}

    def _check_unsupported_func_type(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            if node.op == "call_function" and node.target.__name__ not in self.convert_map:
                raise CompileError(f"{where_fx(node)}: TVM has no converter for it; {REMEDY}")


def _naming_node(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def converted(node: Any) -> Any:
        try:
            return convert(node)
        except CompileError:
            raise
        except Exception as error:  # converters raise whatever their asserts happen to raise
            raise CompileError(f"{where_fx(node)}: TVM's importer refuses it: {said(error)}") from error

    return converted


def where_fx(node: Any) -> str:
    """How an error names a node of an exported program: its operator, its name, and the user's layer it is in."""
    layers = [str(path) for path, _ in node.meta.get("nn_module_stack", {}).values() if path]
    return f"{node.target} at node '{node.name}'" + (f" in layer '{layers[-1]}'" if layers else "")


def import_onnx(model: ModelProto, inputs: Sequence[str]) -> tuple[Any, dict[str, Array]]:
    """Relax of a model with static shapes, and its weights by name.

    The parameters of `@main` are `inputs` and then the weights, in order. Raises CompileError naming the node that TVM
    refuses.
    """
    weights = {t.name: a for t in model.graph.initializer if (a := numpy_helper.to_array(t)).size > INLINE}
    importer = _Graph(dict(zip((*inputs, *weights), identifiers([*inputs, *weights]), strict=True)))
    module = importer.from_onnx(ordered(model, inputs).graph, opset_of(model))
    module, _ = _relax.frontend.detach_params(module)
    return module, weights


def ordered(model: ModelProto, inputs: Sequence[str]) -> ModelProto:
    """A model whose inputs come in this order."""
    out = ModelProto()
    out.CopyFrom(model)
    by_name = {value.name: value for value in model.graph.input}
    del out.graph.input[:]
    out.graph.input.extend(by_name[name] for name in inputs)
    return out


class _Graph(_onnx.ONNXGraphImporter):
    """TVM's importer of one ONNX graph.

    The values in `names` are parameters, called so: TVM copies names into CUDA source as they are. Other weights are
    constants.
    """

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__({}, "float32", keep_params_in_input=True)
        self._names = names

    def _sanitize_name(self, name: str) -> str:
        return self._names[name]

    def _parse_graph_initializers(self, graph: Any) -> None:
        for weight in graph.initializer:
            array = numpy_helper.to_array(weight)
            if weight.name not in self._names:
                self._nodes[weight.name] = _relax.const(np.array(array))
                continue
            name = self._names[weight.name]
            variable = self._new_var(name, shape=array.shape, dtype=array.dtype.name)
            self._nodes[weight.name] = variable
            self._params[name] = (variable, load().runtime.tensor(np.array(array)))

    def _check_for_unsupported_ops(self, graph: Any) -> None:
        known = {*_onnx._get_convert_map(), "If", "Constant"}
        for node in graph.node:
            if node.op_type not in known:
                raise CompileError(f"{where(node)}: TVM has no converter for it; {REMEDY}")

    def _construct_nodes(self, graph: Any) -> None:
        for node in graph.node:
            try:
                # It prints the operands of what it refuses, weights and all.
                with contextlib.redirect_stdout(None):
                    super()._construct_nodes(type(graph)(node=[node]))
            except CompileError:
                raise
            except Exception as error:  # converters raise whatever their asserts happen to raise
                raise CompileError(f"{where(node)}: TVM's importer refuses it: {said(error)}") from error
