"""Launch plans: what is written reads back, and every kind of damage is refused in one line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from workbench.core.errors import UsageError
from workbench.core.tensors import ConstantSpec, TensorSpec
from workbench.launch.bundle import load_plan
from workbench.launch.export import write_bundle
from workbench.launch.plan import Buffer, LaunchPlan, Pointer, Scalar, Step, check_against_ptx, ptx_parameters
from workbench.launch.runner import decode

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "workbench" / "schemas" / "launch-plan.schema.json").read_text(encoding="utf-8")
)
PTX = """
.visible .entry scale(
	.param .u64 .ptr .align 1 scale_param_0,
	.param .f32 scale_param_1,
	.param .u64 .ptr .global .align 4 scale_param_2
)
.maxntid 32
{ ret; }
"""


def scale(first: str, second: str) -> Step:
    """A step that reads tensor 0 of `first` and writes tensor 0 of `second`."""
    args = (Pointer(first, 0), Scalar("float32", 2.0), Pointer(second, 0))
    return Step("scale", (1, 1, 1), (32, 1, 1), args, writes=(2,))


PLAN = LaunchPlan(
    chip="sm_90a",
    inputs=(TensorSpec("x", (8,), "float32"),),
    constants=(),
    outputs=(TensorSpec("y", (8,), "float32"),),
    buffers=(Buffer(32, 0, 0, 1),),
    steps=(scale("input", "buffer"), scale("buffer", "output")),
    arena_bytes=256,
)


def changed(**fields: Any) -> dict[str, Any]:
    return json.loads(PLAN.dumps()) | fields


def test_reads_back_what_was_written_and_fits_the_schema() -> None:
    data = json.loads(PLAN.dumps())
    jsonschema.validate(data, SCHEMA)
    assert LaunchPlan.from_json(data) == PLAN
    assert LaunchPlan.from_json(data | {"later": 1}) == PLAN


def step(**fields: Any) -> list[dict[str, Any]]:
    steps = json.loads(PLAN.dumps())["steps"]
    return [steps[0] | fields, steps[1]]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"format": "other"}, "not a launch plan"),
        ({"version": "2.0"}, "newer than 1.0"),
        ({"steps": [{}]}, "damaged launch plan: KeyError"),
        ({"buffers": [{"bytes": 32, "offset": 256, "first": 0, "last": 1}]}, "outside the arena"),
        ({"buffers": [{"bytes": 32, "offset": 0, "first": 1, "last": 1}]}, "outside its lifetime"),
        ({"buffers": [{"bytes": 32, "offset": 0, "first": 0, "last": 1}] * 2}, "buffers 0 and 1 overlap"),
        ({"inputs": [{"name": "x", "shape": [8], "dtype": "float8"}]}, "dtype 'float8'"),
        ({"steps": step(grid=[0, 1, 1])}, "cannot be launched"),
        ({"steps": step(block=[2048, 1, 1])}, "cannot be launched"),
        ({"steps": step(args=[{"in": "input", "index": 3}])}, "no input 3"),
        ({"steps": step(args=[{"in": "input", "index": 0, "byte_offset": 99}])}, "byte offset 99 is outside"),
        ({"steps": step(writes=[0])}, "writes to input 0"),
        ({"steps": step(writes=[])}, r"step 0 \(scale\) reads buffer 0 before any step has written it"),
    ],
)
def test_damage_is_refused(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        LaunchPlan.from_json(changed(**fields))


def test_a_buffer_may_be_read_by_the_step_that_writes_it_first() -> None:
    args = [{"in": "buffer", "index": 0}, {"in": "value", "dtype": "float32", "value": 2.0}]
    twice = step(args=[*args, {"in": "buffer", "index": 0}])
    assert LaunchPlan.from_json(changed(steps=twice)).steps[0].writes == (2,)


def test_a_bundle_that_reads_unwritten_scratch_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(changed(steps=step(writes=[]))))
    (tmp_path / PLAN.ptx).write_text(PTX)
    with pytest.raises(UsageError, match="reads buffer 0 before any step"):
        load_plan(tmp_path)


def test_parameters_are_read_from_ptx() -> None:
    assert ptx_parameters(PTX) == {"scale": [8, 4, 8]}
    check_against_ptx(PLAN, PTX)


def test_plan_and_ptx_must_agree() -> None:
    short = replace(PLAN, steps=(replace(PLAN.steps[0], args=PLAN.steps[0].args[:2]),))
    with pytest.raises(UsageError, match=r"arguments of \[8, 4\] bytes, but the kernel takes \[8, 4, 8\]"):
        check_against_ptx(short, PTX)
    with pytest.raises(UsageError, match=r"step 0 \(scale\): kernels.ptx has no such kernel"):
        check_against_ptx(PLAN, PTX.replace("entry scale", "entry other"))


def test_bundle_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    weights = np.arange(4, dtype=np.float32)
    np.save(tmp_path / "abc.npy", weights)
    plan = replace(PLAN, constants=(ConstantSpec("w", (4,), "float32", "abc"),))
    arrays = {"x": np.ones(8, np.float32)}
    bundle = tmp_path / "bundle"
    with pytest.raises(UsageError):
        write_bundle(bundle, plan, "", None, tmp_path, arrays, {})
    assert not bundle.exists()
    write_bundle(bundle, plan, PTX, b"cubin", tmp_path, arrays, {"y": np.ones(8)})
    assert load_plan(bundle) == replace(plan, cubin="kernels.cubin")
    assert np.array_equal(np.load(bundle / "consts" / "abc.npy"), weights)
    with pytest.raises(UsageError, match="exists"):
        write_bundle(bundle, plan, PTX, None, tmp_path, arrays, {})


def test_a_folder_without_a_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a bundle"):
        load_plan(tmp_path)


def test_bfloat16_is_widened() -> None:
    bits = np.array([0x3F80, 0xC000, 0x7FC0], np.uint16).view(np.uint8)
    wide = decode(bits, (3,), "bfloat16")
    assert wide[:2].tolist() == [1.0, -2.0]
    assert np.isnan(wide[2])
