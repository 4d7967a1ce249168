"""Compiling with every pass recorded, and failures that name the node of the user's model."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from pipelines.tvm.bindings import load, machine, refusals
from pipelines.tvm.instrument import passes
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError
from workbench.core.kinds import IRKind
from workbench.core.stage import Context
from workbench.core.trace.layout import get_constant

MODEL = "model.onnx"
"""Companion of a settled ONNX model: its file without the weights."""


def imported(ctx: Context, ir: Artefact) -> tuple[Any, Any, Any]:
    """The ONNX model of an artefact, its Relay as TVM's importer makes it, and the weights by name."""
    load(threads=ctx.target.threads)
    from pipelines.tvm.importer import import_model
    from pipelines.tvm.weights import with_weights

    assert ir.signature is not None, "a model without a signature"
    weights = {c.name: get_constant(ctx.store, c.sha256, c.dtype) for c in ir.signature.constants}
    model = with_weights(ir.blobs[MODEL], weights)
    return model, *import_model(model, [spec.name for spec in ir.signature.inputs])


@contextmanager
def compiling(ctx: Context, doing: str, config: Mapping[str, Any] | None = None) -> Generator[None]:
    """Compile in this block, with passes recorded; TVM's errors name the node of the model where one is at fault."""
    try:
        with refusals(doing), passes(ctx, config):
            yield
    except CompileError as error:
        onnx = ctx.latest.get(IRKind.ONNX)
        if onnx is None:
            raise
        from pipelines.tvm.blame import culprit

        model, module, _ = imported(ctx, onnx)
        node = culprit(model, module, machine(ctx.target))
        raise CompileError(f"{node}: {error}" if node else str(error)) from error
