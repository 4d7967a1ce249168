"""What the commands share: printing, options that read the same everywhere, and errors as one line."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

_WIDTH_OF_FILES = 160

out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else _WIDTH_OF_FILES)
err = Console(
    stderr=True,
    soft_wrap=True,
    highlight=False,
    emoji=False,
    width=None if sys.stderr.isatty() else _WIDTH_OF_FILES,
)

RunsOption = Annotated[Path, typer.Option("--runs", help="Folder of traces.", show_default=True)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

DEFAULT_RUNS = Path("traces/runs")


def print_json(data: Any) -> None:
    """JSON on standard output."""
    sys.stdout.write(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def seconds(value: float | None) -> str:
    """`1.23 s`, `45.0 ms` or `7.1 µs`; a dash for no time."""
    if value is None:
        return "–"
    if value < 1e-4:
        return f"{value * 1e6:.1f} µs"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.1f} ms"


def size(value: float | None) -> str:
    """`12 KB`, `3.4 MB`; a dash for none."""
    if value is None:
        return "–"
    return f"{value / 1e6:.1f} MB" if value >= 1e6 else f"{value / 1e3:.1f} KB"
