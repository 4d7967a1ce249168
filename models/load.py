"""The door to models: what the user named, loaded and ready to lower."""

from pathlib import Path

from workbench.catalog import MODELS
from workbench.core.errors import ToolMissing, UsageError
from workbench.core.source import ModelRequest, Source


def load_source(request: ModelRequest) -> Source:
    """Load a model of the zoo, an .onnx file, or what a `package.module:factory` or `file.py:factory` returns.

    Torch modules come as an ExportedProgram, or with frontend "onnx" as the ModelProto made of it. Raises UsageError
    naming the model, file or input that is wrong, CompileError when torch cannot export the module, ToolMissing
    without torch or onnx.
    """
    try:
        if Path(request.model).suffix == ".onnx":
            from models.onnx_source import load_onnx

            return load_onnx(request)
        source = _load_torch(request)
        if request.frontend == "fx":
            return source
        from models.torch_onnx import as_onnx

        return as_onnx(source)
    except ModuleNotFoundError as error:
        raise ToolMissing(
            f"loading {request.model} needs {error.name}: pip install -e '.[import]' (in the checkout)"
        ) from error


def _load_torch(request: ModelRequest) -> Source:
    if request.model in MODELS:
        name, build = request.model, MODELS.load(request.model).build
        from models.torch_source import load_torch

        return load_torch(name, build(request.seed), request)
    place, colon, factory = request.model.rpartition(":")
    if not colon or not place or not factory:
        raise UsageError(
            f"no model '{request.model}'; give FILE.onnx, FILE.py:FACTORY, package.module:FACTORY, "
            f"or one of: {', '.join(MODELS)}"
        )
    from models.torch_source import call_factory, import_factory, load_torch

    name = f"{Path(place).name}:{factory}"
    return load_torch(name, call_factory(request.model, import_factory(request.model)), request)
