"""`workbench accel list`, `front` and `simulate`: the simulated array without a model."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from workbench.catalog import ARRAY
from workbench.cli.console import JsonOption, out, print_json, size

AccelOption = Annotated[str, typer.Option("--accel", help="A preset's name or a machine's .toml file.")]
DtypeOption = Annotated[str, typer.Option("--dtype", help="int8, float16, bfloat16 or float32.")]


def machines(json: JsonOption = False) -> None:
    """The presets that --accel knows by name."""
    rows = ARRAY.load("machines")()
    if json:
        print_json(rows)
        return
    table = _table("name", "array", "dataflow", "scratchpad", "accumulators", "DRAM", "clock")
    for row in rows:
        memories = (size(row[f"{name}_bytes"]) for name in ("scratchpad", "accumulator"))
        dram = f"{row['dram_bytes_per_cycle']} B a cycle after {row['dram_latency_cycles']}"
        array = f"{row['rows']}x{row['columns']}"
        table.add_row(row["name"], array, row["dataflow"], *memories, dram, f"{row['clock_mhz']:g} MHz")
    out.print(table)


def front(
    shape: Annotated[str, typer.Argument(help="M x K x N, such as 512x512x512; or BATCH x M x K x N.")],
    accel: AccelOption = "gemmini16",
    dtype: DtypeOption = "int8",
    json: JsonOption = False,
) -> None:
    """Tilings and dataflows of a product that nothing beats in cycles, DRAM bytes and energy at once."""
    rows = ARRAY.load("front")(accel, shape, dtype)
    if json:
        print_json(rows)
        return
    table = _table("dataflow", "tile m x k x n", "outer", "cycles", "simulated", "used", "DRAM", "energy")
    for row in rows:
        tile = row["tile"]
        cells = (row["dataflow"], f"{tile['m']} x {tile['k']} x {tile['n']}", tile["order"])
        table.add_row(*cells, f"{row['cycles']:,}", f"{row['simulated']:,}", *_cost(row))
    out.print(table)


def simulate(
    what: Annotated[str, typer.Argument(help="A program's file, or a product's shape such as 512x512x512.")],
    accel: AccelOption = "gemmini16",
    dtype: DtypeOption = "int8",
    dataflow: Annotated[str, typer.Option("--dataflow", help="ws, os or is; a program's file has its own.")] = "",
    timeline: Annotated[Path | None, typer.Option("--timeline", help="Write a timeline for ui.perfetto.dev.")] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the program.")] = False,
    json: JsonOption = False,
) -> None:
    """Cycles, traffic and energy of a program, or of the program that a product is lowered to."""
    found = ARRAY.load("simulate")(accel, what, dtype, dataflow, timeline)
    if json:
        print_json(found)
        return
    if text:
        out.print(found["program"], markup=False)
    table = _table("cycles", "compute", "fill/drain", "stall", "used", "DRAM", "energy", "bound by")
    counts = (f"{found[name]:,}" for name in ("cycles", "compute", "fill_drain", "stall"))
    roofline = found["roofline"]
    table.add_row(*counts, *_cost(found), roofline["limit"] if roofline else "nothing")
    out.print(table)


def _cost(row: dict[str, Any]) -> tuple[str, str, str]:
    dram = row["traffic"]["dram_read"] + row["traffic"]["dram_write"]
    return f"{row['utilisation']:.1%}", size(dram), f"{row['energy_pj'] * 1e-6:.2f} uJ"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            column, justify="right" if column in ("cycles", "simulated", "stall") else "left", no_wrap=True
        )
    return table
