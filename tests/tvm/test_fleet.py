"""Tuning on a fleet: devices that go away cost time and nothing else; trackers that cannot help are one line."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from workbench.core.errors import ToolMissing, UsageError
from workbench.core.source import ModelRequest
from workbench.core.target import Target
from workbench.core.tuning import Devices, Queue, SearchLimits
from workbench.fleet import status
from workbench.tune import Tuned, TuneRequest, tune
from workbench.worker import run_job

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Running:
    """A fleet of `workbench fleet start`."""

    tracker: str
    pids: tuple[int, ...]
    process: "subprocess.Popen[str]"

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0


@contextmanager
def fleet() -> Iterator[Running]:
    """Three devices on loopback."""
    port = free_port()
    command = [sys.executable, "-m", "workbench", "fleet", "start", "--devices", "3", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        pids = tuple(int(pid) for pid in process.stdout.readline().partition("pids ")[2].split(","))
        said = process.stdout.readline()
        assert said == f"workbench tune MODEL --tracker 127.0.0.1:{port} --key workbench --threads 1\n"
        yield Running(f"127.0.0.1:{port}", pids, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A fleet that ends whole."""
    with fleet() as started:
        yield started
        started.end()
    assert not any(Path(f"/proc/{pid}").exists() for pid in started.pids)
    with pytest.raises(ToolMissing, match="no tracker answers"):
        status("tvm", started.tracker)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A convolution and a product, both small."""
    rng = np.random.default_rng(0)
    weights = {"w": (16, 8, 3, 3), "m": (16 * 6 * 6, 32)}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("Flatten", ["c"], ["f"], name="flatten"),
        helper.make_node("MatMul", ["f", "m"], ["y"], name="product"),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 8, 8, 8))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 32))],
        [numpy_helper.from_array(rng.normal(size=s).astype(np.float32) / 8, n) for n, s in weights.items()],
    )
    path = tmp_path_factory.mktemp("model") / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def tuned(model: Path, folder: Path, devices: Devices, trials: int, tell: Callable[[Any], None]) -> Tuned:
    request = TuneRequest(
        ModelRequest(str(model), "onnx", {}, None, None),
        "tvm",
        "ansor",
        SearchLimits(trials),
        Target(cpu="native", chip=""),
        devices,
        folder / "log.json",
        (folder / "log.json").exists(),
        runs=folder / "runs",
    )
    return tune(request, tell)


def errors_of(folder: Path) -> list[int]:
    """TVM's error number of every record."""
    return [json.loads(line)["r"][1] for line in (folder / "log.json").read_text().splitlines()]


def at_work(pid: int) -> bool:
    """Whether a device links a candidate just now: its session's process has one of its own."""
    return any(children(session) for session in children(pid))


def children(pid: int) -> list[int]:
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, listed.read_text().split())
    return found


def wait_for(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not ready():
        assert time.monotonic() < deadline


def test_what_a_tracker_has(running: Running, model: Path, tmp_path: Path) -> None:
    """Counts by key; an unknown key is refused before anything is compiled, or when its devices are gone."""
    assert status("tvm", running.tracker) == (Queue("workbench", total=3, free=3, pending=0),)
    command = [sys.executable, "-m", "workbench", "fleet", "status", "--tracker", running.tracker, "--json"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == [{"key": "workbench", "total": 3, "free": 3, "pending": 0, "busy": 0}]
    with pytest.raises(UsageError, match="no device of key 'pi'; it has: workbench; add one: "):
        tuned(model, tmp_path, Devices(running.tracker, "pi"), 4, lambda _: None)
    assert not (tmp_path / "runs").exists()
    waited = f"from pipelines.tvm.tuning.fleet import *; acquire(Devices('{running.tracker}', 'pi', 2))"
    with pytest.raises(ToolMissing, match="has no device of key 'pi' any more, for 2 s"):
        run_job("tests.tvm.job:execute", {"code": waited}, tmp_path / "log", lambda _: None, 60)


def test_lost_devices_cost_no_record(running: Running, model: Path, tmp_path: Path) -> None:
    """All of a fleet goes: the search stops and keeps its records. Resumed, one device of three goes: it ends."""
    messages: list[Any] = []
    rounds: list[Any] = []

    def tell(message: Any) -> None:
        messages.append(message)
        if "best_ms" in message:
            rounds.append(message)

    with fleet() as first:

        def end_after_a_round(message: Any) -> None:
            tell(message)
            if "searching" in message and len(rounds) == 1:
                first.end()

        gone = r"no tracker answers at .* any more, for 3 s; .*log\.json: go on with --resume"
        with pytest.raises(ToolMissing, match=gone):
            tuned(model, tmp_path, Devices(first.tracker, "workbench", 3), 40, end_after_a_round)
        kept = len(errors_of(tmp_path))
        assert kept >= 10
    rounds.clear()

    def kill_in_the_second_round(message: Any) -> None:
        tell(message)
        if "searching" in message and len(rounds) == 1:
            wait_for(lambda: at_work(running.pids[1]))
            os.killpg(running.pids[1], signal.SIGKILL)

    done = tuned(model, tmp_path, Devices(running.tracker, "workbench"), 20, kill_in_the_second_round)
    assert done.facts["new_records"] == 20
    assert errors_of(tmp_path) == [0] * (kept + 20)
    assert done.facts["lost"] == sum("lost" in m for m in messages) >= 1
    assert done.facts["errors"] == {}
    assert {row.valid == row.candidates > 0 for row in done.choice.rows} == {True}
    assert f"devices 'workbench' at {running.tracker}" in done.choice.notes[-1]


def test_another_server_is_no_tracker(model: Path, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ToolMissing, match=f"no tracker answers at {address} \\(timed out\\)"):
            tuned(model, tmp_path, Devices(address, "workbench"), 4, lambda _: None)
        assert not (tmp_path / "runs").exists()
