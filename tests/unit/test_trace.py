"""The trace on disk: written as it happens, rebuilt after damage, refused when newer."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from workbench.core.artefact import Artefact
from workbench.core.errors import UsageError
from workbench.core.kinds import IRKind
from workbench.core.tensors import ConstantSpec, Signature, TensorSpec
from workbench.core.trace import Trace, TraceWriter, find_trace, list_traces
from workbench.core.trace.check import damage
from workbench.core.trace.layout import blob_path, get_blob, get_constant, put_blob, put_constant

STAGES = [
    {"name": "fuse", "spec": "fuse", "kind": "linalg", "consumes": "linalg"},
    {"name": "loops", "spec": "loops", "kind": "loops", "consumes": "linalg"},
]


def started(runs: Path) -> TraceWriter:
    writer = TraceWriter.create(runs, "net", "mlir")
    writer.start_run(STAGES, {"model": "net", "route": "mlir"})
    return writer


def test_never_overwrites_another_run(tmp_path: Path) -> None:
    roots = {started(tmp_path).root for _ in range(5)}
    assert len(roots) == 5


def test_a_killed_run_opens_and_shows_how_far_it_got(tmp_path: Path) -> None:
    writer = started(tmp_path)
    writer.event("stage-started", index=0)
    writer.event("pass-started", seq=1, name="cse", pipeline="builtin.module(cse)", in_blob=None)
    with (writer.root / "events.ndjson").open("a") as f:
        f.write('{"t": 1, "event": "stage-do')
    (writer.root / "manifest.json").unlink()
    trace = Trace.open(writer.root)
    assert trace.manifest["status"] == "running"
    assert trace.stages[0]["status"] == "running"
    assert trace.manifest["running_pass"]["name"] == "cse"
    assert any("rebuilt" in p for p in trace.problems)
    assert any("events.ndjson:4" in p for p in trace.problems)


def test_resume_ends_a_half_written_line(tmp_path: Path) -> None:
    writer = started(tmp_path)
    writer.close()
    with (writer.root / "events.ndjson").open("a") as f:
        f.write('{"half')
    with TraceWriter.resume(writer.root) as again:
        again.event("stage-started", index=0)
        again.end_run("failed", {"kind": "CompileError", "message": "no", "exit_code": 1})
    trace = Trace.open(writer.root)
    assert trace.manifest["status"] == "failed"
    assert trace.stages[0] == trace.stages[0] | {"status": "failed", "reason": "no"}
    assert trace.stages[1]["status"] == "planned"


def test_manifest_equals_replayed_events(tmp_path: Path) -> None:
    writer = started(tmp_path)
    writer.event("stage-done", index=0, file="stages/00-fuse.mlir", seconds=0.1)
    writer.event("from the future", anything=1)
    writer.end_run("done")
    before = json.loads((writer.root / "manifest.json").read_text())
    (writer.root / "manifest.json").unlink()
    assert Trace.open(writer.root).manifest == before


@pytest.mark.parametrize(("version", "opens"), [("1.9", True), ("2.0", False), ("", False)])
def test_newer_major_versions_are_refused_by_name(tmp_path: Path, version: str, opens: bool) -> None:
    writer = started(tmp_path)
    manifest = writer.manifest | {"version": version, "unknown": True}
    (writer.root / "manifest.json").write_text(json.dumps(manifest))
    if opens:
        assert Trace.open(writer.root).manifest["unknown"]
    else:
        with pytest.raises(UsageError, match=r"reads 1\.0"):
            Trace.open(writer.root)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"format": "other"}'])
def test_a_damaged_manifest_is_rebuilt(tmp_path: Path, damage: bytes) -> None:
    writer = started(tmp_path)
    (writer.root / "manifest.json").write_bytes(damage)
    trace = Trace.open(writer.root)
    assert trace.stages[0]["name"] == "fuse"
    assert "damaged" in trace.problems[0]


@pytest.mark.parametrize("stages", [None, [{"index": 0}], "x"])
def test_a_manifest_without_its_stages_is_rebuilt(tmp_path: Path, stages: object) -> None:
    writer = started(tmp_path)
    (writer.root / "manifest.json").write_text(json.dumps(writer.manifest | {"stages": stages}))
    trace = Trace.open(writer.root)
    assert [s["name"] for s in trace.stages] == ["fuse", "loops"]
    assert "damaged" in trace.problems[0]


@pytest.mark.parametrize("content", ["{}", "[]", "{"])
def test_damaged_pass_records_are_left_out(tmp_path: Path, content: str) -> None:
    writer = started(tmp_path)
    writer.event("pass-done", seq=1, name="cse", stage=0, changed=False, error="")
    (writer.root / "passes" / "0001-cse.json").write_text(content)
    writer.save()
    trace = Trace.open(writer.root)
    assert trace.passes() == []
    assert any("missing numbers [1]" in d for d in damage(trace))


def test_what_is_damaged_is_named(tmp_path: Path) -> None:
    writer = started(tmp_path)
    text = "module {}"
    weights = np.ones(3, np.float32)
    weight = put_constant(writer.root / "consts", weights)
    signature = Signature((), (), (ConstantSpec("w", (3,), "float32", weight),))
    blob = put_blob(writer.root, json.dumps(signature.to_json()))
    (writer.root / "stages" / "00-fuse.mlir").write_text(text)
    made = Artefact(IRKind.LINALG, text)
    body = {"file": "stages/00-fuse.mlir", "sha256": made.digest(), "bytes": 9, "lines": 1, "signature": blob}
    writer.event("stage-done", index=0, **body)
    writer.end_run("done")
    assert damage(Trace.open(writer.root)) == []

    (writer.root / "consts" / f"{weight}.npy").unlink()
    assert damage(Trace.open(writer.root)) == [f"consts/{weight}.npy is missing"]
    (writer.root / "numerics" / "inputs.npz").write_bytes(b"junk")
    assert any("inputs.npz" in d for d in damage(Trace.open(writer.root)))
    (writer.root / "stages" / "00-fuse.mlir").write_text("other")
    assert any("not as it was written" in d for d in damage(Trace.open(writer.root)))
    blob_path(writer.root, blob).write_bytes(gzip.compress(b"other"))
    assert any("holds other text" in d for d in damage(Trace.open(writer.root)))
    (writer.root / "events.ndjson").unlink()
    assert "events.ndjson is missing" in damage(Trace.open(writer.root))


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a trace"):
        Trace.open(tmp_path)
    with pytest.raises(UsageError, match="no trace 'x'"):
        find_trace(tmp_path, "x")


def test_finding_traces(tmp_path: Path) -> None:
    first, second = started(tmp_path), started(tmp_path)
    assert {t.root for t in list_traces(tmp_path)} == {first.root, second.root}
    assert find_trace(tmp_path, first.root.name[-6:]).root == first.root
    assert find_trace(tmp_path, "last").root in (first.root, second.root)
    with pytest.raises(UsageError, match="names 2 traces"):
        find_trace(tmp_path, "net")


def test_blobs_are_shared_and_checked(tmp_path: Path) -> None:
    digest = put_blob(tmp_path, "module {}\n" * 100)
    assert put_blob(tmp_path, "module {}\n" * 100) == digest
    assert len(list((tmp_path / "blobs").rglob("*.gz"))) == 1
    assert get_blob(tmp_path, digest) == "module {}\n" * 100


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bool", "float64", "bfloat16"])
def test_constants_keep_their_bytes(tmp_path: Path, dtype: str) -> None:
    import ml_dtypes

    real = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    array = np.arange(24).reshape(2, 3, 4).astype(real)
    store = tmp_path / "run" / "consts"
    digest = put_constant(store, array)
    back = get_constant(store, digest, dtype)
    assert back.dtype == real
    assert back.tobytes() == array.tobytes()


def test_constants_are_stored_once_across_runs(tmp_path: Path) -> None:
    array = np.ones((8, 8), np.float32)
    digests = {put_constant(tmp_path / run / "consts", array) for run in ("a", "b")}
    (digest,) = digests
    paths = [tmp_path / run / "consts" / f"{digest}.npy" for run in ("a", "b")]
    assert len({p.stat().st_ino for p in paths}) == 1


def test_an_edited_stage_is_taken_as_it_is(tmp_path: Path) -> None:
    writer = started(tmp_path)
    made = Artefact(IRKind.LINALG, "module {}", located="module {} loc(unknown)")
    signature = Signature((TensorSpec("x", (1,), "float32"),), (), (ConstantSpec("w", (1,), "float32", "0" * 64),))
    (writer.root / "stages" / "00-fuse.mlir").write_text(made.text)
    writer.event(
        "stage-done",
        index=0,
        file="stages/00-fuse.mlir",
        sha256=made.digest(),
        located=put_blob(writer.root, made.located or ""),
        signature=put_blob(writer.root, json.dumps(signature.to_json())),
    )
    writer.save()
    trace = Trace.open(writer.root)
    assert trace.artefact(trace.stage("fuse")).located == made.located
    assert trace.artefact(trace.stage("0")).signature == signature
    (writer.root / "stages" / "00-fuse.mlir").write_text("module { }")
    assert trace.artefact(trace.stage("fuse")).located is None


def test_an_elided_stage_refuses_replay(tmp_path: Path) -> None:
    writer = started(tmp_path)
    (writer.root / "stages" / "00-fuse.mlir").write_text("dense_resource<__elided__>")
    writer.event("stage-done", index=0, file="stages/00-fuse.mlir", elided=True, sha256="")
    writer.save()
    trace = Trace.open(writer.root)
    with pytest.raises(UsageError, match="elides constants"):
        trace.artefact(trace.stage("fuse"))
    with pytest.raises(UsageError, match="has no IR: planned"):
        trace.text(trace.stage("loops"))


def test_an_unwritable_folder_is_one_line() -> None:
    with pytest.raises(UsageError, match="give a writable folder"):
        TraceWriter.create(Path("/proc/nowhere"), "net", "mlir")
