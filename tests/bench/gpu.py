"""Bundles of zoo models on a GPU, judged and timed beside torch: `python -m tests.bench.gpu PAGE BUNDLE ...`.

Needs numpy, cuda-core and torch; no compiler. A bundle's folder carries the model's name.
"""

import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workbench.catalog import MODELS
from workbench.core.arrays import read_npz
from workbench.launch.bundle import load_plan, run_bundle
from workbench.launch.runner import Session

_ROUNDS = 9
_ROUND_MS = 30.0


def main(page: Path, bundles: list[Path]) -> int:
    """Judge and time every bundle, write the page; returns how many were wrong."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    rows: list[str] = []
    wrong = 0
    slowest: list[str] = []
    for bundle in bundles:
        result = run_bundle(bundle, time=True, profile=True)
        launches = len(load_plan(bundle).steps)
        error = max(v.error for v in result.verdicts)
        limit = max(v.tolerance for v in result.verdicts)
        start = f"| {bundle.name} | {launches} | {error:.1e} | {limit:.0e} |"
        if result.ok:
            rows.append(f"{start} {times(bundle)} | {result.times['launches'] * 1e3:.1f} |")
            step = max(result.steps, key=lambda s: s["milliseconds"])
            slowest.append(
                f"| {bundle.name} | {step['kernel']} | {step['source']} | {step['milliseconds'] * 1e3:.1f} |"
            )
        else:
            wrong += 1
            rows.append(f"{start} WRONG: {next(v.reason for v in result.verdicts if not v.ok)} | | | |")
        print(rows[-1], flush=True)
    page.write_text(text(rows, slowest))
    return wrong


def times(bundle: Path) -> str:
    """Three cells: the plan, torch, and their ratio; a dash where torch has no kernel for the model."""
    try:
        ours, peer = beside_torch(bundle)
    except RuntimeError as error:
        return f"{run_bundle(bundle, time=True).times['graph'] * 1e3:.1f} | refused: {str(error)[:60]} | –"
    return f"{ours * 1e3:.1f} | {peer * 1e3:.1f} | {ours / peer:.2f}x"


def beside_torch(bundle: Path) -> tuple[float, float]:
    """Median milliseconds of the plan and of torch on the same inputs, both replayed as CUDA graphs, interleaved."""
    module, _ = MODELS.load(bundle.name).build(0)
    module = module.cuda()
    inputs = [torch.from_numpy(np.array(a)).cuda() for a in read_npz(bundle / "inputs.npz").values()]
    # The default device is for tensors that a module makes in its forward.
    with torch.no_grad(), torch.device("cuda"), Session(bundle, load_plan(bundle)) as session:
        session.set_inputs(read_npz(bundle / "inputs.npz"))
        ours = session.graph()
        peer = torch_graph(lambda: module(*inputs))
        repeats = {
            "ours": max(1, int(_ROUND_MS / max(session.time(ours, 3), 1e-3))),
            "peer": max(1, int(_ROUND_MS / max(torch_time(peer, 3), 1e-3))),
        }
        times: dict[str, list[float]] = {"ours": [], "peer": []}
        for _ in range(_ROUNDS):
            times["ours"].append(session.time(ours, repeats["ours"]))
            times["peer"].append(torch_time(peer, repeats["peer"]))
    return statistics.median(times["ours"]), statistics.median(times["peer"])


def torch_graph(call: Callable[[], Any]) -> Callable[[], None]:
    """`call` captured as a CUDA graph after a warm-up."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def torch_time(work: Callable[[], None], repeats: int) -> float:
    """Milliseconds a call of `work` takes on the device."""
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(repeats):
        work()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / repeats


def text(rows: list[str], slowest: list[str]) -> str:
    """The page."""
    query = "name,driver_version,clocks.sm,clocks.mem,power.draw"
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"]
    card = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    head = [
        "# Runs on a GPU",
        "",
        "Each model was lowered on a machine without a GPU, exported as a bundle and run by the launch-plan runner.",
        "Outputs and scratch started as NaN bytes; errors are relative to the largest output of the float64 reference.",
        "Times are device time in microseconds, medians of interleaved rounds. The plan and torch are both replayed as",
        "CUDA graphs, torch in the model's own dtype with TF32 off. `launches` is the plan enqueued from Python.",
        "",
        f"Card: {card} (name, driver, SM clock, memory clock, power, after the last run); torch {torch.__version__}.",
        "",
        "```",
        "for m in MODEL ...; do workbench lower $m && workbench run last --export bundles/$m; done   # needs no GPU",
        "python -m tests.bench.gpu docs/gpu-runs.md bundles/*                                  # on the GPU machine",
        "```",
        "",
        "| model | kernels launched | error | limit | plan | torch | plan / torch | launches |",
        "|---|---|---|---|---|---|---|---|",
    ]
    tail = [
        "",
        "The step that takes longest in each:",
        "",
        "| model | kernel | node | microseconds |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, *tail, *slowest]) + "\n"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [Path(a) for a in sys.argv[2:]]))
