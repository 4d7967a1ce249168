"""Reads traces, whole or damaged. Never needs a compiler."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.kinds import IRKind
from workbench.core.tensors import Signature
from workbench.core.trace.layout import EVENTS, FORMAT, MANIFEST, VERSION, get_blob, read_stage
from workbench.core.trace.state import Manifest, replay

_STAGE_FIELDS = {"index", "name", "kind", "status"}
_PASS_FIELDS = {"seq", "stage", "stage_name", "name", "changed", "seconds", "ops", "error"}


def _refuse_newer(root: Path, manifest: Any) -> None:
    """Raises UsageError for a manifest of another major version, whatever else it holds."""
    if isinstance(manifest, dict) and manifest.get("format") == FORMAT:
        version = str(manifest.get("version", ""))
        if version.partition(".")[0] != VERSION.partition(".")[0]:
            raise UsageError(f"{root} has trace format {version or '?'}; this workbench reads {VERSION}: update it")


def _require_manifest(manifest: Any) -> None:
    """Raises ValueError unless everything that readers rely on is there."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError("not a trace manifest")
    stages = manifest.get("stages")
    if not isinstance(stages, list) or not all(isinstance(s, dict) and s.keys() >= _STAGE_FIELDS for s in stages):
        raise ValueError("its stages are not whole")
    if not isinstance(manifest.get("verdicts"), list) or not isinstance(manifest.get("passes"), int):
        raise ValueError("its verdicts or passes are missing")


@dataclass(frozen=True)
class Trace:
    """A trace opened for reading. `problems` lists what is damaged; everything else is usable."""

    root: Path
    manifest: Manifest
    problems: tuple[str, ...] = ()

    @staticmethod
    def open(root: Path) -> "Trace":
        """Open a trace folder. A missing or damaged manifest is rebuilt from the events.

        Raises UsageError for a folder that is no trace, or one of a newer major version.
        """
        problems: list[str] = []
        manifest: Manifest | None = None
        try:
            manifest = json.loads((root / MANIFEST).read_text())
            _refuse_newer(root, manifest)
            _require_manifest(manifest)
        except FileNotFoundError:
            problems.append(f"{MANIFEST} is missing; rebuilt from {EVENTS}")
        except (OSError, ValueError) as error:
            problems.append(f"{MANIFEST} is damaged ({error}); rebuilt from {EVENTS}")
            manifest = None
        if manifest is None:
            try:
                manifest, more = replay(root)
            except OSError:
                raise UsageError(f"{root} is not a trace: it has no readable {MANIFEST} or {EVENTS}") from None
            problems += more
        return Trace(root, manifest, tuple(problems))

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Stage records in order."""
        return self.manifest["stages"]

    def stage(self, key: str) -> dict[str, Any]:
        """A stage by name or number; raises UsageError listing the stages."""
        for record in self.stages:
            if key == record["name"] or (key.isdecimal() and int(key) == record["index"]):
                return record
        raise UsageError(f"{self.root.name} has no stage '{key}'; it has: {', '.join(s['name'] for s in self.stages)}")

    def text(self, stage: dict[str, Any]) -> str:
        """Text of a stage as it lies in stages/; raises UsageError when the stage made none."""
        if not stage.get("file"):
            why = stage.get("reason") or stage["status"]
            raise UsageError(f"stage '{stage['name']}' of {self.root.name} has no IR: {stage['status']} ({why})")
        try:
            return read_stage(self.root, stage["file"])
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise UsageError(f"{self.root / stage['file']} cannot be read: {error}") from None

    def artefact(self, stage: dict[str, Any]) -> Artefact:
        """A stage's output, ready to go on from.

        The located text is used while the stage's file is unchanged; an edited file is taken as it is. Raises
        UsageError for a stage whose text lacks its constants.
        """
        if stage.get("elided"):
            raise UsageError(
                f"stage '{stage['name']}' elides constants: it can be read, not replayed; start at a later one"
            )
        out = Artefact(IRKind(stage["kind"]), self.text(stage))
        signature = None
        if stage.get("signature"):
            signature = Signature.from_json(json.loads(self.blob(stage["signature"])))
        located = None
        if stage.get("located") and out.digest() == stage["sha256"]:
            located = self.blob(stage["located"])
        blobs = {Path(c).name.partition("-")[2]: (self.root / c).read_bytes() for c in stage.get("companions", ())}
        return Artefact(out.kind, out.text, signature, located=located, facts=stage.get("facts", {}), blobs=blobs)

    def blob(self, digest: str) -> str:
        """Text of a blob; raises UsageError naming a missing or damaged one."""
        try:
            return get_blob(self.root, digest)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise UsageError(f"{self.root.name}: blob {digest[:12]} cannot be read ({type(error).__name__})") from None

    def passes(self) -> list[dict[str, Any]]:
        """Pass records in the order they ran; damaged ones are left out."""
        out: list[dict[str, Any]] = []
        for path in sorted((self.root / "passes").glob("*.json")):
            try:
                record = json.loads(path.read_text())
                if isinstance(record, dict) and record.keys() >= _PASS_FIELDS:
                    out.append(record)
            except (OSError, ValueError):
                continue
        return sorted(out, key=lambda r: r["seq"])


def list_traces(runs: Path) -> list[Trace]:
    """Every readable trace under `runs`, oldest first."""
    out: list[Trace] = []
    for path in runs.iterdir() if runs.is_dir() else ():
        if not path.name.startswith(".") and path.is_dir():
            try:
                out.append(Trace.open(path))
            except UsageError:
                continue
    return sorted(out, key=lambda t: (t.manifest.get("started", 0), t.root.name))


def find_trace(runs: Path, key: str) -> Trace:
    """A trace by path, by name, by a unique part of its name, or "last"; raises UsageError."""
    for path in (Path(key), runs / key):
        if path.is_dir() and ((path / MANIFEST).exists() or (path / EVENTS).exists()):
            return Trace.open(path)
    found = list_traces(runs)
    if key == "last" and found:
        return found[-1]
    match = [t for t in found if key in t.root.name]
    if len(match) == 1:
        return match[0]
    if match:
        raise UsageError(f"'{key}' names {len(match)} traces: {', '.join(t.root.name for t in match[:4])} ...")
    raise UsageError(f"no trace '{key}' under {runs}; `workbench trace ls` lists them")
