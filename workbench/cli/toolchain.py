"""`workbench toolchain`: compilers that need an environment of their own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.console import JsonOption, err, out, print_json
from workbench.core.errors import UsageError
from workbench.toolchain import TOOLCHAINS, default_root
from workbench.toolchain.install import install as make

app = typer.Typer(help="Compilers that need an environment of their own.", no_args_is_help=True)


@app.command("install")
def install(
    name: Annotated[str, typer.Argument(help="See `workbench toolchain list`.")],
    dir_: Annotated[
        Path | None, typer.Option("--dir", help="Folder of toolchains; default: WORKBENCH_TOOLCHAINS, or the cache.")
    ] = None,
) -> None:
    """Make the environment of a toolchain from its pinned list. Needs a network."""
    if name not in TOOLCHAINS:
        raise UsageError(f"no toolchain '{name}'; known: {', '.join(TOOLCHAINS)}")
    toolchain = TOOLCHAINS[name]
    root = dir_.expanduser().absolute() if dir_ is not None else default_root()
    if err.is_terminal:
        with err.status(f"{name}: ...") as status:
            folder = make(toolchain, root, lambda doing: status.update(f"{name}: {doing}"))
    else:
        folder = make(toolchain, root, lambda doing: err.print(f"{name}: {doing}", markup=False))
    out.print(f"{name} is in {folder}", markup=False)
    if root != default_root():
        out.print(f"to use it: export WORKBENCH_TOOLCHAINS={root}", markup=False)


@dataclass(frozen=True)
class Row:
    """A toolchain as `list` shows it."""

    name: str
    summary: str
    state: str
    folder: str
    packages: dict[str, str]


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the toolchains and whether they are there."""
    root = default_root()
    rows = [
        Row(t.name, t.summary, t.problem(root) or "ok", str(root / t.name), t.packages) for t in TOOLCHAINS.values()
    ]
    if json:
        print_json([vars(row) for row in rows])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "what", "state", "folder"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(row.name, row.summary, row.state, row.folder)
    out.print(table)
