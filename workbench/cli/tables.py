"""Tables of a trace for a terminal."""

from collections import Counter
from typing import Any

from rich.table import Table

from workbench.cli.console import seconds
from workbench.core.trace import Trace

_COLOUR = {"done": "green", "failed": "red", "skipped": "yellow", "running": "cyan", "planned": "dim"}


def stage_table(trace: Trace) -> Table:
    """One row a stage: status, time, size, passes, facts or the reason it has none."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, justify in (("", "right"), ("stage", "left"), ("makes", "left"), ("status", "left"), ("time", "right")):
        table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("lines", justify="right", no_wrap=True)
    table.add_column("passes", justify="right", no_wrap=True)
    table.add_column("notes", overflow="fold")
    changed = Counter(p["stage"] for p in trace.passes() if p["changed"])
    for s in trace.stages:
        span = s.get("passes")
        passes = f"{changed[s['index']]}/{span[1] - span[0] + 1}" if span else ""
        table.add_row(
            str(s["index"]),
            s["name"],
            s["kind"],
            f"[{_COLOUR[s['status']]}]{s['status']}[/]",
            seconds(s.get("seconds")) if s["status"] == "done" else "",
            str(s.get("lines", "")),
            passes,
            _notes(s).replace("[", "\\["),
        )
    return table


def _notes(stage: dict[str, Any]) -> str:
    if stage["status"] in ("skipped", "failed"):
        return f"because {stage.get('reason', '?')}" if stage["status"] == "skipped" else stage.get("reason", "")
    if stage.get("taken_from"):
        return f"taken from {stage['taken_from']}"
    facts = {
        k: v for k, v in stage.get("facts", {}).items() if isinstance(v, str | int | float) and k != "seconds_per_run"
    }
    shown = [
        f"{k.replace('_', ' ')} {v:.4g}" if isinstance(v, float) else f"{k.replace('_', ' ')} {v}"
        for k, v in facts.items()
    ]
    if stage.get("elided"):
        shown.append("constants elided")
    return ", ".join(shown)


def error_text(error: float | None) -> str:
    """`2.20e-07`, or `infinite` for a result that cannot be measured (a shape, a NaN)."""
    return "infinite" if error is None else f"{error:.2e}"


def verdict_lines(trace: Trace) -> list[str]:
    """What was executed, how far it is from the reference, and how long a run took."""
    lines: list[str] = []
    for verdict in trace.manifest["verdicts"]:
        if not verdict["outputs"]:
            lines.append(f"{verdict['stage']:<7} ran; the model has no output to compare")
            continue
        worst = max(verdict["outputs"], key=lambda v: (not v["ok"], v["error"] is None, v["error"] or 0.0))
        judged = "matches float64" if verdict["ok"] else "DIFFERS from float64"
        line = f"{verdict['stage']:<7} {judged}: largest error {error_text(worst['error'])}"
        line += f" ('{worst['output']}', limit {worst['tolerance']:.0e})"
        if verdict.get("seconds_per_run") is not None:
            line += f"; {seconds(verdict['seconds_per_run'])} a run"
            line += f" ({verdict['threads']} thread(s), {verdict['runs']} timed)"
        lines.append(line)
    return lines
