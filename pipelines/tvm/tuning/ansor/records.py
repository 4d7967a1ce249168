"""Ansor's log: one record of JSON a line, `i` the task and its steps, `r` costs, error, seconds and time."""

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

from pipelines.tvm.bindings import load
from pipelines.tvm.tuning.logs import ERROR_KINDS, Record, read_lines


def parse_record(line: str) -> Record:
    """Read a line of the log; raises ValueError for anything else."""
    try:
        row = json.loads(line)
        task, result = row["i"][0], row["r"]
        costs, error = [float(c) for c in result[0]], int(result[1])
        return Record(task[0], str(task[1]), None if error else fmean(costs), ERROR_KINDS.get(error, ""), line)
    except (KeyError, IndexError, TypeError, AttributeError, json.JSONDecodeError) as bad:
        raise ValueError(str(bad)) from None


def read_log(log: Path) -> list[Record]:
    """All records of a log. Raises UsageError for an empty file or one that is not Ansor's."""
    return read_lines(log, parse_record, "Ansor's")


def read_records(lines: Iterable[str]) -> list[tuple[Any, Any]]:
    """TVM's inputs and results of lines."""
    reader = load("_ffi").get_global_func("auto_scheduler.ReadMeasureRecord")
    return [tuple(reader(line)) for line in lines]
