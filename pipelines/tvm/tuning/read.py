"""Schedules from the files that `workbench tune` leaves."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipelines.tvm.tuning.schedules import DefaultSchedules, Schedules
from workbench.core.errors import UsageError


def read_schedules(path: Path) -> Schedules:
    """Schedules of a file; raises UsageError when it is not one."""
    try:
        return schedules_of(json.loads(path.read_text()))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path}: not schedules that `workbench tune` chose ({error})") from None


def schedules_of(data: Mapping[str, Any]) -> Schedules:
    """What `Schedules.to_json` wrote."""
    match data["tuner"]:
        case "":
            return DefaultSchedules()
        case "ansor":
            from pipelines.tvm.tuning.ansor.build import AnsorSchedules
            from pipelines.tvm.tuning.ansor.variants import Variant

            return AnsorSchedules(tuple(data["records"]), {k: Variant(v) for k, v in data["variants"].items()})
        case "autotvm":
            from pipelines.tvm.tuning.autotvm.build import AutoTvmSchedules

            return AutoTvmSchedules(tuple(data["records"]))
        case "metaschedule":
            from pipelines.tvm.tuning.ansor.variants import Variant
            from pipelines.tvm.tuning.metaschedule.build import MetaSchedules

            variants = {k: Variant(v) for k, v in data["variants"].items()}
            return MetaSchedules(tuple(data["workloads"]), tuple(data["records"]), variants)
        case other:
            raise UsageError(f"no tuner '{other}'")
