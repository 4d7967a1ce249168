"""torch.export programs to lifted linalg: names, weights, results, refusals."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from dialects import torch_bindings
from pipelines.importers import import_stages
from pipelines.importers.fx.batch_norm import fold, run_graph
from pipelines.importers.lowering import BACKEND_TO_LINALG, FX_TO_BACKEND, ONNX_TO_BACKEND
from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError
from workbench.core.kinds import IRKind
from workbench.core.observe import Observer, PassRecord
from workbench.core.pipeline import Pipeline
from workbench.core.source import ModelRequest
from workbench.core.stage import Context
from workbench.core.target import Target

MODELS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.register_buffer("mask", torch.arange(36).reshape(6, 6) % 3 == 0)
    def forward(self, x):
        return torch.where(self.mask, self.norm(self.conv(x)).relu(), 0.0), None

class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
    def forward(self, x):
        self.seen.add_(x)
        return self.seen * 2

class Totals(nn.Module):
    def forward(self, x):
        return x.cumsum(1), x.sort(0)[0]

def net():
    torch.manual_seed(0)
    return Net().eval(), (torch.randn(2, 3, 8, 8),)

def totals():
    return Totals(), (torch.randn(3, 4),)

def counting():
    return Counting(), (torch.ones(3),)
"""


class Passes(Observer):
    def __init__(self) -> None:
        self.names: list[str] = []

    def after_pass(self, record: PassRecord) -> None:
        self.names.append(record.name)
        assert not record.pipeline, "mlir-opt cannot repeat torch-mlir's passes"


def imported(factory: str, folder: Path) -> tuple[Context, Passes]:
    (folder / "models.py").write_text(MODELS)
    root = folder / "runs" / "one"
    root.mkdir(parents=True)
    ctx, passes = Context(Target(), root, root), Passes()
    ctx.observe(passes)
    request = ModelRequest(f"{folder / 'models.py'}:{factory}")
    ctx.latest[IRKind.SOURCE] = Artefact(IRKind.SOURCE, json.dumps(request.to_json()))
    pipeline = Pipeline(import_stages("fx"))
    pipeline.run(ctx, range(len(pipeline.stages)))
    return ctx, passes


def test_every_form_is_complete_and_named(tmp_path: Path) -> None:
    ctx, passes = imported("net", tmp_path)
    linalg = ctx.latest[IRKind.LINALG]
    assert not linalg.elided and linalg.signature is not None and linalg.located is not None
    assert [o.name for o in linalg.signature.outputs] == ["out0"], "None is not a result"
    assert [c.name for c in linalg.signature.constants] == ["conv.weight", "mask"]
    for constant in linalg.signature.constants:
        assert (ctx.store / f"{constant.sha256}.npy").is_file()
    assert 'loc("conv"' in linalg.located
    assert "xi1>" not in linalg.text, "booleans are bytes"
    assert {"convert-torch-to-linalg", "canonicalize", "bools-to-bytes", "lift-constants"} <= set(passes.names)


def test_the_text_is_read_by_the_later_stages(tmp_path: Path) -> None:
    from dialects import bindings

    located = imported("net", tmp_path)[0].latest[IRKind.LINALG].located
    assert located is not None
    module = bindings.parse(located)
    (main,) = bindings.public_functions(module)
    assert len(main.regions[0].blocks[0].arguments) == 3


def test_a_model_that_writes_to_its_buffers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="buffer 'seen'"):
        imported("counting", tmp_path)


def test_a_batch_norm_folds_and_the_given_program_stays() -> None:
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(64, 5), nn.BatchNorm1d(5)).eval()
    for module in net:
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 2.0)
            nn.init.normal_(module.running_mean)  # pyright: ignore[reportArgumentType]
    x = torch.randn(3, 2, 6, 6)
    program = torch.export.export(net, (x,))
    before = str(program.graph)
    folded, count = fold(program)
    assert count == 2 and str(program.graph) == before
    (got,), (want,) = (run_graph(p, {"x": x.numpy()}) for p in (folded, program))
    torch.testing.assert_close(got, want)
    assert not any("batch_norm" in str(n.target) for n in folded.graph.nodes)


@pytest.mark.parametrize(
    "alias, passes",
    [
        ("func.func(torch-match-quantized-custom-ops),torchdynamo-export-to-torch-backend-pipeline", FX_TO_BACKEND),
        ("torch-onnx-to-torch-backend-pipeline", ONNX_TO_BACKEND),
        ("torch-backend-to-linalg-on-tensors-backend-pipeline", BACKEND_TO_LINALG),
    ],
)
def test_the_written_out_passes_are_those_of_torch_mlir(alias: str, passes: str) -> None:
    from torch_mlir.passmanager import PassManager

    from pipelines.mlir.passes import split_pipeline

    def printed(pipeline: str) -> list[Any]:
        parsed = PassManager.parse(f"builtin.module({pipeline})", context=torch_bindings.new_context())
        return split_pipeline(str(parsed).removeprefix("builtin.module(").removesuffix(")"))

    assert printed(alias) == printed(passes)


def test_running_totals_and_sorts_become_loops(tmp_path: Path) -> None:
    ctx, passes = imported("totals", tmp_path)
    text = ctx.latest[IRKind.LINALG].text
    assert "tm_tensor" not in text and "scf.for" in text
    assert "loops" in passes.names
