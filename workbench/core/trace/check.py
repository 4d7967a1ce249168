"""Checks a trace against the format."""

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

from workbench.core.arrays import read_npz
from workbench.core.errors import UsageError
from workbench.core.tensors import Signature
from workbench.core.trace.layout import EVENTS
from workbench.core.trace.reader import Trace


def load_schema(name: str) -> dict[str, Any]:
    """A JSON Schema shipped in the package, such as "manifest"."""
    return json.loads(resources.files("workbench").joinpath("schemas", f"{name}.schema.json").read_text())


def damage(trace: Trace) -> list[str]:
    """Everything in a trace that is not as the format says: one line each, empty for a whole trace."""
    import jsonschema  # a tenth of the command line's start, and only `trace check` needs it

    out: list[str] = [] if (trace.root / EVENTS).is_file() else [f"{EVENTS} is missing"]
    for error in jsonschema.Draft202012Validator(load_schema("manifest")).iter_errors(trace.manifest):
        out.append(f"manifest.json: {'/'.join(str(p) for p in error.absolute_path) or 'top'}: {error.message[:200]}")
    blobs: set[str] = set()
    for stage in trace.stages:
        for file in (stage.get("file"), *stage.get("companions", ())):
            if file and not (trace.root / file).is_file():
                out.append(f"{file} is missing")
        if stage.get("file") and (trace.root / stage["file"]).is_file():
            out += _stage_damage(trace, stage)
        blobs |= {b for b in (stage.get("located"), stage.get("signature")) if b}
    for name in ("inputs", "reference"):
        path = trace.root / "numerics" / f"{name}.npz"
        if trace.manifest["verdicts"] or path.exists():
            out += _unreadable_npz(path)
    seqs: list[int] = []
    for record in trace.passes():
        seqs.append(record["seq"])
        blobs |= {b for b in (record.get("in_blob"), record.get("out_blob")) if b}
    expected = list(range(1, trace.manifest["passes"] + 1))
    if seqs != expected:
        gaps = sorted(set(expected) - set(seqs))
        twice = sorted({s for s in seqs if seqs.count(s) > 1})
        out.append(f"passes/: missing numbers {gaps}, numbers used twice {twice}")
    for blob in sorted(blobs):
        try:
            if hashlib.sha256(trace.blob(blob).encode()).hexdigest() != blob:
                out.append(f"blob {blob[:12]} holds other text than its name says")
        except UsageError as error:
            out.append(str(error))
    return out


def _stage_damage(trace: Trace, stage: dict[str, Any]) -> list[str]:
    """What is wrong with a stage's text, its signature and the weights that names."""
    try:
        text = trace.text(stage)
        if hashlib.sha256(text.encode()).hexdigest() != stage["sha256"]:
            return [f"{stage['file']} is not as it was written (edited, or damaged)"]
        signature = Signature.from_json(json.loads(trace.blob(stage["signature"]))) if stage.get("signature") else None
    except (UsageError, ValueError, KeyError) as error:
        return [str(error)]
    weights = {c.sha256 for c in signature.constants} if signature else set[str]()
    return [f"consts/{w}.npy is missing" for w in sorted(weights) if not (trace.root / "consts" / f"{w}.npy").is_file()]


def _unreadable_npz(path: Path) -> list[str]:
    try:
        read_npz(path)
    except UsageError as error:
        return [str(error)]
    return []
