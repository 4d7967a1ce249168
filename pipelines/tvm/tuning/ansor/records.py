"""Ansor's log: one record of JSON a line, `i` the task and its steps, `r` costs, error, seconds and time."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from pipelines.tvm.bindings import load
from workbench.core.errors import UsageError

ERROR_KINDS = dict(enumerate(("compile", "compile", "compile", "launch", "wrong", "timeout", "timeout", "launch"), 1))
"""TVM's MeasureErrorNo in the words of the report."""


@dataclass(frozen=True)
class Record:
    """One measured candidate: `seconds` a run, None when it failed with `error`."""

    key: str
    target: str
    seconds: float | None
    error: str
    line: str


def parse_record(line: str) -> Record:
    """Read a line of the log; raises ValueError for anything else."""
    try:
        row = json.loads(line)
        task, result = row["i"][0], row["r"]
        costs, error = [float(c) for c in result[0]], int(result[1])
        return Record(task[0], str(task[1]), None if error else fmean(costs), ERROR_KINDS.get(error, ""), line)
    except (KeyError, IndexError, TypeError, AttributeError, json.JSONDecodeError) as bad:
        raise ValueError(str(bad)) from None


def repair(log: Path) -> bool:
    """Cut off a last line that was not written to its end; True when there was one."""
    data = log.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole == data:
        return False
    log.write_bytes(whole)
    return True


def read_log(log: Path) -> list[Record]:
    """All records of a log. Raises UsageError for an empty file or one that is not Ansor's."""
    try:
        lines = log.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{log}: cannot be read ({error})") from None
    records: list[Record] = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(parse_record(line))
        except ValueError:
            raise UsageError(f"{log}, line {number}: not a record of Ansor's") from None
    if not records:
        raise UsageError(f"{log}: has no records")
    return records


def best_lines(records: Iterable[Record]) -> dict[str, Record]:
    """The fastest valid record of each task, by workload key."""
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


def read_records(lines: Iterable[str]) -> list[tuple[Any, Any]]:
    """TVM's inputs and results of lines."""
    reader = load("_ffi").get_global_func("auto_scheduler.ReadMeasureRecord")
    return [tuple(reader(line)) for line in lines]
