"""The runner against a stand-in for the driver: memory is host memory, and the one kernel doubles eight floats."""

import ctypes
import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.unit.test_launch_plan import PLAN, PTX
from workbench.core.errors import ToolMissing, UsageError
from workbench.launch import runner
from workbench.launch.__main__ import main
from workbench.launch.bundle import run_bundle
from workbench.launch.export import write_bundle


@dataclass
class EventOptions:
    timing_enabled: bool = False


class Event:
    def __sub__(self, other: "Event") -> float:
        return 1.0

    def sync(self) -> None:
        pass


class Machine:
    """`cuda.core` and `cuda.bindings.driver` over host memory. `factor` is what the kernel multiplies by."""

    def __init__(self, capability: tuple[int, int] = (9, 0), factor: float = 2.0) -> None:
        self.capability, self.factor = capability, factor
        self.buffers: dict[int, Any] = {}
        self.loaded: list[str] = []
        stream = SimpleNamespace(handle=0, sync=lambda: None, record=lambda event: event)
        device = SimpleNamespace(
            name="stand-in", compute_capability=capability, set_current=lambda: None, sync=lambda: None,
            create_stream=lambda: stream, create_event=lambda options: Event(),
        )  # fmt: skip
        kernels = SimpleNamespace(get_kernel=lambda name: name)
        code = SimpleNamespace(
            from_ptx=lambda data: self.loaded.append("ptx") or kernels,
            from_cubin=lambda data: self.loaded.append("cubin") or kernels,
        )
        self.core = SimpleNamespace(
            Device=lambda number: device, ObjectCode=code, EventOptions=EventOptions, LaunchConfig=SimpleNamespace,
            launch=self.launch,
        )  # fmt: skip
        self.driver = SimpleNamespace(
            cuMemAlloc=self.allocate, cuMemFree=lambda p: (0, self.buffers.pop(p)) and (0,),
            cuMemcpyHtoD=self.copy, cuMemcpyDtoH=self.copy, cuMemsetD8=self.fill,
            CUstreamCaptureMode=SimpleNamespace(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL=1),
            cuStreamBeginCapture=lambda s, mode: (0,), cuStreamEndCapture=lambda s: (0, "graph"),
            cuGraphInstantiate=lambda g, flags: (0, "ready"), cuGraphLaunch=lambda g, s: (0,),
            cuGetErrorName=lambda status: (0, b"CUDA_ERROR_STAND_IN"),
        )  # fmt: skip

    def allocate(self, size: int) -> tuple[int, int]:
        buffer = (ctypes.c_char * size)()
        self.buffers[ctypes.addressof(buffer)] = buffer
        return 0, ctypes.addressof(buffer)

    def copy(self, to: int, source: int, size: int) -> tuple[int]:
        ctypes.memmove(to, source, size)
        return (0,)

    def fill(self, at: int, byte: int, size: int) -> tuple[int]:
        ctypes.memset(at, byte, size)
        return (0,)

    def launch(self, stream: Any, config: Any, kernel: str, source: int, scale: Any, target: int) -> None:
        assert (kernel, config.grid, config.block) == ("scale", (1, 1, 1), (32, 1, 1))
        values = np.frombuffer((ctypes.c_float * 8).from_address(source), np.float32)
        np.frombuffer((ctypes.c_float * 8).from_address(target), np.float32)[:] = values * self.factor
        assert scale.value == 2.0


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(runner, "_cuda", lambda: (made.core, made.driver))
    return made


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    x = np.arange(1, 9, dtype=np.float32)
    write_bundle(tmp_path / "doubled", PLAN, PTX, b"cubin", tmp_path, {"x": x}, {"y": 4.0 * x.astype(np.float64)})
    return tmp_path / "doubled"


