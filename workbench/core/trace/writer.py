"""Writes a trace as things happen."""

import contextlib
import json
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.core.errors import UsageError
from workbench.core.trace.layout import EVENTS, MANIFEST, write_json
from workbench.core.trace.state import Manifest, apply, new_manifest, replay


class TraceWriter:
    """Appends events to one trace and keeps its manifest current.

    One process writes at a time; a later process continues with `TraceWriter.resume`.
    """

    def __init__(self, root: Path, manifest: Manifest) -> None:
        self.root = root
        self.manifest = manifest
        self._log = (root / EVENTS).open("a", encoding="utf-8")

    @staticmethod
    def create(runs: Path, model: str, route: str) -> "TraceWriter":
        """Make `<runs>/<model>-<route>-<time>-<id6>/`; never an existing one. Raises UsageError if not writable."""
        clean = re.sub(r"[^A-Za-z0-9._-]+", "_", model).strip("._") or "model"
        name = f"{clean[:60]}-{route}-{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(3)}"
        root = runs / name
        try:
            runs.mkdir(parents=True, exist_ok=True)
            root.mkdir()
            for part in ("stages", "passes", "consts", "numerics", "repro"):
                (root / part).mkdir()
            return TraceWriter(root, new_manifest())
        except OSError as error:
            raise UsageError(
                f"cannot write a trace under {runs}: {error.strerror}; give a writable folder with --runs"
            ) from None

    @staticmethod
    def resume(root: Path) -> "TraceWriter":
        """Continue a trace that another process wrote. A half-written last event is ended with a newline first."""
        log = root / EVENTS
        with log.open("rb+") as f:
            if f.seek(0, 2) and (f.seek(-1, 2), f.read(1))[1] != b"\n":
                f.write(b"\n")
        return TraceWriter(root, replay(root)[0])

    def event(self, kind: str, **body: Any) -> None:
        """Append one event and apply it to the manifest in memory."""
        record = {"t": round(time.time(), 6), "event": kind, **body}
        self._log.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._log.flush()
        apply(self.manifest, record)

    def save(self) -> None:
        """Write manifest.json atomically."""
        write_json(self.root / MANIFEST, self.manifest)

    def start_run(self, stages: list[dict[str, Any]], about: Mapping[str, Any]) -> None:
        """Record what will run: `stages` as planned, and facts about the run (model, route, command, target)."""
        planned = [{"index": i, "status": "planned", **s} for i, s in enumerate(stages)]
        self.event("run-started", stages=planned, **about)
        self.save()

    def end_run(self, status: str, error: Mapping[str, Any] | None = None) -> None:
        """Close the run as done, failed, crashed or interrupted; a stage still running takes that status."""
        for stage in self.manifest["stages"]:
            if stage["status"] == "running":
                self.event("stage-failed", index=stage["index"], reason=(error or {}).get("message", status))
        self.event("run-ended", status=status, error=dict(error) if error else None)
        self.save()

    def close(self) -> None:
        """Close the event log."""
        self._log.close()

    def __enter__(self) -> "TraceWriter":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.save()
        self.close()
