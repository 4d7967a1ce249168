"""A torch module as a Source: exported by torch.export, with the module itself in float64 as reference."""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, TensorArgument
from torch.utils import _pytree as pytree

from models.arrays import check_inputs, draw, to_numpy, to_torch
from models.messages import listed, one_line, quiet
from models.torch_reference import reference_of, tensors_in
from models.weights import load_weights
from workbench.core.arrays import Array, read_npz
from workbench.core.errors import CompileError, UsageError
from workbench.core.source import Arrays, ModelRequest, Source
from workbench.core.tensors import TensorSpec

Built = tuple[nn.Module, tuple[Any, ...]]


def import_factory(where: str) -> Callable[[], Any]:
    """The function that `package.module:factory` or `path/to/file.py:factory` names.

    Raises UsageError when the module does not import or has no such function.
    """
    place, _, attribute = where.rpartition(":")
    path = Path(place) if place.endswith(".py") else None
    if path is not None and not path.is_file():
        raise UsageError(f"{where}: no file {place}")
    try:
        # A file may import its neighbours, as it can when it is run as a script; a module may be in the folder at hand.
        with importable(path.parent if path is not None else Path()):
            module = _run_file(path) if path is not None else importlib.import_module(place)
    except Exception as error:
        raise UsageError(f"{where}: {place} does not import: {one_line(error)}") from error
    factory = getattr(module, attribute, None)
    if not callable(factory):
        have = [n for n, v in vars(module).items() if inspect.isfunction(v) and v.__module__ == module.__name__]
        raise UsageError(f"{where}: {place} has no function '{attribute}'; it has: {listed(have, 8) or 'none'}")
    return factory


@contextmanager
def importable(folder: Path) -> Generator[None]:
    """Let modules in `folder` be imported inside the block."""
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)


def _run_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call_factory(where: str, factory: Callable[[], Any]) -> Built:
    """Run the user's factory: (module in evaluation mode, tuple of example inputs). Raises UsageError."""
    try:
        made = factory()
    except Exception as error:
        raise UsageError(f"{where} raised {one_line(error)}") from error
    match made:
        case (nn.Module() as module, Tensor() as x):
            return module.eval(), (x,)
        case (nn.Module() as module, tuple() | list() as inputs):
            return module.eval(), tuple(cast("list[Any]", inputs))
        case _:
            raise UsageError(f"{where} must return (torch.nn.Module, tuple of example inputs), got {_shape_of(made)}")


def _shape_of(made: Any) -> str:
    if isinstance(made, tuple):
        return f"({', '.join(type(x).__name__ for x in cast('tuple[Any, ...]', made))})"
    return type(made).__name__


def load_torch(name: str, built: Built, request: ModelRequest) -> Source:
    """Export `built` on its inputs, resized and replaced as `request` asks.

    Inputs are the tensors among the example inputs, arg0, arg1 ...; outputs the tensors among the results, out0 ...
    Raises UsageError when sizes or inputs do not fit, CompileError when torch.export refuses the module.
    """
    module, examples = built
    if request.weights is not None:
        load_weights(module, request.weights)
    leaves, tree = pytree.tree_flatten(examples)
    inputs = choose_inputs(tensors_in(leaves), request)

    def arguments(arrays: Arrays) -> tuple[Any, ...]:
        """The call's arguments: the example inputs with every tensor replaced."""
        tensors = iter([to_torch(arrays[n]) for n in inputs])
        return pytree.tree_unflatten([next(tensors) if isinstance(x, Tensor) else x for x in leaves], tree)

    program = export(name, module, arguments(inputs))
    outputs = [out.arg for out in program.graph_signature.output_specs if out.kind == OutputKind.USER_OUTPUT]
    names = tuple(f"out{i}" for i in range(sum(isinstance(out, TensorArgument) for out in outputs)))
    reference, kind = reference_of(name, module, inputs, arguments)
    return Source(name, "fx", program, inputs, names, reference, kind)


def export(name: str, module: nn.Module, arguments: tuple[Any, ...]) -> ExportedProgram:
    """torch.export in evaluation mode. Raises CompileError when torch refuses."""
    # The fast path of nn.MultiheadAttention is one opaque operation, of which nothing could be lowered.
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with quiet(), torch.no_grad():
            return torch.export.export(module, arguments)
    except Exception as error:
        raise CompileError(f"torch.export cannot export {name}: {one_line(error)}") from error
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def choose_inputs(examples: Sequence[Tensor], request: ModelRequest) -> Arrays:
    """The inputs to verify on, by name: those of `request.inputs`, else the examples, redrawn where resized."""
    fixed = {f"arg{i}": to_numpy(x) for i, x in enumerate(examples)}
    if unknown := [n for n in request.sizes if n not in fixed]:
        raise UsageError(f"{request.model} has no input '{unknown[0]}'; it has: {', '.join(fixed) or 'none'}")
    specs = [TensorSpec(n, request.sizes.get(n, x.shape), x.dtype.name) for n, x in fixed.items()]
    if request.inputs is not None:
        return check_inputs(request.inputs, read_npz(request.inputs), specs)
    return {
        s.name: fixed[s.name] if fixed[s.name].shape == s.shape else redraw(s, fixed[s.name], request.seed)
        for s in specs
    }


def redraw(spec: TensorSpec, example: Array, seed: int) -> Array:
    """An input of another size; integers stay within those of the example, which may be indices into a table."""
    within = (int(example.min()), int(example.max()) + 1) if example.dtype.kind in "iu" and example.size else None
    return draw(spec, seed, within)
