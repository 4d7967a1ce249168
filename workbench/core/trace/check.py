"""Checks a trace against the format."""

import json
from importlib import resources
from typing import Any

from workbench.core.errors import UsageError
from workbench.core.trace.reader import Trace


def load_schema(name: str) -> dict[str, Any]:
    """A JSON Schema shipped in the package, such as "manifest"."""
    return json.loads(resources.files("workbench").joinpath("schemas", f"{name}.schema.json").read_text())


def damage(trace: Trace) -> list[str]:
    """Everything in a trace that is not as the format says: one line each, empty for a whole trace."""
    import jsonschema  # a tenth of the command line's start, and only `trace check` needs it

    out: list[str] = []
    for error in jsonschema.Draft202012Validator(load_schema("manifest")).iter_errors(trace.manifest):
        out.append(f"manifest.json: {'/'.join(str(p) for p in error.absolute_path) or 'top'}: {error.message[:200]}")
    blobs: set[str] = set()
    for stage in trace.stages:
        for file in (stage.get("file"), *stage.get("companions", ())):
            if file and not (trace.root / file).is_file():
                out.append(f"{file} is missing")
        blobs |= {b for b in (stage.get("located"), stage.get("signature")) if b}
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
            trace.blob(blob)
        except UsageError as error:
            out.append(str(error))
    return out
