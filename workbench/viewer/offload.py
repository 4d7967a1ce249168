"""What a trace says of an accelerator: totals, what stayed on the host, and the same by dataflow."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.core.errors import UsageError
from workbench.core.offload import REGIONS, Figures, Offload
from workbench.core.trace import Trace


@dataclass(frozen=True)
class Left:
    """Operations that stayed on the host for one reason: how many, of which nodes, and their multiply-accumulates."""

    op: str
    reason: str
    count: int
    nodes: tuple[str, ...]
    macs: int


def read_offload(trace: Trace) -> Offload:
    """The trace's `regions.json`. Raises UsageError where there is none, or a damaged one."""
    named = [c for s in trace.stages for c in s.get("companions", ()) if Path(c).name.endswith(f"-{REGIONS}")]
    if not named:
        raise UsageError(
            f"{trace.root.name} has no {REGIONS}: it was not lowered for an accelerator; "
            "use lower MODEL --via byoc or --via npu"
        )
    path = trace.root / named[-1]
    try:
        return Offload.from_json(path.read_text())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be read ({type(error).__name__}: {error})") from None


def own(offload: Offload) -> str:
    """The dataflow that ran."""
    return str(offload.machine["dataflow"])


def totals(offload: Offload) -> dict[str, Figures]:
    """All regions one after another, under each dataflow that every region has figures for."""
    names = dict.fromkeys(name for r in offload.regions for name in r.figures)
    elements = int(offload.machine["rows"]) * int(offload.machine["columns"])
    macs = sum(r.macs for r in offload.regions)
    return {
        name: _sum((r.figures[name] for r in offload.regions), macs, elements)
        for name in names
        if all(name in r.figures for r in offload.regions)
    }


def _sum(each: Iterable[Figures], macs: int, elements: int) -> Figures:
    rows = [asdict(f) for f in each]
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in rows[0]}
    return Figures(**total | {"utilisation": macs / (elements * total["cycles"])})


def left_by_reason(offload: Offload) -> list[Left]:
    """Operations of the same kind and reason together, those with the most multiply-accumulates first."""
    groups: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for row in offload.left:
        groups.setdefault((row.op, row.reason), []).append((row.node, row.macs))
    found = [
        Left(op, reason, len(rows), tuple(dict.fromkeys(node for node, _ in rows)), sum(macs for _, macs in rows))
        for (op, reason), rows in groups.items()
    ]
    return sorted(found, key=lambda row: -row.macs)


def summary(offload: Offload) -> Mapping[str, Any]:
    """Everything that the report shows, JSON-ready."""
    there, here = sum(r.macs for r in offload.regions), sum(row.macs for row in offload.left)
    return {
        "share_of_macs": offload.share,
        "macs": {"accelerator": there, "host": here},
        "dataflow": own(offload),
        "totals": {name: asdict(figures) for name, figures in totals(offload).items()},
        **json.loads(offload.to_json()),
    }
