"""`make bench-accel`: how fast the simulators are; writes docs/accel-benchmarks.md.

Processor time, which other work on the machine disturbs least; run with OMP_NUM_THREADS=1, so that both sides of a
ratio have one thread. SCALE-Sim's seconds are those of its own runs, in traces/golden/scalesim/cycles.csv.
"""

import csv
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from byoc.systolic import fast, step
from byoc.systolic.gemm import Conv2d, Epilogue, Gemm, Tiling, Work
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Dataflow, Machine, load_machine
from byoc.systolic.program import Program
from workbench.core.arrays import Arrays
from workbench.core.timing import interleaved, ratio

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "traces" / "golden" / "scalesim" / "cycles.csv"
SQUARE = (512, 512, 512)
# (input rows and columns with padding, channels, output channels, kernel, stride) and how often it occurs
LAYERS = [
    ((230, 3, 64, 7, 2), 1),
    ((58, 64, 64, 3, 1), 4),
    ((58, 64, 128, 3, 2), 1),
    ((30, 128, 128, 3, 1), 3),
    ((56, 64, 128, 1, 2), 1),
    ((30, 128, 256, 3, 2), 1),
    ((16, 256, 256, 3, 1), 3),
    ((28, 128, 256, 1, 2), 1),
    ((16, 256, 512, 3, 2), 1),
    ((9, 512, 512, 3, 1), 3),
    ((14, 256, 512, 1, 2), 1),
]


def resnet18(dtype: str, epilogue: Epilogue) -> list[Work]:
    """Its twenty convolutions and its last layer, in this order."""
    convs = [
        Conv2d(1, s, s, c, oc, k, k, (stride, stride), dtype, epilogue)
        for (s, c, oc, k, stride), times in LAYERS
        for _ in range(times)
    ]
    return [*convs, Gemm(1, 512, 1000, dtype, epilogue=epilogue)]


def values(work: Work) -> Arrays:
    """Random inputs."""
    rng, n, integer = np.random.default_rng(0), work.matrix.n, work.dtype == "int8"
    shapes = {"a": work.a_shape, "b": work.b_shape}
    if integer:
        operands: Arrays = {name: rng.integers(-128, 128, s, dtype=np.int8) for name, s in shapes.items()}
    else:
        operands = {name: rng.standard_normal(s).astype(np.float32) for name, s in shapes.items()}
    return {**operands, "bias": np.zeros(n, np.int32 if integer else np.float32), "scale": np.ones(n, np.float32)}


