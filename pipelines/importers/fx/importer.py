"""torch-mlir's FX importer with weights as arguments and the model's own names as locations."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch_mlir.dialects import func  # pyright: ignore[reportMissingImports]
from torch_mlir.extras import fx_importer  # pyright: ignore[reportMissingImports]

from dialects.protocol import Module
from dialects.torch_bindings import INLINE, inside, ir, new_context
from pipelines.importers.constants import main_of, update_type
from pipelines.importers.fx.tensors import Array, as_numpy
from workbench.core.errors import CompileError

_TORCH = str(Path(torch.__file__).parent)
_FRAME = re.compile(r'File "([^"]+)", line (\d+),')


def import_program(program: ExportedProgram, inputs: Sequence[str]) -> tuple[Module, dict[str, Array]]:
    """The program as `@main` of a module, its first arguments called `inputs`, and its trailing arguments by name.

    Raises CompileError naming the node that has no form in the torch dialect.
    """
    refuse_writes(program)
    hooks = _Weights(program)
    importer = _Importer(context=new_context(), hooks=hooks)
    try:
        importer.import_program(program, func_name="main")
    except Exception as error:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise CompileError(f"node '{importer.node}' has no form in the torch dialect: {line}") from error
    with inside(importer.module):
        for function in importer.module.body.operations:
            return_tensors_only(function)
            update_type(function)
        for argument, name in zip(main_of(importer.module).regions[0].blocks[0].arguments, inputs, strict=False):
            argument.set_location(ir.Location.name(name))
    return importer.module, hooks.arrays


def refuse_writes(program: ExportedProgram) -> None:
    """Raises CompileError when running the model changes a buffer or an input."""
    for spec in program.graph_signature.output_specs:
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION):
            what = "buffer" if spec.kind == OutputKind.BUFFER_MUTATION else "input"
            raise CompileError(
                f"running the model writes to its {what} '{spec.target}', which a compiled function cannot; "
                "take the old value as an input and return the new one"
            )


def return_tensors_only(function: Any) -> None:
    """Drop None and numbers among the results: they are known without running the model."""
    block = function.regions[0].blocks[0]
    end = list(block.operations)[-1]
    with ir.InsertionPoint(end), end.location:
        func.ReturnOp([v for v in end.operands if str(v.type).startswith("!torch.vtensor")])
    end.operation.erase()


class _Importer(fx_importer.FxImporter):
    """The importer with named locations; `node` is the one being imported."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._cc = _Locations(self._c, py_attr_tracker=self._py_attr_tracker)

    @property
    def node(self) -> str:
        return self._cc.node


class _Locations(fx_importer.ContextCache):
    """Locations that carry the path of the module a node came from, and the user's line that called it."""

    node = ""

    def get_node_location(self, node: fx.Node) -> Any:
        self.node = name_of(node)
        frames = [f for f in _FRAME.findall(node.stack_trace or "") if not f[0].startswith(_TORCH)]
        child = ir.Location.file(shown(frames[-1][0]), int(frames[-1][1]), 0, context=self._c) if frames else None
        return ir.Location.name(self.node, childLoc=child, context=self._c)


def shown(file: str) -> str:
    """A path as the user sees it: relative where the file lies below the working directory."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def name_of(node: fx.Node) -> str:
    """`layer1.0.conv1` for the work of one of torch's own modules, else the caller's path and the node's name."""
    path, kind = next(reversed((node.meta.get("nn_module_stack") or {"": ("", "")}).values()))
    if str(kind).startswith("torch.nn.modules."):
        return path
    origin: Any = node
    while from_node := getattr(origin, "from_node", None) or getattr(origin, "meta", {}).get("from_node"):
        origin = from_node[-1]
    return f"{path}.{origin.name}" if path else origin.name


class _Weights(fx_importer.FxImporterHooks):
    """Makes weights of more than a few elements trailing arguments, under their names in the model.

    As attributes they would be printed, hashed and copied by every pass that looks at the module.
    """

    def __init__(self, program: ExportedProgram) -> None:
        self.arrays: dict[str, Array] = {}
        self._names = {id(t): name for name, t in program.constants.items()}

    def resolve_literal(self, gni: Any, literal: Any, info: Any) -> Any:
        if not isinstance(literal, Tensor):
            return None
        array = as_numpy(literal)
        if literal.numel() <= INLINE:
            return constant(array, literal)
        name = info.input_spec.target if info else self._names.get(id(literal), f"constant_{len(self.arrays)}")
        self.arrays[name] = array
        return ir.InsertionPoint.current.block.add_argument(vtensor(literal), ir.Location.name(name))


def constant(array: Array, tensor: Tensor) -> Any:
    """A small weight as a constant of the torch dialect."""
    kind = fx_importer.create_mlir_tensor_type(tensor)
    value = ir.DenseElementsAttr.get(array, type=kind.element_type, shape=list(array.shape))
    return ir.Operation.create("torch.vtensor.literal", results=[vtensor(tensor)], attributes={"value": value}).result


def vtensor(tensor: Tensor) -> Any:
    """The torch dialect's type of a tensor's value."""
    kind = fx_importer.create_mlir_tensor_type(tensor)
    return ir.Type.parse(f"!torch.vtensor<{list(tensor.shape)},{kind.element_type}>")
