"""fold-batch-norm: batch norms in evaluation mode become part of the convolution or linear layer before them."""

import copy
import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from pipelines.importers.fx.export import fx_artefact, with_program
from pipelines.importers.reference import source_of
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError, Skip
from workbench.core.kinds import IRKind
from workbench.core.stage import Context, Stage


@dataclass(frozen=True)
class FoldBatchNorm(Stage):
    """w' = w g / sqrt(var + eps) for each output channel, b' = (b - mean) g / sqrt(var + eps) + beta."""

    process: ClassVar[str] = "torch"
    name: ClassVar[str] = "fold-batch-norm"
    consumes: ClassVar[IRKind] = IRKind.FX
    produces: ClassVar[IRKind] = IRKind.FX

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        source = source_of(ir)
        program, folded = fold(source.program)
        if not folded:
            raise Skip("no batch norm in evaluation mode directly follows a convolution or a linear layer")
        out = fx_artefact(ir, with_program(source, program))
        out.facts["folded"] = folded
        return out

    def verify(self, ctx: Context, out: Artefact) -> None:
        import torch

        before, after = source_of(ctx.latest[IRKind.FX]), source_of(out)
        want, got = run_graph(before.program, before.inputs), run_graph(after.program, after.inputs)
        for name, a, b in zip(before.output_names, got, want, strict=True):
            apart = float((a.double() - b.double()).abs().max() / b.double().abs().max()) if a.numel() else 0.0
            if a.is_floating_point() and apart > torch.finfo(a.dtype).eps ** 0.5:
                raise CompileError(f"folding batch norms changed output '{name}' by {apart:.1e} of its largest value")


def fold(program: Any) -> tuple[Any, int]:
    """The program with its batch norms folded, and how many were. The program given is left as it was."""
    import torch
    from torch.export.graph_signature import ExportGraphSignature, InputKind

    module = copied(program.graph_module)
    state = dict(program.state_dict)
    signature = program.graph_signature
    weights = {s.arg.name: s.target for s in signature.input_specs if s.target in state}
    norms = [n for n in module.graph.nodes if n.target == torch.ops.aten.batch_norm.default]
    pairs = [(norm, norm.args[0]) for norm in norms]
    folded = {norm.name: layer.name for norm, layer in pairs if _fold_one(norm, weights, state)}
    if not folded:
        return program, 0
    unused = {n.name for n in module.graph.find_nodes(op="placeholder") if not n.users and n.name in weights}
    for node in module.graph.find_nodes(op="placeholder"):
        if node.name in unused:
            module.graph.erase_node(node)
    kept = [s for s in signature.input_specs if s.kind == InputKind.USER_INPUT or s.arg.name not in unused]
    module.recompile()
    made = torch.export.ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=ExportGraphSignature(kept, [_renamed(s, folded) for s in signature.output_specs]),
        state_dict={s.target: state[s.target] for s in kept if s.target in state},
        range_constraints=program.range_constraints,
        module_call_graph=program.module_call_graph,
        example_inputs=program.example_inputs,
        constants=program.constants,
    )
    return made, len(folded)


def _renamed(spec: Any, names: dict[str, str]) -> Any:
    """An output's specification after nodes were replaced by others."""
    if getattr(spec.arg, "name", None) not in names:
        return spec
    return dataclasses.replace(spec, arg=dataclasses.replace(spec.arg, name=names[spec.arg.name]))


def copied(module: Any) -> Any:
    """A copy of a graph module whose nodes keep their names, which the program's signature refers to."""
    twin = copy.deepcopy(module)
    for old, new in zip(module.graph.nodes, twin.graph.nodes, strict=True):
        new.name, new.target = old.name, old.target
    return twin


def _fold_one(norm: Any, weights: dict[str, str], state: dict[str, Any]) -> bool:
    """Fold one batch norm, its shift taking the place of the bias. False where the layer or a weight is shared."""
    layer, gamma, beta, mean, variance, training, _, eps, *_ = norm.args
    if training or not _is_layer(layer) or mean is None:
        return False
    kernel: Any = layer.args[1]
    bias: Any = layer.args[2] if len(layer.args) > 2 else None
    slot: Any = next(n for n in (bias, beta, mean) if n is not None)
    used = [n for n in (kernel, bias, gamma, beta, mean, variance) if n is not None]
    if len(layer.users) > 1 or any(n.name not in weights for n in used) or len(kernel.users) > 1 or len(slot.users) > 1:
        return False

    def value(node: Any, default: float) -> Any:
        return state[weights[node.name]].detach().double() if node is not None else default

    w = value(kernel, 0.0)
    scale = value(gamma, 1.0) / (value(variance, 1.0) + eps).sqrt()
    shift = (value(bias, 0.0) - value(mean, 0.0)) * scale + value(beta, 0.0)
    _put(state, weights[kernel.name], w * scale.reshape(-1, *[1] * (w.dim() - 1)))
    _put(state, weights[slot.name], shift)
    layer.args = (layer.args[0], kernel, slot, *layer.args[3:])
    norm.replace_all_uses_with(layer)
    norm.graph.erase_node(norm)
    return True


def _put(state: dict[str, Any], name: str, value: Any) -> None:
    """Replace a parameter or buffer by new values in its own precision."""
    import torch

    old = state[name]
    value = value.to(old.dtype)
    state[name] = torch.nn.Parameter(value, old.requires_grad) if isinstance(old, torch.nn.Parameter) else value


def _is_layer(node: Any) -> bool:
    import torch

    aten = torch.ops.aten

    if node.target == aten.linear.default:
        return node.meta["val"].dim() == 2
    convolutions = (aten.conv1d, aten.conv2d, aten.conv3d)
    return any(node.target in (c.default, c.padding) for c in convolutions)


def run_graph(program: Any, inputs: Any) -> list[Any]:
    """The tensors that a program gives for the named inputs."""
    import torch
    from torch.export.graph_signature import ConstantArgument, InputKind

    from pipelines.importers.fx.tensors import as_torch

    given = iter(inputs.values())

    def argument(spec: Any) -> Any:
        if spec.kind != InputKind.USER_INPUT:
            return {**program.constants, **program.state_dict}[spec.target]
        return spec.arg.value if isinstance(spec.arg, ConstantArgument) else as_torch(next(given))

    with torch.no_grad():
        results = torch.fx.Interpreter(program.graph_module).run(*map(argument, program.graph_signature.input_specs))
    return [r for r in results if isinstance(r, torch.Tensor)]
