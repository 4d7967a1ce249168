"""export: the user's module as a graph of aten operators."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, ClassVar

from workbench.core.arrays import npz_bytes
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError
from workbench.core.kinds import IRKind
from workbench.core.source import ModelRequest, Source
from workbench.core.stage import Context, Stage
from workbench.core.trace.layout import write_atomic


@dataclass(frozen=True)
class Export(Stage):
    """Loads the model and exports it; keeps the fixed inputs."""

    process: ClassVar[str] = "torch"
    name: ClassVar[str] = "export"
    consumes: ClassVar[IRKind] = IRKind.SOURCE
    produces: ClassVar[IRKind] = IRKind.FX

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from models.load import load_source

        source = load_source(ModelRequest.from_json(json.loads(ir.text)))
        refuse_random(source.program)
        write_atomic(ctx.numerics / "inputs.npz", npz_bytes(source.inputs))
        return fx_artefact(ir, source)


def refuse_random(program: Any) -> None:
    """Raises CompileError for an operator that draws random numbers: no result of such a model can be judged."""
    for node in program.graph.nodes:
        if _is_random(node):
            raise CompileError(
                f"{node.target} at node '{node.name}' draws random numbers, so its result cannot be judged; "
                "put the module in evaluation mode, or draw them outside and pass them in"
            )


def _is_random(node: Any) -> bool:
    import torch

    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    # Dropout and attention carry the tag whether they drop anything or not: their arguments tell.
    names = [a.name for a in node.target._schema.arguments]
    values = {a.name: a.default_value for a in node.target._schema.arguments if a.has_default_value()}
    values |= dict(zip(names, node.args, strict=False)) | node.kwargs
    return all(values.get(name, True) for name in ("dropout_p", "dropout", "p", "train", "training"))


def fx_artefact(ir: Artefact, source: Source) -> Artefact:
    """A program as an artefact: the graph as Python code with shapes, and how large it is."""
    program = source.program
    weights = list(program.state_dict.values())
    facts = {
        "nodes": sum(node.op == "call_function" for node in program.graph.nodes),
        "parameters": sum(w.numel() for w in weights),
    }
    return ir.derive(IRKind.FX, readable(program), handle=source, facts=facts)


def readable(program: Any) -> str:
    """The graph module's code with shapes, without colours."""
    return program.graph_module.print_readable(print_output=False, include_stride=False, colored=False)


def with_program(source: Source, program: Any) -> Source:
    """The same model in another form."""
    return dataclasses.replace(source, program=program)
