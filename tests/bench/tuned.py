"""Default, tuned and onnxruntime side by side: `python -m tests.bench.tuned [DATABASE]` (`make bench-tuned`).

One process for each number of threads, for TVM reads it when it loads. Within it rounds are interleaved; before each
contestant the others' threads are given time to fall asleep, and its first runs of a round are not timed.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DATABASE = ROOT / "traces" / "golden" / "tuned"
MODELS = ("resnet18", "encoder")
CPU = "znver4"
ROUNDS, RUNS, REST_SECONDS = 15, 5, 0.05


def main(database: Path) -> None:
    """Print the table, as Markdown."""
    print("| model | threads | default | tuned | onnxruntime | default / tuned | onnxruntime / tuned | largest error |")
    print("|---|---|---|---|---|---|---|---|")
    for model in MODELS:
        for threads in ("1", "2"):
            command = [sys.executable, "-m", "tests.bench.tuned", str(database), model, threads]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            print(row(model, threads, json.loads(done.stdout.splitlines()[-1])), flush=True)


def row(model: str, threads: str, found: Mapping[str, Any]) -> str:
    """One line of the table; times in milliseconds."""
    ms = found["ms"]
    times = " | ".join(f"{ms[name]:.2f} ms" for name in ("default", "tuned", "onnxruntime"))
    ratios = f"{ms['default'] / ms['tuned']:.2f} | {ms['onnxruntime'] / ms['tuned']:.2f}"
    return f"| {model} | {threads} | {times} | {ratios} | {found['error']:.1e} |"


def measure(database: Path, model: str, threads: int) -> dict[str, Any]:
    """Median milliseconds of a run of each, after all were compared with the float64 reference."""
    from workbench.core.source import ModelRequest
    from workbench.core.target import Target
    from workbench.database import find_schedules
    from workbench.run import LowerRequest, lower

    target = Target(CPU, "", threads=threads)
    with tempfile.TemporaryDirectory() as folder:
        trace = lower(LowerRequest(ModelRequest(model), route="tvm", target=target, stop="import", runs=Path(folder)))
        contestants, errors = _contestants(trace.root, target, find_schedules(database, model, "tvm", target))
        return {"ms": _timed(contestants), "error": max(errors)}


def _contestants(root: Path, target: Any, schedules: Path) -> tuple[dict[str, Callable[[], object]], list[float]]:
    from pipelines.tvm.tuning.job import read_job
    from pipelines.tvm.tuning.measure import build
    from pipelines.tvm.tuning.read import read_schedules
    from pipelines.tvm.tuning.schedules import DefaultSchedules
    from workbench.numerics import judge_all

    asked = {"root": str(root), "target": asdict(target), "log": "", "limits": {"trials": 0}, "devices": {}}
    job = read_job(asked | {"excluded": {}, "cold": False}, lambda _: None)
    builds = {"default": build(job, DefaultSchedules()), "tuned": build(job, read_schedules(schedules))}
    assert not any(b.wrong for b in builds.values()), "a build gives wrong numbers"
    session = _onnxruntime(root, target.threads)
    outputs = dict(zip(job.reference, session(job.inputs), strict=True))
    assert all(v.ok for v in judge_all(outputs, job.reference)), "onnxruntime differs"
    runs: dict[str, Callable[[], object]] = {n: partial(b.executable, job.inputs) for n, b in builds.items()}
    return runs | {"onnxruntime": partial(session, job.inputs)}, [b.error for b in builds.values()]


def _onnxruntime(root: Path, threads: int) -> Callable[[dict[str, Any]], list[Any]]:
    import onnxruntime

    from models.load import load_source
    from workbench.core.source import ModelRequest
    from workbench.core.trace import Trace

    request = ModelRequest.from_json(Trace.open(root).manifest["request"] | {"frontend": "onnx"})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    model = load_source(request).program.SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)


def _timed(contestants: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, run in contestants.items():
            time.sleep(REST_SECONDS)
            run(), run()
            for _ in range(RUNS):
                started = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - started)
    return {name: statistics.median(taken) * 1e3 for name, taken in times.items()}


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if len(arguments) == 3:
        print(json.dumps(measure(Path(arguments[0]), arguments[1], int(arguments[2]))))
    else:
        main(Path(arguments[0]) if arguments else DATABASE)
