"""An exported torch program as an ONNX model, so that one module can come in through either front end."""

import dataclasses

import torch
from torch.onnx import ONNXProgram

from models.arrays import to_torch
from models.messages import one_line, quiet, root_of
from workbench.core.errors import CompileError, ToolMissing
from workbench.core.source import Source

OPSET = 18
"""The oldest opset that torch writes, hence the one that most importers read."""


def as_onnx(source: Source) -> Source:
    """The same model as an ONNX ModelProto, with the same inputs, names and reference.

    Raises ToolMissing without onnxscript, CompileError when torch has no ONNX form for an operation.
    """
    try:
        with quiet():
            program = torch.onnx.export(
                source.program,
                tuple(map(to_torch, source.inputs.values())),
                input_names=list(source.inputs),
                output_names=list(source.output_names),
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
    except ImportError as error:
        raise ToolMissing(
            f"writing {source.name} as ONNX needs onnxscript: pip install -e '.[import]' (in the checkout)"
        ) from error
    except Exception as error:  # torch raises a different type for each step of the export that can fail
        raise CompileError(f"torch.onnx cannot write {source.name}: {one_line(root_of(error))}") from error
    assert isinstance(program, ONNXProgram)
    return dataclasses.replace(source, frontend="onnx", program=program.model_proto)
