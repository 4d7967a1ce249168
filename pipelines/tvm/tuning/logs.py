"""What the logs of all tuners have in common: a record of JSON a line, of one task and one target each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.tvm.bindings import load
from workbench.core.errors import UsageError

ERROR_KINDS = dict(enumerate(("compile", "compile", "compile", "launch", "wrong", "timeout", "timeout", "launch"), 1))
"""TVM's MeasureErrorNo, which Ansor and AutoTVM share, in the words of the report."""


@dataclass(frozen=True)
class Record:
    """One measured candidate: `seconds` a run, None when it failed with `error`."""

    key: str
    target: str
    seconds: float | None
    error: str
    line: str


def repair(log: Path) -> bool:
    """Cut off a last line that was not written to its end; True when there was one."""
    data = log.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole == data:
        return False
    log.write_bytes(whole)
    return True


def whole_lines(file: Path) -> list[str]:
    """The lines of a file that were written to their end."""
    text = file.read_text()
    return text[: text.rfind("\n") + 1].splitlines()


def read_lines(log: Path, parse: Callable[[str], Record], whose: str) -> list[Record]:
    """All records of a log. Raises UsageError for a file without any, or with a line that `parse` refuses."""
    try:
        lines = whole_lines(log)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{log}: cannot be read ({error})") from None
    records: list[Record] = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(parse(line))
        except ValueError:
            raise UsageError(f"{log}, line {number}: not a record of {whose}") from None
    if not records:
        raise UsageError(f"{log}: has no records")
    return records


def best_lines(records: Iterable[Record]) -> dict[str, Record]:
    """The fastest valid record of each task, by its key."""
    best: dict[str, Record] = {}
    for record in records:
        known = best.get(record.key)
        if record.seconds is not None and (known is None or record.seconds < (known.seconds or 0.0)):
            best[record.key] = record
    return best


def check_target(target: Any, of: str, where: str) -> None:
    """Raise UsageError when `of`, a record's target, is another than `target`, but for keys: strategies add those."""
    if _without_keys(of) != _without_keys(str(target)):
        raise UsageError(f"{where}: measured for '{of}', not for '{target}'; give that --target and --threads, or tune")


@cache
def _without_keys(target: str) -> tuple[str, ...]:
    words = str(load().target.Target(target)).split()
    return tuple(sorted(w for w in words if not w.startswith("-keys=")))
