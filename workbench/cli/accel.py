"""`workbench accel`: what of a model went to an accelerator, and what it cost. Reads traces; no compiler is loaded."""

from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.console import DEFAULT_RUNS, JsonOption, RunsOption, out, print_json, size
from workbench.core.offload import Figures, Offload
from workbench.core.trace import find_trace
from workbench.core.trace.layout import write_atomic
from workbench.viewer.offload import left_by_reason, own, read_offload, summary, totals
from workbench.viewer.picture import picture

app = typer.Typer(no_args_is_help=True, help="Accelerators: what went there, at what cost, and what stayed.")

PICTURE = "accel.svg"

_COST = ("cycles", "compute", "fill/drain", "stall", "used", "DRAM", "scratchpad", "energy")


@app.callback()
def _group() -> None:
    """Keeps `report` a command of its own while it is the only one."""


@app.command("report")
def report(
    trace: Annotated[str, typer.Argument(help="A trace's folder, name, part of its name, or `last`.")],
    runs: RunsOption = DEFAULT_RUNS,
    json: JsonOption = False,
) -> None:
    """Share of the work offloaded, cost by layer and in all, dataflows side by side, and why the rest stayed."""
    found = find_trace(runs, trace)
    offload = read_offload(found)
    path = found.root / PICTURE
    if offload.regions:
        write_atomic(path, picture(offload, str(found.manifest.get("model"))).encode())
    if json:
        print_json({"trace": str(found.root), "picture": str(path) if offload.regions else None, **summary(offload)})
        return
    machine, here = offload.machine, sum(row.macs for row in offload.left)
    there = sum(r.macs for r in offload.regions)
    array = f"{machine['rows']}x{machine['columns']} at {machine['clock_mhz']:g} MHz, {own(offload)}"
    out.print(f"{machine['name']} ({array}): {offload.share:.2%} of {there + here:,} multiply-accumulates offloaded")
    if offload.regions:
        out.print(_by_region(offload))
        out.print(_by_dataflow(offload))
    out.print(_left(offload))
    if offload.regions:
        out.print(f"picture {path}", markup=False)


def _by_region(offload: Offload) -> Table:
    table = _table("region", "kind", "fused", "m x k x n", *_COST)
    for r in offload.regions:
        shape = f"{r.batch} x " * (r.batch > 1) + f"{r.m} x {r.k} x {r.n}"
        table.add_row(r.node, f"{r.kind} {r.dtype}", " ".join(r.fused), shape, *_cells(r.figures[own(offload)]))
    table.add_row("all", "", "", "", *_cells(totals(offload)[own(offload)]), style="bold")
    return table


def _by_dataflow(offload: Offload) -> Table:
    table = _table("dataflow", *_COST, "at the clock")
    for name, figures in totals(offload).items():
        seconds = figures.cycles / (float(offload.machine["clock_mhz"]) * 1e6)
        table.add_row(f"{name} (ran)" if name == own(offload) else name, *_cells(figures), f"{seconds * 1e3:.3f} ms")
    return table


def _left(offload: Offload) -> Table:
    table = _table("left on the host", "count", "MACs", "because")
    for row in left_by_reason(offload):
        nodes = ", ".join(row.nodes[:3]) + f" and {len(row.nodes) - 3} more" * (len(row.nodes) > 3)
        table.add_row(row.op, str(row.count), f"{row.macs:,}", f"{row.reason} ({nodes})")
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        right = column in (*_COST, "count", "MACs", "at the clock")
        table.add_column(column, justify="right" if right else "left", no_wrap=column != "because", overflow="fold")
    return table


def _cells(f: Figures) -> tuple[str, ...]:
    counts = (f"{n:,}" for n in (f.cycles, f.compute, f.fill_drain, f.stall))
    return (
        *counts,
        f"{f.utilisation:.1%}",
        size(f.dram_bytes),
        size(f.scratchpad_bytes),
        f"{f.energy_pj * 1e-6:.1f} uJ",
    )
