"""MetaSchedule's database: a log of records, `[workload, [trace, seconds, target, arguments]]` a line, and beside it
the table of workloads that they count, `[hash, module]` a line."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pipelines.tvm.bindings import load
from pipelines.tvm.tuning.logs import Record, read_lines, repair, whole_lines
from workbench.core.errors import UsageError

FAILED_SECONDS = 1e9
"""TVM writes 1e10 for a candidate that did not run; why it did not is not kept."""


@dataclass(frozen=True)
class Line:
    """One record: `workload` is the line of the other file that it is of, `seconds` those of a run."""

    workload: int
    seconds: float
    target: Mapping[str, Any]


def workloads_of(log: Path) -> Path:
    """The table of workloads beside a log."""
    return log.with_name(log.name.removesuffix(".json") + ".workloads.json")


def parse_line(line: str) -> Line:
    """Read a line of the log; raises ValueError for anything else."""
    try:
        workload, (_, seconds, target, _) = json.loads(line)
        return Line(int(workload), fmean(float(s) for s in seconds), dict(target))
    except (TypeError, AttributeError, json.JSONDecodeError) as bad:
        raise ValueError(str(bad)) from None


def target_text(line: Line) -> str:
    """A record's target in TVM's own words."""
    return str(load().target.Target(dict(line.target)))


def read_log(log: Path) -> list[Record]:
    """All records of a log, by the hash of their workload.

    Raises UsageError for an empty file, one that is not MetaSchedule's, or one without its table of workloads.
    """
    table = workload_lines(log)

    def parse(text: str) -> Record:
        line = parse_line(text)
        failed = line.seconds >= FAILED_SECONDS
        key = json.loads(table[line.workload])[0] if line.workload < len(table) else ""
        if not key:
            raise ValueError("a workload that the table does not have")
        return Record(key, target_text(line), None if failed else line.seconds, "failed" if failed else "", text)

    return read_lines(log, parse, "MetaSchedule's")


def workload_lines(log: Path) -> list[str]:
    """The lines of the table beside a log."""
    table = workloads_of(log)
    try:
        lines = whole_lines(table)
        assert all(isinstance(json.loads(line)[0], str) for line in lines)
    except (OSError, UnicodeDecodeError, AssertionError, LookupError, TypeError, json.JSONDecodeError):
        raise UsageError(f"{table}: not the table of workloads that MetaSchedule's log needs beside it") from None
    return lines


def repair_both(log: Path) -> None:
    """Cut off last lines that were not written to their end."""
    for file in (workloads_of(log), log):
        if file.exists():
            repair(file)


def open_database(ms: Any, log: Path) -> Any:
    """TVM's database of a log and its table, which are made when they are missing; `ms` is TVM's package."""
    return ms.database.JSONDatabase(path_workload=str(workloads_of(log)), path_tuning_record=str(log))


def scratch_database(ms: Any, workloads: Sequence[str], records: Sequence[str]) -> Any:
    """TVM's database, in memory, of lines of the table and of the log."""
    memory = ms.database.MemoryDatabase()
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        log = Path(folder) / "records.json"
        log.write_text("".join(f"{line}\n" for line in records))
        workloads_of(log).write_text("".join(f"{line}\n" for line in workloads))
        for record in open_database(ms, log).get_all_tuning_records():
            memory.commit_workload(record.workload.mod)
            memory.commit_tuning_record(record)
    return memory
