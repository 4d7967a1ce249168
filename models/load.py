"""The door to models: what the user named, loaded and ready to lower."""

from workbench.catalog import MODELS
from workbench.core.errors import UsageError
from workbench.core.source import ModelRequest, Source


def load_source(request: ModelRequest) -> Source:
    """Load a model of the zoo, an .onnx file, or what a `package.module:factory` or `file.py:factory` returns.

    Raises UsageError naming the model, file or input that is wrong, CompileError when torch cannot export it.
    """
    from models import torch_source

    if request.model in MODELS:
        spec = MODELS.load(request.model)
        return torch_source.load_torch(spec.name, spec.build(request.seed), request)
    if ":" in request.model:
        factory = torch_source.import_factory(request.model)
        return torch_source.load_torch(
            request.model.rpartition(":")[2], torch_source.call_factory(request.model, factory), request
        )
    raise UsageError(f"no model '{request.model}'; known: {', '.join(MODELS)}; or give a file.onnx or file.py:factory")
