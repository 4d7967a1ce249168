"""Every model of the zoo, and ONNX's own light models, by way of TVM."""

from pathlib import Path

import onnx
import pytest

from tests.routes.test_onnx_light import ALL, QUICK, with_varied_weights
from workbench.catalog import MODELS
from workbench.core.source import ModelRequest
from workbench.core.target import parse_target
from workbench.run import LowerRequest, lower

CASES = Path(__file__).parents[1] / "cases"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def check(model: ModelRequest, runs: Path) -> None:
    request = LowerRequest(model, route="tvm", target=parse_target("cpu"), runs=runs, dump="stages")
    assert all(v["ok"] for v in lower(request).manifest["verdicts"])


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
def test_zoo(name: str, tmp_path: Path) -> None:
    check(ModelRequest(name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(p.parent for p in CASES.glob("*/model.py")), ids=lambda p: p.name)
def test_torch_cases(folder: Path, tmp_path: Path) -> None:
    check(ModelRequest(f"{folder / 'model.py'}:make", inputs=str(folder / "inputs.npz")), tmp_path)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in ALL])
def test_light(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.onnx"
    onnx.save(with_varied_weights(onnx.load(LIGHT / f"light_{name}.onnx")), path)
    check(ModelRequest(str(path), "onnx"), tmp_path / "runs")