def test_a_right_plan_is_judged_timed_and_written_down(bundle: Path, machine: Machine, tmp_path: Path) -> None:
    result = run_bundle(bundle, save_outputs=tmp_path / "y.npz", time=True, profile=True)
    assert result.ok
    assert set(result.times) == {"launches", "graph"}
    assert [s["kernel"] for s in result.steps] == ["scale", "scale"]
    assert np.load(tmp_path / "y.npz")["y"].tolist() == [4.0 * i for i in range(1, 9)]
    assert json.loads((bundle / "result.json").read_text())["ok"]
    assert machine.loaded == ["cubin"]
    assert machine.buffers == {}


def test_wrong_numbers_exit_4_and_are_not_timed(bundle: Path, machine: Machine) -> None:
    machine.factor = 2.1
    assert main([str(bundle), "--time"]) == 4
    assert json.loads((bundle / "result.json").read_text())["milliseconds"] is None


def test_nothing_written_is_wrong(bundle: Path, machine: Machine) -> None:
    machine.core.launch = lambda *args: None
    result = run_bundle(bundle)
    assert not result.ok
    assert "NaN" in result.verdicts[0].reason


def test_inputs_of_ones_own_are_not_judged(bundle: Path, machine: Machine, tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", x=np.zeros(8, np.float32))
    assert main([str(bundle), "--inputs", str(tmp_path / "mine.npz"), "--save-outputs", str(tmp_path / "o.npz")]) == 0
    assert np.load(tmp_path / "o.npz")["y"].tolist() == [0.0] * 8


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({}, "input 'x' is missing"),
        ({"x": np.zeros(7, np.float32)}, r"'x' is float32\[7\], the plan expects float32\[8\]"),
        ({"x": np.zeros(8)}, "'x' is float64"),
    ],
)
def test_wrong_inputs_are_named(
    arrays: dict[str, Any], says: str, bundle: Path, machine: Machine, tmp_path: Path
) -> None:
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(UsageError, match=says):
        run_bundle(bundle, tmp_path / "mine.npz")


@pytest.mark.parametrize(
    ("chip", "capability", "code"),
    [("sm_90a", (9, 0), "cubin"), ("sm_90", (9, 0), "cubin"), ("sm_80", (9, 0), "ptx"), ("sm_90", (10, 0), "ptx")],
)
def test_cubin_only_for_its_own_chip(
    chip: str, capability: tuple[int, int], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(capability)
    monkeypatch.setattr(runner, "_cuda", lambda: (machine.core, machine.driver))
    x = {"x": np.ones(8, np.float32)}
    write_bundle(tmp_path / "b", replace(PLAN, chip=chip), PTX, b"cubin", tmp_path, x, {"y": np.full(8, 4.0)})
    assert run_bundle(tmp_path / "b").ok
    assert machine.loaded == [code]


@pytest.mark.parametrize(("chip", "capability"), [("sm_90a", (10, 0)), ("sm_100", (9, 0)), ("sm_90a", (8, 0))])
def test_code_for_another_chip_is_refused(
    chip: str, capability: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(capability)
    monkeypatch.setattr(runner, "_cuda", lambda: (machine.core, machine.driver))
    write_bundle(tmp_path / "b", replace(PLAN, chip=chip), PTX, None, tmp_path, {}, {})
    with pytest.raises(UsageError, match=f"this plan is for {chip}, the GPU is sm_{capability[0]}{capability[1]}"):
        run_bundle(tmp_path / "b")


def test_a_driver_error_is_one_line(bundle: Path, machine: Machine) -> None:
    machine.driver.cuMemAlloc = lambda size: (2,)
    with pytest.raises(UsageError, match="CUDA_ERROR_STAND_IN"):
        run_bundle(bundle)


def test_without_cuda_core_the_remedy_is_named(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(runner, "import_module", absent)
    with pytest.raises(ToolMissing, match=r"pip install -e '\.\[gpu\]'"):
        run_bundle(bundle)


def test_the_runner_imports_only_numpy_and_the_standard_library() -> None:
    import subprocess
    import sys

    script = "import sys, workbench.launch.__main__; print(*{m.partition('.')[0] for m in sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split()) - set(sys.stdlib_module_names)
    assert not loaded & {"typer", "rich", "jsonschema", "mlir", "torch", "onnx", "cuda"}, loaded
