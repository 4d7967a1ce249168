"""A picture of a search: how the projected time fell over the trials, and what the cost model had said."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.core.errors import ToolMissing
from workbench.core.tuning import TaskRow


def projected(rows: Sequence[TaskRow], history: Sequence[tuple[str, float | None]]) -> list[float]:
    """Milliseconds of all tasks together after each trial, each at the better of default and best so far."""
    now = {row.key: row.default_ms for row in rows}
    calls = {row.key: row.calls for row in rows}
    curve: list[float] = [sum(now.values())]
    for key, ms in history:
        if key in now and ms is not None:
            now[key] = min(now[key], ms * calls[key])
        curve.append(sum(now.values()))
    return curve


def relative_speeds(predictions: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """(rank of the score, measured speed relative to the task's best) of each predicted candidate, both 0 to 1."""
    points: list[tuple[float, float]] = []
    for key in {p["key"] for p in predictions}:
        of_task = sorted((p for p in predictions if p["key"] == key), key=lambda p: p["score"])
        best = min(p["seconds"] for p in of_task)
        last = max(len(of_task) - 1, 1)
        points += [(rank / last, best / p["seconds"]) for rank, p in enumerate(of_task)]
    return points


def write_curve(path: Path, meta: Mapping[str, Any]) -> None:
    """Draw `X.meta.json` of `workbench tune` as SVG. Raises ToolMissing without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ToolMissing("a plot needs matplotlib; run: pip install -e '.[plot]' (in the checkout)") from None
    rows = [TaskRow.from_json(row) for row in meta["rows"]]
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(projected(rows, meta["history"]))
    left.set(title=f"{meta['model']} by {meta['tuner']}", xlabel="trials", ylabel="tasks' time, better of both (ms)")
    points = relative_speeds(meta["search"].get("predictions", ()))
    right.scatter([p[0] for p in points], [p[1] for p in points], s=6)
    correlation = meta["search"].get("rank_correlation")
    said = "" if correlation is None else f" (rank correlation {correlation:.2f})"
    right.set(title=f"predicted and measured{said}", xlabel="predicted rank in its task", ylabel="speed / task's best")
    figure.savefig(path, format="svg", metadata={"Date": None})
