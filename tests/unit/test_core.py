"""Stages, pipelines, registries, targets: the frame, without a compiler."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.artefact import Artefact
from workbench.core.errors import CompileError, Skip, UsageError
from workbench.core.kinds import IRKind
from workbench.core.pipeline import Pipeline, kinds_between
from workbench.core.registry import Registry
from workbench.core.source import ModelRequest, frontend_of
from workbench.core.stage import Context, Stage, parse_stage
from workbench.core.target import Target, parse_target
from workbench.core.tensors import ConstantSpec, Signature, TensorSpec


@dataclass(frozen=True)
class Tile(Stage):
    sizes: tuple[int, ...] = (32, 32)
    unroll: int = 1
    pad: bool = False
    order: str = "ijk"

    name: ClassVar[str] = "tile"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.TILED

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        return ir.derive(self.produces, ir.text + " tiled")


@dataclass(frozen=True)
class Refuse(Stage):
    name: ClassVar[str] = "refuse"
    consumes: ClassVar[IRKind] = IRKind.TILED
    produces: ClassVar[IRKind] = IRKind.LOOPS

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        raise Skip("nothing to do")


@dataclass(frozen=True)
class After(Stage):
    name: ClassVar[str] = "after"
    consumes: ClassVar[IRKind] = IRKind.LOOPS
    produces: ClassVar[IRKind] = IRKind.LLVM
    process: ClassVar[str] = "other"

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        raise AssertionError("must not run")


KNOWN = {s.name: s for s in (Tile, Refuse, After)}


@given(
    st.lists(st.integers(0, 512), max_size=4).map(tuple), st.integers(), st.booleans(), st.sampled_from(["ijk", "kij"])
)
def test_spec_round_trips(sizes: tuple[int, ...], unroll: int, pad: bool, order: str) -> None:
    stage = Tile(sizes, unroll, pad, order)
    assert parse_stage(stage.spec(), KNOWN) == stage


def test_spec_hides_defaults() -> None:
    assert Tile().spec() == "tile"
    assert Tile(sizes=(8,), pad=True).spec() == "tile{sizes=8 pad=true}"


@pytest.mark.parametrize(
    ("text", "said"),
    [("till", "known stages: tile"), ("tile{size=3}", "no option 'size'"), ("tile{unroll=x}", "does not read as int")],
)
def test_bad_specs_name_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_stage(text, KNOWN)


def test_kinds_must_chain() -> None:
    with pytest.raises(UsageError, match="'after' needs loops"):
        Pipeline((Tile(), After()))


def test_segments_follow_processes() -> None:
    pipeline = Pipeline((Tile(), Refuse(), After()))
    assert pipeline.segments(0, 3) == [range(2), range(2, 3)]
    assert kinds_between(pipeline, 1, 3) == {IRKind.TILED}
    with pytest.raises(UsageError, match="its stages: tile, refuse, after"):
        pipeline.index("fuse")


def test_a_skip_skips_what_depends_on_it(tmp_path: Path) -> None:
    seen: list[str] = []

    class Watch:
        def __getattr__(self, name: str):
            return lambda *args: seen.append(f"{name}:{args[1].name}" + (f":{args[2]}" if "skip" in name else ""))

    ctx = Context(Target(), tmp_path, tmp_path, latest={IRKind.LINALG: Artefact(IRKind.LINALG, "x")})
    ctx.observe(Watch())  # type: ignore[arg-type]
    Pipeline((Tile(), Refuse(), After())).run(ctx, range(3))
    assert seen == [
        "before_stage:tile",
        "after_stage:tile",
        "before_stage:refuse",
        "skipped_stage:refuse:nothing to do",
        "skipped_stage:after:no loops was made before it",
    ]


def test_duplicate_names_are_refused() -> None:
    with pytest.raises(ValueError, match="registered twice"):
        Registry("model", [("a", "x:y"), ("a", "x:z")])


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(UsageError, match="no model 'b'; known: a"):
        Registry("model", [("a", "x:y")]).load("b")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", Target()),
        ("cpu", Target("native", "")),
        ("cpu:x86-64-v3", Target("x86-64-v3", "")),
        ("cuda:sm_80", Target("native", "sm_80", True)),
        ("cuda", Target("native", "sm_90a", True)),
    ],
)
def test_targets(text: str, want: Target) -> None:
    assert parse_target(text) == want


@pytest.mark.parametrize("text", ["gpu", "cuda:sm 90", "rocm:gfx90a"])
def test_unknown_targets_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no target"):
        parse_target(text)


def test_front_ends() -> None:
    assert frontend_of("a/b.onnx", None) == "onnx"
    assert frontend_of("resnet18", None) == "fx"
    assert frontend_of("resnet18", "onnx") == "onnx"
    with pytest.raises(UsageError):
        frontend_of("a.onnx", "fx")
    with pytest.raises(UsageError):
        frontend_of("a", "tf")


def test_requests_and_signatures_round_trip() -> None:
    request = ModelRequest("m.onnx", "onnx", {"x": (1, 3)}, None, "in.npz", 3)
    assert ModelRequest.from_json(request.to_json()) == request
    signature = Signature(
        (TensorSpec("x", (2, 3), "float32"),),
        (TensorSpec("y", (), "int64"),),
        (ConstantSpec("w", (3,), "bfloat16", "ab"),),
    )
    assert Signature.from_json({**signature.to_json(), "unknown": 1}) == signature


def test_errors_are_one_line() -> None:
    assert str(CompileError("a\n  b\tc")) == "a b c"
