"""What the command line asks of the array, as plain data: machines, the front of a product, a simulated program."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from byoc.systolic.assembly import parse_program, print_program
from byoc.systolic.fast import simulate
from byoc.systolic.gemm import Gemm
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Dataflow, load_machine, presets
from byoc.systolic.program import Program
from byoc.systolic.search import front
from byoc.systolic.timeline import Roofline, perfetto
from workbench.core.errors import UsageError


def machines() -> list[dict[str, Any]]:
    """The presets, every key of their description."""
    return [asdict(load_machine(name)) for name in presets()]


def front_of(accel: str, shape: str, dtype: str) -> list[dict[str, Any]]:
    """Ways to do one product that nothing beats in cycles, DRAM bytes and energy at once, each also simulated.

    `shape`: MxKxN or BATCHxMxKxN. `simulated` is the cycles of its program, `cycles` those that cost predicts.
    """
    machine, work = load_machine(accel), gemm_of(shape, dtype)
    rows: list[dict[str, Any]] = []
    for candidate in front(machine, work):
        chosen = replace(machine, dataflow=candidate.dataflow)
        found = simulate(gemm_program(chosen, work, candidate.tiling), chosen)
        tiling = {"dataflow": str(candidate.dataflow), "tile": asdict(candidate.tiling)}
        rows.append({**tiling, **candidate.figures.to_json(), "simulated": found.cycles})
    return rows


def simulated(accel: str, what: str, dtype: str, dataflow: str, timeline: Path | None) -> dict[str, Any]:
    """Cycles, traffic and energy of a program's file, or of a product's shape; its timeline goes to a file.

    Raises UsageError for a shape or a file that cannot be read, CompileError for an illegal program.
    """
    machine = load_machine(accel)
    if dataflow:
        if dataflow not in tuple(Dataflow):
            raise UsageError(f"no dataflow '{dataflow}'; known: {', '.join(Dataflow)}")
        machine = replace(machine, dataflow=Dataflow(dataflow))
    path = Path(what)
    program = _read(path) if path.is_file() else gemm_program(machine, gemm_of(what, dtype))
    result = simulate(program, machine)
    if timeline is not None:
        timeline.write_text(json.dumps(perfetto(program, result)))
    point = Roofline.of(result) if result.traffic.dram else None
    roofline = None if point is None else {**asdict(point), "roof": point.roof, "limit": point.limit}
    return {**result.to_json(), "program": print_program(program), "roofline": roofline}


def gemm_of(shape: str, dtype: str) -> Gemm:
    """A product from MxKxN or BATCHxMxKxN. Raises UsageError."""
    try:
        *batch, m, k, n = (int(size) for size in shape.split("x"))
    except ValueError:
        raise UsageError(f"'{shape}' is neither a file nor a shape such as 512x512x512 (M x K x N)") from None
    if len(batch) > 1:
        raise UsageError(f"'{shape}' has {3 + len(batch)} sizes; a product has M x K x N, or BATCH x M x K x N")
    return Gemm(m, k, n, dtype, batch=batch[0] if batch else 1)


def _read(path: Path) -> Program:
    try:
        return parse_program(path.read_text())
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not text: {error.reason}") from error
    except UsageError as error:
        raise UsageError(f"{path}, {error}") from error
