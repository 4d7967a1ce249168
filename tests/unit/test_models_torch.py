"""Modules of the user's own: how they are found, called, given weights and inputs, and refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from models.load import load_source
from workbench.core.errors import CompileError, UsageError, WorkbenchError
from workbench.core.source import ModelRequest

FACTORIES = """
import torch
from torch import nn

class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.tensor([[0.1, 0.2], [0.3, 0.4]])
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, double, more):
        self.calls.add_(1)
        y = (x @ self.table).to(torch.float32) * (2 if double else 1)
        return {"z": y + more["k"], "a": (None, x > 0)}, more["k"], self.calls.clone()

class Bits(nn.Module):
    def forward(self, x):
        return x.view(torch.int32)

class Branch(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x

class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)

    def forward(self, i):
        return self.table(i)

def nested():
    torch.manual_seed(0)
    return Nested(), (torch.randn(3, 2), True, {"k": torch.arange(2)})

def training():
    return nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.9)).train(), torch.ones(2, 4)

def bfloat16():
    torch.manual_seed(0)
    return nn.Linear(4, 4).bfloat16(), [torch.randn(2, 4).bfloat16()]

def bits():
    return Bits(), torch.ones(3)

def branch():
    return Branch(), torch.ones(3)

def lookup():
    return Lookup(), torch.tensor([[1, 9], [3, 2]])

def raises():
    raise ValueError("no such checkpoint\\nsecond line")

def module_only():
    return nn.Linear(2, 2)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(FACTORIES)
    return path


def refusal(request: ModelRequest, kind: type[WorkbenchError] = UsageError) -> str:
    with pytest.raises(kind) as caught:
        load_source(request)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_nested_arguments_and_results_are_flattened(file: Path) -> None:
    source = load_source(ModelRequest(f"{file}:nested"))
    assert (source.name, source.frontend) == ("own.py:nested", "fx")
    assert {n: x.dtype.name for n, x in source.inputs.items()} == {"arg0": "float32", "arg1": "int64"}
    assert source.output_names == ("out0", "out1", "out2", "out3")
    want = source.reference(source.inputs)
    x = source.inputs["arg0"].astype(np.float64)
    table = np.array([[0.1, 0.2], [0.3, 0.4]], np.float32).astype(np.float64)
    np.testing.assert_allclose(want["out0"], x @ table * 2 + [0, 1], rtol=1e-15)
    assert [want[n].dtype.name for n in source.output_names] == ["float64", "bool", "int64", "float64"]


def test_state_written_by_a_call_does_not_reach_the_next(file: Path) -> None:
    source = load_source(ModelRequest(f"{file}:nested"))
    again = dict(source.inputs)
    assert source.reference(source.inputs)["out3"] == source.reference(again)["out3"] == 1.0


