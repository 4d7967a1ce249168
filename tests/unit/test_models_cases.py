"""The reference is itself judged: on every value case it must give the case's own expected outputs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.load import load_source
from workbench.core.errors import UsageError
from workbench.core.source import ModelRequest, Source

CASES = Path(__file__).parent.parent / "cases"


def described(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "case.json").read_text())


def with_expected() -> list[Path]:
    return [folder for folder in sorted(CASES.iterdir()) if (folder / "expected.npz").is_file()]


def load(folder: Path) -> Source:
    onnx = folder / "model.onnx"
    model = str(onnx) if onnx.is_file() else f"{folder / 'model.py'}:make"
    return load_source(ModelRequest(model, inputs=str(folder / "inputs.npz")))


@pytest.mark.parametrize("folder", with_expected(), ids=lambda folder: folder.name)
def test_reference_gives_the_expected_outputs(folder: Path) -> None:
    case, source = described(folder), load(folder)
    got = source.reference(source.inputs)
    assert tuple(got) == source.output_names
    with np.load(folder / "expected.npz") as expected:
        assert sorted(expected.files) == sorted(got)
        for name in expected.files:
            want = expected[name]
            assert got[name].shape == want.shape
            if want.dtype.kind != "f":
                assert got[name].dtype == want.dtype
            if name not in case.get("report_only", []):
                np.testing.assert_allclose(got[name], want, rtol=case["rtol"], atol=case["atol"], equal_nan=True)


@pytest.mark.parametrize(
    "folder, names",
    [("50-bad-truncated-file", ["model.onnx"]), ("38-sequence-as-output", ["pair_out", "sequence"])],
)
def test_damaged_and_untyped_files_are_refused(folder: str, names: list[str]) -> None:
    with pytest.raises(UsageError) as refusal:
        load(CASES / folder)
    assert all(name in str(refusal.value) for name in names)


def test_a_size_without_a_value_is_refused() -> None:
    model = str(CASES / "56-bad-symbolic-size-unset" / "model.onnx")
    with pytest.raises(UsageError, match=r"input 'x'.*n_rows.*--input x="):
        load_source(ModelRequest(model))
    assert load_source(ModelRequest(model, sizes={"x": (5, 4)})).inputs["x"].shape == (5, 4)
