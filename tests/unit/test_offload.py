"""The file that says what went to an accelerator."""

from workbench.core.offload import Figures, LeftBehind, Offload, Region

FIGURES = Figures(100, 60, 30, 10, 0.5, 1024, 4096, 512, 7.5)
REGION = Region("systolic_0", "conv1", "conv2d", ("bias", "relu"), "int8", 1, 64, 27, 8, {"ws": FIGURES})


def test_reads_back() -> None:
    offload = Offload({"name": "lab4", "rows": 4}, (REGION,), (LeftBehind("up", "nn.conv2d", 100, "it is dilated"),))
    assert Offload.from_json(offload.to_json()) == offload


def test_share_counts_multiply_accumulates() -> None:
    assert REGION.macs == 64 * 27 * 8
    assert Offload({}, (REGION,)).share == 1.0
    assert Offload({}, (REGION,), (LeftBehind("a", "nn.conv2d", REGION.macs, ""),)).share == 0.5
    assert Offload({}, ()).share == 0.0