def test_module_path_and_evaluation_mode(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    source = load_source(ModelRequest("own:training"))
    again = load_source(ModelRequest(f"{file}:training"))
    assert source.reference(source.inputs)["out0"].shape == (2, 4)
    np.testing.assert_array_equal(again.reference(again.inputs)["out0"], again.reference(dict(again.inputs))["out0"])


def test_bfloat16_inputs_keep_their_dtype(file: Path) -> None:
    source = load_source(ModelRequest(f"{file}:bfloat16"))
    assert source.inputs["arg0"].dtype.name == "bfloat16"
    assert source.reference(source.inputs)["out0"].dtype == np.float64


def test_module_that_reads_bits_has_a_reference_of_its_own_precision(file: Path) -> None:
    source = load_source(ModelRequest(f"{file}:bits"))
    assert "own precision" in source.reference_kind
    np.testing.assert_array_equal(source.reference(source.inputs)["out0"], np.ones(3, np.float32).view(np.int32))


def test_sizes_resize_and_indices_stay_in_the_table(file: Path) -> None:
    source = load_source(ModelRequest(f"{file}:lookup", sizes={"arg0": (5, 7)}))
    assert source.inputs["arg0"].shape == (5, 7)
    assert source.reference(source.inputs)["out0"].shape == (5, 7, 4)
    assert "no input 'x'; it has: arg0" in refusal(ModelRequest(f"{file}:lookup", sizes={"x": (1,)}))


@pytest.mark.parametrize(
    "model, names",
    [
        ("{file}:raises", "own.py:raises raised ValueError: no such checkpoint"),
        ("{file}:module_only", "must return (torch.nn.Module, tuple of example inputs), got Linear"),
        ("{file}:nothing", "no function 'nothing'; it has: nested, training"),
        ("{file}x.py:make", "no file"),
        ("no.such.module:make", "no.such.module does not import: ModuleNotFoundError"),
        ("resnet81", "no model 'resnet81'"),
    ],
)
def test_wrong_names_are_refused(file: Path, model: str, names: str) -> None:
    assert names in refusal(ModelRequest(model.format(file=file)))


def test_file_that_does_not_import_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import nothing_of_this_name\n")
    assert "broken.py does not import: ModuleNotFoundError" in refusal(ModelRequest(f"{path}:make"))


def test_module_that_torch_cannot_export_is_refused(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "torch.export cannot export own.py:branch" in refusal(ModelRequest(f"{file}:branch"), CompileError)
    assert capfd.readouterr().err == ""


def save(path: Path, state: dict[str, torch.Tensor]) -> str:
    if path.suffix == ".safetensors":
        save_file(state, path)
    else:
        torch.save(state, path)
    return str(path)


@pytest.mark.parametrize("suffix", [".safetensors", ".pt"])
def test_weights_replace_those_of_the_factory(file: Path, tmp_path: Path, suffix: str) -> None:
    table = torch.arange(40.0).reshape(10, 4)
    weights = save(tmp_path / f"w{suffix}", {"table.weight": table})
    source = load_source(ModelRequest(f"{file}:lookup", weights=weights))
    np.testing.assert_array_equal(source.reference(source.inputs)["out0"], table.numpy()[source.inputs["arg0"]])
    assert torch.equal(source.program.state_dict["table.weight"], table)


@pytest.mark.parametrize(
    "state, names",
    [
        ({}, "also needs table.weight"),
        ({"table.weight": torch.zeros(10, 4), "head.bias": torch.zeros(1)}, "has no head.bias"),
        ({"table.weight": torch.zeros(4, 10)}, "'table.weight' has shape [4, 10], the model takes [10, 4]"),
        ({"table.weight": torch.zeros(10, 4, dtype=torch.int64)}, "'table.weight' is torch.int64"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    file: Path, tmp_path: Path, state: dict[str, torch.Tensor], names: str
) -> None:
    weights = save(tmp_path / "w.safetensors", state)
    message = refusal(ModelRequest(f"{file}:lookup", weights=weights))
    assert names in message and "w.safetensors" in message


def test_damaged_and_unsafe_weights_are_refused(file: Path, tmp_path: Path) -> None:
    model = f"{file}:lookup"
    for name in ("w.safetensors", "w.pt"):
        (tmp_path / name).write_bytes(b"not weights at all")
        assert name in refusal(ModelRequest(model, weights=str(tmp_path / name)))
    torch.save(torch.nn.Linear(1, 1), tmp_path / "whole.pt")
    assert "no plain state dict" in refusal(ModelRequest(model, weights=str(tmp_path / "whole.pt")))
    torch.save({"epoch": 3}, tmp_path / "checkpoint.pt")
    assert "epoch is no tensor" in refusal(ModelRequest(model, weights=str(tmp_path / "checkpoint.pt")))
    torch.save(torch.zeros(3), tmp_path / "tensor.pt")
    assert "holds a Tensor" in refusal(ModelRequest(model, weights=str(tmp_path / "tensor.pt")))
    assert "no such file" in refusal(ModelRequest(model, weights=str(tmp_path / "none.pt")))


def test_inputs_replace_the_examples(file: Path, tmp_path: Path) -> None:
    indices = np.array([[9, 9], [0, 1]])
    np.savez(tmp_path / "x.npz", arg0=indices)
    source = load_source(ModelRequest(f"{file}:lookup", inputs=str(tmp_path / "x.npz")))
    np.testing.assert_array_equal(source.inputs["arg0"], indices)


@pytest.mark.parametrize(
    "arrays, names",
    [
        ({}, "input 'arg0' is missing"),
        ({"arg0": np.zeros((2, 2), np.int64), "y": np.zeros(1)}, "'y' is no input"),
        ({"arg0": np.zeros((2, 2), np.int32)}, "'arg0' is int32, the model takes int64"),
        ({"arg0": np.zeros((4,), np.int64)}, "'arg0' has shape [4], the model takes [2, 2]"),
        ({"arg0": np.array([None, 1], object)}, "cannot be read"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    file: Path, tmp_path: Path, arrays: dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"], names: str
) -> None:
    np.savez(tmp_path / "x.npz", **arrays)  # pyright: ignore[reportArgumentType]
    message = refusal(ModelRequest(f"{file}:lookup", inputs=str(tmp_path / "x.npz")))
    assert names in message and "x.npz" in message


def test_files_that_are_no_npz_are_refused(file: Path, tmp_path: Path) -> None:
    model = f"{file}:lookup"
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 cut off")
    assert "x.npz cannot be read" in refusal(ModelRequest(model, inputs=str(tmp_path / "x.npz")))
    (tmp_path / "empty.npz").write_bytes(b"")
    assert "empty.npz cannot be read" in refusal(ModelRequest(model, inputs=str(tmp_path / "empty.npz")))
    np.save(tmp_path / "x.npy", np.zeros(3))
    assert "one unnamed array" in refusal(ModelRequest(model, inputs=str(tmp_path / "x.npy")))
    assert "no such file" in refusal(ModelRequest(model, inputs=str(tmp_path / "none.npz")))
