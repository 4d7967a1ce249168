"""`workbench lower`: a model down to the machine."""

import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from workbench.cli.console import DEFAULT_RUNS, JsonOption, RunsOption, err, out, print_json
from workbench.cli.tables import stage_table, verdict_lines
from workbench.core.errors import NumbersDiffer, UsageError, WorkbenchError
from workbench.core.source import ModelRequest, frontend_of
from workbench.core.target import parse_target
from workbench.core.trace import Trace, find_trace
from workbench.database import DEFAULT_DATABASE, find_schedules
from workbench.run import LowerRequest, lower, plan, tuning_of
from workbench.viewer.report import write_report


def command(
    model: Annotated[str, typer.Argument(help="Zoo name, model.onnx, package.module:factory or file.py:factory.")],
    via: Annotated[str, typer.Option(help="Route; see `workbench list routes`.")] = "mlir",
    target: Annotated[str, typer.Option(help="`cpu`, `cuda:sm_90a` ...; default: cpu, and sm_90a.")] = "",
    opt: Annotated[str, typer.Option(help="Optimisation level of the route (naive, tiled).")] = "",
    threads: Annotated[int, typer.Option(min=1, help="Threads of the host code.")] = 1,
    accel: Annotated[str, typer.Option(help="Accelerator: a name or a .toml file (routes byoc, npu).")] = "",
    to: Annotated[str, typer.Option(help="Last stage to run.")] = "",
    from_: Annotated[str, typer.Option("--from", help="TRACE:STAGE to go on from.")] = "",
    frontend: Annotated[str | None, typer.Option(help="fx or onnx; default: by the model.")] = None,
    input_: Annotated[list[str] | None, typer.Option("--input", help="name=1x3x224x224, for symbolic sizes.")] = None,
    weights: Annotated[str | None, typer.Option(help="safetensors or torch state-dict file.")] = None,
    inputs: Annotated[str | None, typer.Option(help=".npz to verify on, arrays by the graph's names.")] = None,
    save_outputs: Annotated[Path | None, typer.Option(help=".npz for what the compiled model gave.")] = None,
    dump: Annotated[Literal["stages", "changed", "all"], typer.Option(help="Text kept of passes.")] = "changed",
    verify: Annotated[bool, typer.Option(help="With a CUDA target, also make and run host code to check.")] = True,
    tolerance: Annotated[float | None, typer.Option(help="Accepted error relative to the largest output.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds a compiler process may take.")] = 900,
    tuned: Annotated[bool, typer.Option("--tuned", help="Schedules that `workbench tune` found for MODEL.")] = False,
    database: Annotated[Path, typer.Option(help="Where --tuned looks: a folder, or one log.")] = DEFAULT_DATABASE,
    runs: RunsOption = DEFAULT_RUNS,
    json: JsonOption = False,
) -> None:
    """Lower MODEL and leave every form it takes in a trace."""
    start = None
    if from_:
        key, _, stage = from_.rpartition(":")
        if not key:
            raise UsageError(f"--from takes TRACE:STAGE, not '{from_}'")
        if inputs or weights or input_:
            raise UsageError("--from keeps the inputs and weights of its trace; leave out --inputs, --weights, --input")
        earlier = find_trace(runs, key)
        if earlier.manifest.get("model") != model:
            raise UsageError(f"{earlier.root.name} is of model '{earlier.manifest.get('model')}', not '{model}'")
        start = (earlier.root, stage)
        frontend = frontend or earlier.manifest["request"]["frontend"]
    if tuned:
        tuning_of(via)
    made_for = replace(parse_target(target, threads, verify), accel=accel)
    request = LowerRequest(
        model=ModelRequest(model, frontend_of(model, frontend), _sizes(input_ or []), weights, inputs),
        route=via,
        level=opt,
        target=made_for,
        start=start,
        stop=to,
        dump=dump,
        tolerance=tolerance,
        seconds=timeout,
        runs=runs,
        command=shlex.join(["workbench", *sys.argv[1:]]),
        tuned=find_schedules(database, model, via, made_for).resolve() if tuned else None,
    )
    try:
        trace = _lower(request, quiet=json)
    except WorkbenchError as error:
        if error.trace is not None:
            trace = Trace.open(error.trace)
            _show(trace, json)
            if save_outputs is not None and isinstance(error, NumbersDiffer):
                _save_outputs(trace, save_outputs)
        raise
    _show(trace, json)
    if save_outputs is not None:
        _save_outputs(trace, save_outputs)


def _lower(request: LowerRequest, quiet: bool) -> Trace:
    _, pipeline = plan(request)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<34}"),
        BarColumn(30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=quiet or not err.is_terminal) as bar:
        task = bar.add_task(f"loading {request.model.model}", total=len(pipeline.stages))
        stage = ""

        def tell(message: dict[str, Any]) -> None:
            nonlocal stage
            if "pass" in message:
                bar.update(task, description=f"{stage}: {message['pass']}"[:34])
            elif message["status"] == "running":
                stage = message["name"]
                bar.update(task, description=stage, completed=message["stage"])
            else:
                bar.update(task, completed=message["stage"] + 1)

        return lower(request, tell)


def _show(trace: Trace, as_json: bool) -> None:
    report = write_report(trace)
    if as_json:
        print_json({"trace": str(trace.root), "report": str(report), **trace.manifest})
        return
    out.print(stage_table(trace))
    for line in verdict_lines(trace):
        out.print(line, markup=False)
    out.print(f"trace   {trace.root}", markup=False)
    out.print(f"report  {report}", markup=False)


def _sizes(items: list[str]) -> dict[str, tuple[int, ...]]:
    sizes: dict[str, tuple[int, ...]] = {}
    for item in items:
        name, equals, shape = item.rpartition("=")
        try:
            sizes[name] = tuple(int(d) for d in shape.split("x")) if shape else ()
        except ValueError:
            equals = ""
        if not equals or not name:
            raise UsageError(f"--input takes name=1x3x224x224, not '{item}'")
    return sizes


def _save_outputs(trace: Trace, target: Path) -> None:
    for stage in reversed(trace.stages):
        for companion in stage.get("companions", ()):
            if companion.endswith("outputs.npz"):
                shutil.copyfile(trace.root / companion, target)
                return
    raise UsageError("nothing was executed, so there are no outputs to save; leave out --to, or run to a later stage")
