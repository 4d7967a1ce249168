"""`make bench`: measures, and writes docs/benchmarks.md."""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.progress import track

from workbench.core.source import ModelRequest
from workbench.core.target import Target
from workbench.core.timing import interleaved, ratio
from workbench.core.trace import Trace
from workbench.run import LowerRequest, lower

ROOT = Path(__file__).parents[2]
_CHIP = "sm_80"  # the newest that iree-compile 3.13 has a description of
_CUDA = Target(cpu="", chip=_CHIP, require_cuda=True)

PROBLEMS = {
    "matmul": "tests/bench/models.py:matmul",
    "attention": "tests/bench/models.py:attention",
    "resnet18": "resnet18",
}


def main() -> None:
    """Measure everything in a folder of its own and write the page."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        runs = Path(folder) / "runs"
        steps = {
            "compile": lambda: compile_cost(runs),
            "tvm": lambda: tvm_cost(runs),
            "iree": lambda: against_iree(runs),
            "host": lambda: host(runs),
        }
        found: dict[str, Any] = {name: steps[name]() for name in track(steps, description="measuring")}
    (ROOT / "docs" / "benchmarks.md").write_text(page(found))
    print(json.dumps(found, indent=1))


def whole(runs: Path, **changes: Any) -> LowerRequest:
    """resnet18 with every stage, as `make demo` does."""
    return replace(LowerRequest(ModelRequest("resnet18"), runs=runs), **changes)


def compile_cost(runs: Path) -> dict[str, Any]:
    """The whole command's time and the trace's size, and what recording every pass costs from linalg to PTX."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "workbench", "lower", "resnet18", "--via", "mlir", "--runs", str(runs), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    seconds = time.perf_counter() - started
    root = Path(json.loads(done.stdout)["trace"])
    trace = Trace.open(root)
    size = sum(p.stat().st_size for p in root.rglob("*") if p.is_file() and p.parent.name != "consts")
    names = [s["name"] for s in trace.stages]
    imported = sum(s["seconds"] for s in trace.stages[: names.index("lift-constants") + 1])

    def recorded(capture: bool) -> None:
        lower(whole(runs, start=(root, "lift-constants"), stop="ptx", capture=capture, target=_CUDA))

    times = interleaved({"recorded": lambda: recorded(True), "bare": lambda: recorded(False)}, rounds=5, warm_up=1)

    def from_the_model(capture: bool) -> None:
        lower(whole(runs, stop="ptx", capture=capture, target=_CUDA))

    calls = {"recorded": lambda: from_the_model(True), "bare": lambda: from_the_model(False)}
    from_model = interleaved(calls, rounds=3, warm_up=1)
    return {
        "model_ratio": ratio(from_model, "recorded", "bare"),
        "model_recorded_seconds": statistics.median(from_model["recorded"]),
        "model_bare_seconds": statistics.median(from_model["bare"]),
        "command_seconds": seconds,
        "import_seconds": imported,
        "trace_bytes": size,
        "recording_ratio": ratio(times, "recorded", "bare"),
        "recorded_seconds": statistics.median(times["recorded"]),
        "bare_seconds": statistics.median(times["bare"]),
        "passes": trace.manifest["passes"],
    }


def tvm_cost(runs: Path) -> dict[str, Any]:
    """What recording every pass costs on the TVM route, from the model to assembly."""

    def lowered(dump: str, capture: bool = True) -> None:
        target = Target(chip="")
        lower(whole(runs, route="tvm", stop="asm", dump=dump, capture=capture, target=target))

    calls = {
        "changed": lambda: lowered("changed"),
        "all": lambda: lowered("all"),
        "bare": lambda: lowered("stages", capture=False),
    }
    times = interleaved(calls, rounds=3, warm_up=1)
    medians = {f"{name}_seconds": statistics.median(seconds) for name, seconds in times.items()}
    return medians | {f"{name}_ratio": ratio(times, name, "bare") for name in ("changed", "all")}


