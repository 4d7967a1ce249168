"""The manifest as a fold over the events: `apply(manifest, event)` is the only thing that changes it."""

import json
from pathlib import Path
from typing import Any

from workbench.core.trace.layout import EVENTS, FORMAT, VERSION

Manifest = dict[str, Any]


def new_manifest() -> Manifest:
    """The manifest before any event."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "status": "empty",
        "error": None,
        "stages": [],
        "passes": 0,
        "verdicts": [],
        "notes": [],
    }


def apply(manifest: Manifest, event: dict[str, Any]) -> None:
    """Change `manifest` by one event. Events of unknown type are ignored."""
    kind = event.get("event")
    body = {k: v for k, v in event.items() if k not in ("event", "t", "index")}
    match kind:
        case "run-started":
            manifest.update(body)
            manifest["status"] = "running"
            manifest["started"] = event["t"]
        case "stage-started":
            manifest["stages"][event["index"]].update(status="running", **body)
        case "stage-done" | "stage-skipped" | "stage-failed":
            status = str(kind).removeprefix("stage-")
            manifest["stages"][event["index"]].update(status=status, **body)
        case "pass-started":
            manifest["running_pass"] = body
        case "pass-done":
            manifest["passes"] = max(manifest["passes"], body["seq"])
            manifest.pop("running_pass", None)
        case "verdict":
            manifest["verdicts"].append(body)
        case "note":
            manifest["notes"].append(body["text"])
        case "run-ended":
            manifest.update(body)
            manifest["ended"] = event["t"]
        case _:
            pass


def replay(root: Path) -> tuple[Manifest, list[str]]:
    """Rebuild the manifest from events.ndjson; also the problems met (a half-written last line, a foreign line)."""
    manifest = new_manifest()
    problems: list[str] = []
    with (root / EVENTS).open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            try:
                apply(manifest, json.loads(line))
            except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
                problems.append(f"{EVENTS}:{number}: not an event ({type(error).__name__})")
    return manifest, problems
