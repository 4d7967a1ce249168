"""Integer arithmetic on the array against onnxruntime's, bit for bit.

onnxruntime fuses QDQ into QLinearConv and its like, whose sums are integers, scaled in float32 and rounded half to
even. Without optimisation its Conv sums in float32 what the array sums exactly, and a value near a half may fall to the
other step; so it is the fused form that is compared.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from models.load import load_source
from tests.byoc.relay import qdq
from workbench.core.source import ModelRequest
from workbench.worker import run_job

FLAGS = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
exact_runtime = pytest.mark.skipif(
    "vnni" not in FLAGS, reason="without VNNI onnxruntime's int8 products saturate in 16 bits on the way"
)

MAKERS = {
    f"{maker.__name__}-{np.dtype(dtype).name}-{'channels' if each else 'tensor'}{'-relu' * relu}": (
        lambda folder, maker=maker, dtype=dtype, each=each, relu=relu: maker(folder, 3, dtype, each, relu)
    )
    for maker in (qdq.convolution, qdq.linear)
    for dtype in (np.int8, np.uint8)
    for each, relu in ((True, True), (False, False))
}


def run_here(folders: list[str], out: Path) -> dict[str, Any]:
    """What went where, by folder; one thread, for BLAS on a busy machine waits long for a second one."""
    job, params, env = "tests.byoc.relay.job:run_models", {"folders": folders}, {"OPENBLAS_NUM_THREADS": "1"}
    return run_job(job, params, out / "log", lambda _: None, 300, env=env)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every model gave, and what went where."""
    root = tmp_path_factory.mktemp("int8")
    for name, make in MAKERS.items():
        make(root / name)
    params = {"folders": [str(root / name) for name in MAKERS]}
    return {"root": root, **run_here(params["folders"], root)}


def by_onnxruntime(model: bytes | str, inputs: dict[str, Any]) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(model)
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


@exact_runtime
@pytest.mark.parametrize("name", list(MAKERS))
def test_any_scale_and_zero_point(name: str, ran: dict[str, Any]) -> None:
    folder = ran["root"] / name
    with np.load(folder / "inputs.npz") as inputs, np.load(folder / "outputs.npz") as got:
        want = by_onnxruntime(str(folder / "model.onnx"), dict(inputs))
        for output, array in want.items():
            np.testing.assert_array_equal(got[output], array)
            assert len(np.unique(array)) > 20
    assert {r["dtype"] for r in ran[str(folder)]["regions"]} == {"int8"}
    assert not [row for row in ran[str(folder)]["left"] if row["macs"]]


@exact_runtime
@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet18_int8", "encoder_int8"])
def test_zoo(name: str, tmp_path: Path) -> None:
    import onnx

    source = load_source(ModelRequest(name, "onnx"))
    folder = tmp_path / name
    folder.mkdir()
    onnx.save(source.program, folder / "model.onnx")
    np.savez(folder / "inputs.npz", **source.inputs)
    run_here([str(folder)], tmp_path)
    want = by_onnxruntime(source.program.SerializeToString(), source.inputs)
    with np.load(folder / "outputs.npz") as got:
        for output, array in want.items():
            if name == "resnet18_int8":
                np.testing.assert_array_equal(got[output], array)
            else:  # the residual sum is not on a grid: its float32 addition follows norms of other rounding
                np.testing.assert_allclose(got[output], array, atol=1e-5)


@exact_runtime
@pytest.mark.slow
def test_resnet18_as_onnxruntime_quantises_it(tmp_path: Path) -> None:
    """Scales as they come, an asymmetric grid for every value: all of the model's products in int8, bit for bit."""
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

    source = load_source(ModelRequest("resnet18", "onnx"))

    class Once(CalibrationDataReader):
        def __init__(self) -> None:
            self.left = [source.inputs]

        def get_next(self) -> Any:
            return self.left.pop() if self.left else None

    folder = tmp_path / "resnet18"
    folder.mkdir()
    onnx.save(source.program, tmp_path / "float.onnx")
    kinds = {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8}
    quantize_static(str(tmp_path / "float.onnx"), str(folder / "model.onnx"), Once(), per_channel=True, **kinds)
    np.savez(folder / "inputs.npz", **source.inputs)
    went = run_here([str(folder)], tmp_path)[str(folder)]
    assert {r["dtype"] for r in went["regions"]} == {"int8"}
    assert not [row for row in went["left"] if row["macs"]]
    want = by_onnxruntime(str(folder / "model.onnx"), source.inputs)
    with np.load(folder / "outputs.npz") as got:
        for output, array in want.items():
            np.testing.assert_array_equal(got[output], array)
