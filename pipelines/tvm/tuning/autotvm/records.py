"""AutoTVM's log: one record of JSON a line, `input` the target and the task, `config` the knobs, `result` the costs."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from pipelines.tvm.bindings import load
from pipelines.tvm.tuning.logs import ERROR_KINDS, Record, read_lines


def key_of(workload: Sequence[Any]) -> str:
    """A task's key: the template's name and its arguments as JSON."""
    return json.dumps(workload)


def parse_record(line: str) -> Record:
    """Read a line of the log; raises ValueError for anything else."""
    try:
        row = json.loads(line)
        target, name, arguments, _ = row["input"]
        costs, error = [float(c) for c in row["result"][0]], int(row["result"][1])
        key = key_of([name, *arguments])
        assert row["config"]["index"] >= 0
        return Record(key, str(target), None if error else fmean(costs), ERROR_KINDS.get(error, ""), line)
    except (AssertionError, LookupError, TypeError, AttributeError, json.JSONDecodeError) as bad:
        raise ValueError(str(bad)) from None


def read_log(log: Path) -> list[Record]:
    """All records of a log. Raises UsageError for an empty file or one that is not AutoTVM's."""
    return read_lines(log, parse_record, "AutoTVM's")


def read_records(lines: Iterable[str]) -> list[tuple[Any, Any]]:
    """TVM's inputs and results of lines."""
    decode = load("autotvm.record").decode
    return [decode(line) for line in lines]