def against_iree(runs: Path) -> dict[str, Any]:
    """The same linalg to PTX: this workbench with every pass recorded, and iree-compile with its phases dumped."""
    tool = shutil.which("iree-compile", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert tool is not None, "iree-compile is missing; make bench installs it"
    root = lower(whole(runs, stop="lift-constants")).root
    trace = Trace.open(root)
    linalg = runs / "iree.mlir"
    linalg.write_text(trace.text(trace.stage("lift-constants")))
    phases = runs / "phases"

    def iree() -> None:
        command = [tool, str(linalg), "--iree-hal-target-backends=cuda", f"--iree-cuda-target={_CHIP}"]
        command += [f"--dump-compilation-phases-to={phases}", "-o", str(runs / "iree.vmfb")]
        subprocess.run(command, check=True, capture_output=True)

    def ours() -> None:
        lower(whole(runs, start=(root, "lift-constants"), stop="ptx", target=_CUDA))

    times = interleaved({"ours": ours, "iree": iree}, rounds=3, warm_up=1)
    return {
        "ours_seconds": statistics.median(times["ours"]),
        "iree_seconds": statistics.median(times["iree"]),
        "ratio": ratio(times, "ours", "iree"),
        "iree_forms": len(list(phases.glob("*"))),
        "our_passes": trace.manifest["passes"],
    }


def host(runs: Path) -> list[dict[str, Any]]:
    """Host code at every level and thread count against its peer."""
    rows: list[dict[str, Any]] = []
    for level, threads in (("naive", 1), ("tiled", 1), ("tiled", 2)):
        pairs: list[str] = []
        for name, model in PROBLEMS.items():
            target = Target(chip="", threads=threads)
            request = LowerRequest(ModelRequest(model), level=level, target=target, runs=runs)
            pairs.append(f"{name}={lower(request).root}")
        command = [sys.executable, "-m", "tests.bench.host", str(threads), *pairs]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        rows += [{"level": level, **row} for row in json.loads(done.stdout.splitlines()[-1])]
    return rows


def page(found: dict[str, Any]) -> str:
    """docs/benchmarks.md from the figures."""
    cost, tvm, iree = found["compile"], found["tvm"], found["iree"]
    lines = [
        "# Benchmarks",
        "",
        f"Written by `make bench` on {platform.machine()} with {os.cpu_count()} cores. Read the ratios: both sides of",
        "each were measured in one run, interleaved, medians over rounds, warm-up excluded, after both results were",
        "compared with the float64 reference.",
        "",
        "## Lowering",
        "",
        "| what | figure | goal |",
        "|---|---|---|",
        f"| `lower resnet18 --via mlir`, whole command | {cost['command_seconds']:.1f} s | under 20 s |",
        f"| of which import (export to lifted linalg) | {cost['import_seconds']:.1f} s | under 4 s |",
        f"| trace beside the weights | {cost['trace_bytes'] / 1e6:.1f} MB | under 5 MB |",
        f"| model to PTX ({cost['passes']} passes in the whole run): recorded / not recorded"
        f" | {cost['model_ratio']:.2f}x ({cost['model_recorded_seconds']:.1f} / {cost['model_bare_seconds']:.1f} s)"
        " | 1.25x |",
        "| of which linalg to PTX"
        f" | {cost['recording_ratio']:.2f}x ({cost['recorded_seconds']:.1f} / {cost['bare_seconds']:.1f} s) | |",
        f"| `--via tvm`, model to assembly: recorded / not recorded"
        f" | {tvm['changed_ratio']:.2f}x ({tvm['changed_seconds']:.1f} / {tvm['bare_seconds']:.1f} s) | 1.3x |",
        f"| the same with `--dump all` | {tvm['all_ratio']:.2f}x ({tvm['all_seconds']:.1f} s) | 1.3x |",
        f"| linalg to PTX, ours / `iree-compile --dump-compilation-phases-to`"
        f" | {iree['ratio']:.2f}x ({iree['ours_seconds']:.1f} / {iree['iree_seconds']:.1f} s) | 1.0x |",
        "",
        f"Both for {_CHIP}. iree-compile leaves {iree['iree_forms']} phases and tiles and fuses its kernels; the trace",
        f"has every stage and every one of {iree['our_passes']} passes.",
        "",
        "## Host code",
        "",
        "With 2 threads the idle threads of either side spin while the other runs, which slows both:",
        "`workbench lower resnet18 --opt tiled --threads 2` gives the time alone.",
        "",
        "| level | threads | problem | peer | ours / peer | ours | peer |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in found["host"]:
        start = f"| {row['level']} | {row['threads']} | {row['name']} | {row['peer']} |"
        if "wrong" in row:
            lines.append(f"{start} not timed: wrong result from {', '.join(row['wrong'])} | | |")
        else:
            lines.append(f"{start} {row['ratio']:.2f}x | {row['ours_ms']:.1f} ms | {row['peer_ms']:.1f} ms |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
