"""`workbench trace`: read traces. No compiler is loaded."""

import difflib
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.syntax import Syntax
from rich.table import Table

from workbench.cli.console import DEFAULT_RUNS, JsonOption, RunsOption, err, out, print_json, seconds
from workbench.cli.tables import stage_table, verdict_lines
from workbench.core.errors import ExitCode, UsageError
from workbench.core.trace import Trace, find_trace, list_traces
from workbench.core.trace.check import damage

app = typer.Typer(no_args_is_help=True, help="Read traces: list, show, compare.")

TraceArgument = Annotated[str, typer.Argument(help="A trace's folder, name, part of its name, or `last`.")]


@app.command("ls")
def ls(runs: RunsOption = DEFAULT_RUNS, json: JsonOption = False) -> None:
    """List traces, oldest first."""
    traces = list_traces(runs)
    rows: list[dict[str, Any]] = [
        {
            "name": t.root.name,
            "model": t.manifest.get("model"),
            "route": t.manifest.get("route"),
            "level": t.manifest.get("level"),
            "status": t.manifest["status"],
            "started": t.manifest.get("started"),
            "seconds": _duration(t),
            "largest_error": largest_error(t),
        }
        for t in traces
    ]
    if json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("trace", "status", "level", "started", "took", "largest error"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row["started"] or 0))
        error = "–" if row["largest_error"] is None else f"{row['largest_error']:.2e}"
        table.add_row(row["name"], row["status"], row["level"] or "", started, seconds(row["seconds"]), error)
    out.print(table)


@app.command("show")
def show(
    trace: TraceArgument,
    stage: Annotated[str, typer.Argument(help="Stage by name or number: prints its IR.")] = "",
    runs: RunsOption = DEFAULT_RUNS,
    json: JsonOption = False,
) -> None:
    """Show a trace's stages, or the IR of one stage."""
    found = _open(trace, runs)
    if stage:
        record = found.stage(stage)
        if json:
            print_json(record)
        elif out.is_terminal and record.get("bytes", 0) < 2_000_000:
            out.print(Syntax(found.text(record), "llvm", background_color="default"))
        else:
            print(found.text(record), end="")
        return
    if json:
        print_json({**found.manifest, "problems": found.problems})
        return
    out.print(stage_table(found))
    for line in verdict_lines(found):
        out.print(line, markup=False)
    if error := found.manifest.get("error"):
        out.print(f"[red]failed[/] {error['message']}", highlight=False)


@app.command("passes")
def passes(
    trace: TraceArgument,
    stage: Annotated[str, typer.Argument(help="Only this stage.")] = "",
    changed: Annotated[bool, typer.Option("--changed", help="Only passes that changed the module.")] = False,
    runs: RunsOption = DEFAULT_RUNS,
    json: JsonOption = False,
) -> None:
    """List passes in the order they ran, with what each changed."""
    found = _open(trace, runs)
    wanted = found.stage(stage)["index"] if stage else None
    rows = [p for p in found.passes() if (wanted is None or p["stage"] == wanted) and (p["changed"] or not changed)]
    if json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("#", "stage", "pass", "", "time", "operations"):
        table.add_column(column, overflow="fold")
    for p in rows:
        mark = "[red]failed[/]" if p["error"] else "changed" if p["changed"] else "[dim]no-op[/]"
        ops = sorted(p["ops"].items(), key=lambda item: -abs(item[1]))
        shown = " ".join(f"{name}{n:+d}" for name, n in ops[:5]) + (f" … {len(ops) - 5} more" if len(ops) > 5 else "")
        table.add_row(str(p["seq"]), p["stage_name"], p["name"], mark, seconds(p["seconds"]), shown)
    out.print(table)


@app.command("diff")
def diff(
    trace: TraceArgument,
    a: Annotated[str, typer.Argument(help="Stage by name or number, or pass as #N (its result).")],
    b: Annotated[str, typer.Argument(help="The other stage or pass; default for a pass: its own input.")] = "",
    other: Annotated[str, typer.Option(help="Take B from this trace.")] = "",
    context: Annotated[int, typer.Option(min=0, help="Lines of context.")] = 3,
    runs: RunsOption = DEFAULT_RUNS,
    json: JsonOption = False,
) -> None:
    """Unified diff of two stages or passes, of one run or two."""
    first = _open(trace, runs)
    second = _open(other, runs) if other else first
    if not b and not a.startswith("#"):
        raise UsageError(
            f"diff of stage '{a}' needs a second stage; only a pass (#N) has its own input to compare with"
        )
    left, right = (
        (_side(first, a, "in_blob"), _side(first, a, "out_blob")) if not b else (_side(first, a), _side(second, b))
    )
    lines = list(difflib.unified_diff(left[1], right[1], left[0], right[0], n=context, lineterm=""))
    if json:
        added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
        removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
        print_json({"a": left[0], "b": right[0], "added": added, "removed": removed, "diff": lines})
    elif out.is_terminal:
        out.print(Syntax("\n".join(lines), "diff", background_color="default"))
    else:
        print("\n".join(lines))


@app.command("check")
def check(trace: TraceArgument, runs: RunsOption = DEFAULT_RUNS, json: JsonOption = False) -> None:
    """Check a trace against the format: schema, files, blobs, pass numbers. Exit code 1 when something is wrong."""
    found = find_trace(runs, trace)
    problems = [*found.problems, *damage(found)]
    if json:
        print_json({"trace": str(found.root), "problems": problems})
    for problem in () if json else problems:
        out.print(problem, markup=False)
    if problems:
        raise typer.Exit(int(ExitCode.COMPILE_FAILED))
    if not json:
        out.print(f"{found.root.name}: whole", markup=False)


def _side(trace: Trace, key: str, blob: str = "out_blob") -> tuple[str, list[str]]:
    if not key.startswith("#"):
        record = trace.stage(key)
        return f"{trace.root.name}:{record['name']}", trace.text(record).splitlines()
    for p in trace.passes():
        if str(p["seq"]) == key[1:]:
            if not p.get(blob):
                raise UsageError(
                    f"the text around pass {key} was not kept: {'it failed' if p['error'] else 'it changed nothing'}"
                )
            return f"{trace.root.name}:{key} {p['name']} {blob[:-5]}", trace.blob(p[blob]).splitlines()
    raise UsageError(f"{trace.root.name} has no pass {key}; `workbench trace passes` lists them")


def _open(key: str, runs: Path) -> Trace:
    found = find_trace(runs, key)
    for problem in found.problems:
        err.print(f"warning: {found.root.name}: {problem}", markup=False)
    return found


def largest_error(trace: Trace) -> float | None:
    """Largest error of anything executed, relative to the reference (infinite if unmeasurable); None if nothing ran."""
    errors = [o["error"] for v in trace.manifest["verdicts"] for o in v["outputs"]]
    return max((float("inf") if e is None else e for e in errors), default=None)


def _duration(trace: Trace) -> float | None:
    ended = trace.manifest.get("ended")
    return None if ended is None else ended - trace.manifest["started"]
