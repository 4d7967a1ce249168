"""Takes stages over from an earlier trace, for runs that go on from one."""

import contextlib
import os
import shutil
from pathlib import Path

from workbench.core.errors import UsageError
from workbench.core.pipeline import Pipeline, kinds_between
from workbench.core.trace.layout import put_blob, write_stage
from workbench.core.trace.reader import Trace
from workbench.core.trace.writer import TraceWriter

_TAKEN = ("sha256", "bytes", "lines", "elided", "facts", "companions", "located", "signature", "ops")


def carry_over(source: Trace, writer: TraceWriter, pipeline: Pipeline, start: int) -> None:
    """Copy into the new trace what stages from `start` on need of `source`; mark the stages before as taken over.

    Raises UsageError when `source` lacks a needed stage or elides its constants.
    """
    taken: set[int] = set()
    by_name = {s["name"]: s for s in source.stages}
    for kind in kinds_between(pipeline, start, len(pipeline.stages)):
        made = [i for i, s in enumerate(pipeline.stages[:start]) if s.produces == kind]
        done = [i for i in made if by_name.get(pipeline.stages[i].name, {}).get("status") == "done"]
        if not done and start - 1 in made:
            source.text(source.stage(pipeline.stages[start - 1].name))
        if done:
            taken.add(done[-1])
    for i, stage in enumerate(pipeline.stages[:start]):
        record = by_name.get(stage.name)
        if i not in taken or record is None:
            writer.event("stage-skipped", index=i, reason=f"the run starts at a stage of {source.root.name}")
            continue
        artefact = source.artefact(record)
        file = write_stage(writer.root, record["file"].removesuffix(".gz"), artefact.text)
        for companion in record.get("companions", ()):
            shutil.copyfile(source.root / companion, writer.root / companion)
        for digest in (record.get("located"), record.get("signature")):
            if digest:
                put_blob(writer.root, source.blob(digest))
        body = {k: record[k] for k in _TAKEN if k in record}
        if artefact.digest() != record["sha256"]:
            body |= {"sha256": artefact.digest(), "located": None}
        writer.event("stage-done", index=i, file=file, seconds=None, taken_from=source.root.name, **body)
    for path in (source.root / "consts").glob("*.npy"):
        _share(path, writer.root / "consts" / path.name)
    for name in ("inputs.npz", "reference.npz"):
        if not (source.root / "numerics" / name).exists():
            raise UsageError(f"{source.root.name} has no numerics/{name}: it stopped before the reference was made")
        shutil.copyfile(source.root / "numerics" / name, writer.root / "numerics" / name)


def _share(source: Path, target: Path) -> None:
    with contextlib.suppress(OSError):
        os.link(source, target)
        return
    shutil.copyfile(source, target)
