"""`workbench list`: what there is to choose from."""

from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from workbench.catalog import MODELS, ROUTES
from workbench.cli.console import JsonOption, out, print_json
from workbench.core.route import RouteChoices
from workbench.core.target import Target


def command(
    what: Annotated[Literal["models", "routes"], typer.Argument(help="models or routes")],
    json: JsonOption = False,
) -> None:
    """List models, or routes with their stages."""
    rows: list[dict[str, Any]] = _models() if what == "models" else _routes()
    if json:
        print_json(rows)
        return
    for row in rows:
        out.print(f"[bold]{row['name']}[/]  {row['summary']}")
        for level, stages in row.get("levels", {}).items():
            table = Table(box=None, pad_edge=False, show_header=False)
            for stage in stages:
                table.add_row(
                    "   ", stage["spec"], f"{stage['consumes']} -> {stage['produces']}", f"({stage['process']})"
                )
            out.print(f"  --opt {level}")
            out.print(table)


def _models() -> list[dict[str, Any]]:
    return [{"name": name, "summary": MODELS.load(name).summary} for name in MODELS]


def _routes() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name in ROUTES:
        route = ROUTES.load(name)
        levels: dict[str, list[dict[str, str]]] = {}
        for level in route.levels:
            pipeline = route.build(RouteChoices("fx", Target(), level))
            levels[level] = [
                {"spec": s.spec(), "consumes": s.consumes, "produces": s.produces, "process": s.process}
                for s in pipeline.stages
            ]
        rows.append({"name": name, "summary": route.summary, "levels": levels})
    return rows
