"""What `workbench tune` shows: the tasks, the search as it goes, and what came of it."""

from typing import Any

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from workbench.cli.console import err
from workbench.core.tuning import TaskRow
from workbench.tune import Tuned

Message = dict[str, Any]


class TuneView:
    """The live picture of a search: tell it the messages of `tune`, and draw it.

    Where standard error is no terminal, one line a round is printed instead.
    """

    def __init__(self, trials: int) -> None:
        self.rows: dict[str, TaskRow] = {}
        self._trials = trials
        self._before = 0
        self._done = 0
        self._doing = "starting"
        self._best: dict[str, float] = {}
        self._errors: dict[str, int] = {}
        self._rate = 0.0

    def tell(self, message: Message) -> None:
        """Take in one message."""
        if "tasks" in message:
            self.rows = {row["key"]: TaskRow.from_json(row) for row in message["tasks"]}
            err.print(task_table(list(self.rows.values())))
        elif "checking" in message:
            self._doing = f"sampling {message['name']}"
        elif "searching" in message:
            self._doing = f"searching {self._name(message['searching'])}"
        elif "best_ms" in message:
            self._round(message)
        elif "crashed" in message:
            self._before, self._done = self._before + self._done, 0
            self._note(f"TVM died ({message['how']}) in the search of {self._name(message['crashed'])}; going on")
        elif "lost" in message:
            self._note(f"device {message['lost']} went away ({message['in_all']} so far); what ran on it runs again")
        elif message.get("stopped"):
            self._note(f"search stopped {message['stopped']}")
        elif "doing" in message:
            self._doing = message["doing"]
        elif message.get("status") == "running":
            self._doing = f"lowering: {message['name']}"

    def __rich__(self) -> RenderableType:
        bar = ProgressBar(total=self._trials, completed=self._before + self._done, width=30)
        line = Text(self._line())
        grid = Table.grid(padding=(0, 1))
        grid.add_row(bar, line)
        return Group(grid, self._tasks()) if self._best else grid

    def _round(self, message: Message) -> None:
        self._done, self._errors = message["trials"], message["errors"]
        self._best |= message["best_ms"]
        self._rate = message["trials"] / max(message["seconds"], 1e-9)
        if not err.is_terminal:
            err.print(self._line(), markup=False)

    def _line(self) -> str:
        done = self._before + self._done
        failed = ", ".join(f"{n} {kind}" for kind, n in self._errors.items()) or "none"
        if not done:
            return self._doing
        gain = self._gain()
        return (
            f"{done}/{self._trials} trials, {self._rate:.2f}/s, failed: {failed}, "
            f"projected {f'{gain:.2f}x' if gain else '–'} of the default's speed; {self._doing}"
        )

    def _gain(self) -> float | None:
        """Default time over projected time of the tasks' sum, the better of both for each task."""
        if not self.rows:
            return None
        before = sum(r.default_ms for r in self.rows.values())
        after = sum(min(self._best.get(k, float("inf")) * r.calls, r.default_ms) for k, r in self.rows.items())
        return before / after if after else None

    def _tasks(self) -> Table:
        table = _table(("task", "left"), ("default", "right"), ("best so far", "right"))
        for key, row in self.rows.items():
            if key in self._best:
                table.add_row(row.name, _ms(row.default_ms), _ms(self._best[key] * row.calls))
        return table

    def _name(self, key: str) -> str:
        return self.rows[key].name if key in self.rows else key

    def _note(self, text: str) -> None:
        err.print(text, markup=False)


def task_table(rows: list[TaskRow]) -> Table:
    """Tasks before the search: weights, work, and the share of the default build's time."""
    table = _table(
        ("task", "left"), ("calls", "right"), ("MFLOP", "right"), ("default", "right"), ("share", "right"), ("", "left")
    )
    for row in sorted(rows, key=lambda r: -r.share):
        cells = (row.name, str(row.calls), f"{row.flop / 1e6:.1f}", _ms(row.default_ms), f"{row.share:.1%}")
        table.add_row(*cells, f"left out: {row.reason}" if row.reason else "")
    return table


def outcome_tables(tuned: Tuned) -> list[RenderableType]:
    """What each task came to, and the whole builds beside each other."""
    table = _table(
        ("task", "left"),
        ("trials", "right"),
        ("ran", "right"),
        ("default", "right"),
        ("logged", "right"),
        ("in model", "right"),
        ("takes", "left"),
        ("because", "left"),
    )
    for row in sorted(tuned.choice.rows, key=lambda r: -r.default_ms):
        times = (_ms(row.default_ms), _ms(row.logged_ms), _ms(row.tuned_ms))
        table.add_row(row.name, str(row.candidates), str(row.valid), *times, row.chosen, row.reason)
    ms = tuned.choice.models_ms
    correlation, lost = tuned.facts.get("rank_correlation"), tuned.facts.get("lost")
    lines = [
        f"default {ms['default']:.2f} ms, chosen {ms['chosen']:.2f} ms a run: {ms['default'] / ms['chosen']:.2f}x "
        f"(medians, interleaved); largest error {tuned.choice.largest_error:.2e}",
        f"{tuned.facts['new_records']} new records, {tuned.facts['records']} in all; failed: "
        + (", ".join(f"{n} {kind}" for kind, n in tuned.facts["errors"].items()) or "none")
        + ("" if correlation is None else f"; rank correlation of predicted and measured {correlation:.2f}"),
        *([f"{lost} runs were lost with their device and run again"] if lost else []),
        *tuned.choice.notes,
    ]
    return [table, Text("\n".join(lines))]


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f} ms"


def _table(*columns: tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, justify in columns:
        table.add_column(name, justify=justify, no_wrap=name not in ("because", ""))  # type: ignore[arg-type]
    return table
