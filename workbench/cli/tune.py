"""`workbench tune`: search for schedules, and build with what of them helps."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live

from workbench.cli.console import DEFAULT_RUNS, JsonOption, RunsOption, err, out, print_json
from workbench.cli.tuning import TuneView, outcome_tables
from workbench.core.source import ModelRequest, frontend_of
from workbench.core.target import parse_target
from workbench.core.tuning import Devices, SearchLimits
from workbench.database import DEFAULT_DATABASE
from workbench.tune import Tuned, TuneRequest, tune
from workbench.viewer.report import write_report


def command(
    model: Annotated[str, typer.Argument(help="Zoo name, model.onnx, package.module:factory or file.py:factory.")],
    via: Annotated[str, typer.Option(help="Route that can be tuned.")] = "tvm",
    tuner: Annotated[str, typer.Option(help="ansor, autotvm or metaschedule.")] = "ansor",
    trials: Annotated[int, typer.Option(help="Candidates to measure, over all tasks.")] = 200,
    tasks: Annotated[str, typer.Option(help="Glob over task names: 'conv2d*'.")] = "*",
    minutes: Annotated[float, typer.Option(min=0, help="Stop searching after so many; 0: no limit.")] = 0.0,
    log: Annotated[Path | None, typer.Option(help="The tuner's log; default: the database's.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from what the log has.")] = False,
    transfer: Annotated[str, typer.Option(help="Log for other threads or CPU; its best are measured first.")] = "",
    cold: Annotated[bool, typer.Option("--cold", help="Measure with weights out of the caches.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    target: Annotated[str, typer.Option(help="`cpu` or `cpu:NAME`.")] = "cpu",
    threads: Annotated[int, typer.Option(min=1, help="Threads of the host code, here and when it runs.")] = 1,
    tracker: Annotated[str, typer.Option(help="HOST:PORT of an RPC tracker whose devices measure.")] = "",
    key: Annotated[str, typer.Option(help="Key of the devices at the tracker.")] = "workbench",
    database: Annotated[Path, typer.Option(help="Folder of what was tuned.")] = DEFAULT_DATABASE,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds the search may take in all.")] = 6 * 3600,
    runs: RunsOption = DEFAULT_RUNS,
    json: JsonOption = False,
) -> None:
    """Search schedules for MODEL's tasks; the build that is kept is never slower than the default one."""
    request = TuneRequest(
        ModelRequest(model, frontend_of(model, None), {}, None, None),
        via,
        tuner,
        SearchLimits(trials, minutes, tasks, seed, str(Path(transfer).resolve()) if transfer else ""),
        parse_target(target, threads),
        Devices(tracker, key if tracker else ""),
        log,
        resume,
        cold,
        database,
        runs,
        timeout,
        shlex.join(["workbench", *sys.argv[1:]]),
    )
    view = TuneView(trials)
    with Live(view, console=err, refresh_per_second=4, transient=True, auto_refresh=err.is_terminal and not json):
        tuned = tune(request, view.tell)
    _show(tuned, json)


def _show(tuned: Tuned, as_json: bool) -> None:
    for trace in (tuned.before, tuned.after):
        write_report(trace)
    if as_json:
        print_json(_described(tuned))
        return
    for table in outcome_tables(tuned):
        out.print(table)
    out.print(f"before  {tuned.before.root}", markup=False)
    out.print(f"after   {tuned.after.root}", markup=False)
    out.print(
        f"        workbench trace diff {tuned.before.root.name} tir tir --other {tuned.after.root.name}", markup=False
    )
    out.print(f"log     {tuned.entry.log}", markup=False)


def _described(tuned: Tuned) -> dict[str, Any]:
    return {
        "log": str(tuned.entry.log),
        "schedules": str(tuned.entry.schedules),
        "meta": str(tuned.entry.meta),
        "before": str(tuned.before.root),
        "after": str(tuned.after.root),
        "search": tuned.facts,
        **tuned.choice.to_json(),
    }