def once(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def median(call: Callable[[], object], rounds: int = 9) -> float:
    """Seconds."""
    return statistics.median(interleaved({"call": call}, rounds, clock=time.process_time)["call"])


def against_scalesim() -> list[str]:
    """Cycles and traffic of 512^3 on 32x32, from a program not seen before, lowering apart."""
    with TABLE.open(newline="") as file:
        square = [r for r in csv.DictReader(file) if r["model"] == "square" and r["rows"] == "32"]
    lines = ["| dataflow | tiles | instructions | ours | SCALE-Sim | ratio |", "|---|---|---|---|---|---|"]
    for row in square:
        for name, tiling in (("tpu128", Tiling(*SQUARE)), ("tpu128", None), ("gemmini16", None)):
            machine = replace(load_machine(name), rows=32, columns=32, dataflow=Dataflow(row["dataflow"]))
            machine = replace(machine, double_buffered=tiling is None)
            program = gemm_program(machine, Gemm(*SQUARE), tiling)
            ours = median(lambda p=program, m=machine: fast.figures.__wrapped__(p, m), rounds=31)
            assert fast.simulate(program, machine).array_cycles - 1 == int(row["cycles"]) or tiling is None
            peer, what = float(row["seconds"]), "one, as there" if tiling else f"in the memories of {name}"
            start = f"| {row['dataflow']} | {what} | {len(program.instructions)} |"
            lines.append(f"{start} {1e3 * ours:.2f} ms | {peer:.1f} s | {peer / ours:,.0f}x |")
    return lines


def against_numpy() -> list[str]:
    """A float32 GEMM with values, next to numpy's own."""
    sizes = {"512": SQUARE} | {
        f"resnet18 {r['layer']}": (int(r["m"]), int(r["k"]), int(r["n"])) for r in _resnet_rows() if int(r["m"]) > 1
    }
    lines = [
        "| GEMM | m x k x n | machine | instructions | simulated | numpy | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for machine in (load_machine("gemmini16"), load_machine("tpu128")):
        for name, (m, k, n) in sizes.items():
            work = Gemm(m, k, n, "float32")
            program, given = gemm_program(machine, work), values(work)
            a, b = given["a"][0], given["b"][0]
            calls = {
                "ours": lambda p=program, g=given, x=machine: fast.simulate(p, x, g),
                "numpy": lambda a=a, b=b: a @ b,
            }
            times = interleaved(calls, rounds=9, clock=time.process_time)
            ours, peer = (1e3 * statistics.median(times[x]) for x in ("ours", "numpy"))
            what = f"| {name} | {m} x {k} x {n} | {machine.name} | {len(program.instructions)} |"
            lines.append(f"{what} {ours:.1f} ms | {peer:.1f} ms | {ratio(times, 'ours', 'numpy'):.2f}x |")
    return lines


def _resnet_rows() -> list[dict[str, str]]:
    with TABLE.open(newline="") as file:
        return list({r["layer"]: r for r in csv.DictReader(file) if r["model"] == "resnet18"}.values())


def whole_resnet18() -> list[str]:
    """Every layer searched, lowered and simulated with values, once, from nothing."""
    lines = ["| machine | dtype | search and lower | simulate | in all | cycles |", "|---|---|---|---|---|---|"]
    for machine in (load_machine("gemmini16"), load_machine("tpu128")):
        for dtype, epilogue in (
            ("float32", Epilogue(bias=True, relu=True)),
            ("int8", Epilogue(bias=True, per_column=True, narrow=True)),
        ):
            works = resnet18(dtype, epilogue)
            given = [values(w) for w in works]
            programs = [gemm_program(machine, w) for w in works]
            lower = once(lambda w=works, m=machine: [gemm_program(m, x) for x in w])
            run = once(lambda p=programs, g=given, m=machine: _all(p, g, m))
            cycles = sum(fast.simulate(p, machine).cycles for p in programs)
            lines.append(
                f"| {machine.name} | {dtype} | {lower:.2f} s | {run:.2f} s | {lower + run:.2f} s | {cycles:,} |"
            )
    return lines


def _all(programs: list[Program], given: list[Arrays], machine: Machine) -> None:
    fast.figures.cache_clear()
    for program, buffers in zip(programs, given, strict=True):
        fast.simulate(program, machine, buffers)


def against_step() -> str:
    """The step simulator's time on one small product."""
    machine, work = load_machine("lab4"), Gemm(32, 32, 32)
    program, given = gemm_program(machine, work), values(work)
    slow, quick = (
        median(lambda: step.simulate(program, machine, given), 3),
        median(lambda: fast.simulate(program, machine, given)),
    )
    return f"The step simulator takes {slow:.2f} s for {work.name} on lab4, the fast one {1e3 * quick:.2f} ms."


def main() -> None:
    """Measure and write the page."""
    lines = [
        "# How fast the simulators are",
        "",
        f"Written by `make bench-accel` on {platform.machine()}, one thread: medians of processor time.",
        "",
        "## Cycles and traffic only, 512 x 512 x 512 int8 on 32 x 32",
        "",
        "A program not seen before, checked and timed. SCALE-Sim's seconds: its table's, without its traces;",
        "its memories hold the whole product. In smaller ones ours adds tiles, DMA and stalls. Goal: 10,000x.",
        "",
        *against_scalesim(),
        "",
        "## With values, float32",
        "",
        "A program's legality and cycles are worked out once; this is a run after that. Goal: 3x.",
        "",
        *against_numpy(),
        "",
        "## resnet18, every layer with values",
        "",
        "The convolutions as im2col by DMA, nothing kept from an earlier run. Goal: 5 s.",
        "",
        *whole_resnet18(),
        "",
        "## The step simulator",
        "",
        against_step(),
    ]
    (ROOT / "docs" / "accel-benchmarks.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
