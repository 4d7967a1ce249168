"""The CUDA leg on small shapes: right numbers by the emulator, and PTX that ptxas takes."""

import re
from pathlib import Path

import numpy as np
import pytest

from pipelines.mlir.cuda.stages import GpuMap
from pipelines.mlir.cuda.tools import parse_ptxas
from tests.routes.leg import RNG, elementwise, emulate, random, run_leg
from workbench.core.errors import CompileError
from workbench.core.kinds import IRKind
from workbench.launch.plan import LaunchPlan, Pointer

DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "i64": "int64", "i32": "int32", "i8": "int8"}


def matmul(m: int, k: int, n: int) -> str:
    return f"""
    func.func @main(%a: memref<{m}x{k}xf32>, %b: memref<{k}x{n}xf32>, %o: memref<{m}x{n}xf32>) {{
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%o : memref<{m}x{n}xf32>)
      linalg.matmul ins(%a, %b : memref<{m}x{k}xf32>, memref<{k}x{n}xf32>) outs(%o : memref<{m}x{n}xf32>)
      return
    }}"""


@pytest.mark.parametrize("kind", DTYPES)
def test_every_dtype_reaches_sass(kind: str, tmp_path: Path) -> None:
    dtype = DTYPES[kind]
    inputs = {"a": RNG.integers(-4, 5, 300).astype(dtype), "b": RNG.integers(-4, 5, 300).astype(dtype)}
    add = "arith.addf" if kind.startswith("f") else "arith.addi"
    made, skips = run_leg(elementwise(kind, f"%r = {add} %x, %y : {kind}"), inputs, {"o": inputs["a"]}, tmp_path)
    assert not skips.reasons
    assert made[IRKind.RESULT].handle["o"].tolist() == (inputs["a"] + inputs["b"]).tolist()
    assert made[IRKind.SASS].facts["kernels"] == 1


def test_booleans_are_bytes(tmp_path: Path) -> None:
    inputs = {"a": RNG.random(300) > 0.5, "b": RNG.random(300) > 0.5}
    made, _ = run_leg(elementwise("i1", "%r = arith.andi %x, %y : i1"), inputs, {"o": inputs["a"]}, tmp_path)
    assert np.array_equal(made[IRKind.RESULT].handle["o"], inputs["a"] & inputs["b"])
    assert ".u8" in made[IRKind.PTX].text or ".b8" in made[IRKind.PTX].text


def test_math_is_linked_from_libdevice(tmp_path: Path) -> None:
    inputs = {"a": random(300), "b": random(300)}
    body = "%s = math.erf %x : f32\n%r = math.atan2 %s, %y : f32"
    made, _ = run_leg(elementwise("f32", body), inputs, {"o": inputs["a"]}, tmp_path)
    assert made[IRKind.PTX].facts["libdevice"] == ["__nv_atan2f", "__nv_erff"]
    assert "__nv_erff" not in re.sub(r"//.*", "", made[IRKind.PTX].text)


@pytest.mark.parametrize("shape", [(4, 8, 4), (1, 700, 5), (33, 64, 17), (8, 96, 128), (16, 1, 16)])
@pytest.mark.parametrize("rules", [GpuMap(), GpuMap(warp_below=0, fill=1), GpuMap(warp_below=10**6, fill=1)])
def test_matmul_by_thread_tile_and_warp(shape: tuple[int, int, int], rules: GpuMap, tmp_path: Path) -> None:
    m, k, n = shape
    inputs = {"a": random(m, k), "b": random(k, n)}
    got = emulate(matmul(m, k, n), inputs, {"o": random(m, n)}, tmp_path, rules)["o"]
    want = inputs["a"].astype(np.float64) @ inputs["b"]
    assert np.abs(got - want).max() <= 1e-6 * k


@pytest.mark.parametrize("combine", ["addf", "mulf", "maximumf", "minimumf"])
def test_rows_are_reduced_by_a_warp(combine: str, tmp_path: Path) -> None:
    text = f"""
    func.func @main(%x: memref<5x100xf32>, %o: memref<5xf32>) {{
      %init = arith.constant 1.0 : f32
      linalg.fill ins(%init : f32) outs(%o : memref<5xf32>)
      linalg.reduce ins(%x : memref<5x100xf32>) outs(%o : memref<5xf32>) dimensions = [1]
        (%in: f32, %acc: f32) {{ %r = arith.{combine} %in, %acc : f32  linalg.yield %r : f32 }}
      return
    }}"""
    fold = {"addf": np.add, "mulf": np.multiply, "maximumf": np.maximum, "minimumf": np.minimum}[combine]
    x = (1 + random(5, 100) / 100).astype(np.float32)
    got = emulate(text, {"x": x}, {"o": x[:, 0]}, tmp_path)["o"]
    assert np.allclose(got, fold(fold.reduce(x.astype(np.float64), axis=1), 1.0), rtol=1e-6)


def test_full_reduction_to_rank_zero(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: memref<7x9xf32>, %o: memref<f32>) {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%o : memref<f32>)
      linalg.reduce ins(%x : memref<7x9xf32>) outs(%o : memref<f32>) dimensions = [0, 1]
        (%in: f32, %acc: f32) { %r = arith.addf %in, %acc : f32  linalg.yield %r : f32 }
      return
    }"""
    x = random(7, 9)
    made, _ = run_leg(text, {"x": x}, {"o": np.float32(0).reshape(())}, tmp_path)
    assert np.allclose(made[IRKind.RESULT].handle["o"], x.astype(np.float64).sum(), rtol=1e-5)


def test_scalars_between_kernels_become_a_kernel(tmp_path: Path) -> None:
    text = """
    #id = affine_map<(d0) -> (d0)>
    func.func @main(%x: memref<40xf32>, %n: memref<i64>, %o: memref<40xf32>) {
      %n0 = memref.load %n[] : memref<i64>
      %f = arith.sitofp %n0 : i64 to f32
      %half = arith.constant 0.5 : f32
      %scale = arith.mulf %f, %half : f32
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%x : memref<40xf32>) outs(%o : memref<40xf32>) {
      ^bb0(%a: f32, %z: f32):
        %r = arith.mulf %a, %scale : f32
        linalg.yield %r : f32
      }
      return
    }"""
    x = random(40)
    made, _ = run_leg(text, {"x": x, "n": np.int64(6).reshape(())}, {"o": x}, tmp_path)
    assert np.allclose(made[IRKind.RESULT].handle["o"], 3 * x)
    plan: LaunchPlan = made[IRKind.PLAN].handle
    assert [s.block[0] for s in plan.steps] == [1, 256]


def test_loops_of_scalars_run_on_the_device(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: memref<9xf32>, %o: memref<9xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %zero = arith.constant 0.0 : f32
      %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %zero) -> f32 {
        %v = memref.load %x[%i] : memref<9xf32>
        %t = arith.addf %s, %v : f32
        memref.store %t, %o[%i] : memref<9xf32>
        scf.yield %t : f32
      }
      return
    }"""
    x = random(9)
    assert np.allclose(emulate(text, {"x": x}, {"o": x}, tmp_path)["o"], np.cumsum(x), rtol=1e-5)


def test_views_keep_their_offsets(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: memref<4x6xf32>, %o: memref<2x3xf32>) {
      %pad = memref.alloc() : memref<8x8xf32>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%pad : memref<8x8xf32>)
      %inner = memref.subview %pad[2, 1] [4, 6] [1, 1] : memref<8x8xf32> to memref<4x6xf32, strided<[8, 1], offset: 17>>
      memref.copy %x, %inner : memref<4x6xf32> to memref<4x6xf32, strided<[8, 1], offset: 17>>
      %deep = memref.subview %inner[1, 2] [2, 3] [2, 1] : memref<4x6xf32, strided<[8, 1], offset: 17>>
          to memref<2x3xf32, strided<[16, 1], offset: 27>>
      memref.copy %deep, %o : memref<2x3xf32, strided<[16, 1], offset: 27>> to memref<2x3xf32>
      return
    }"""
    x = random(4, 6)
    made, _ = run_leg(text, {"x": x}, {"o": x[:2, :3]}, tmp_path)
    assert np.array_equal(made[IRKind.RESULT].handle["o"], x[1:4:2, 2:5])


def test_byte_views_pass_an_offset(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) {
      %raw = memref.alloc() : memref<512xi8>
      %at = arith.constant 256 : index
      %v = memref.view %raw[%at][] : memref<512xi8> to memref<4xf32>
      memref.copy %x, %v : memref<4xf32> to memref<4xf32>
      memref.copy %v, %o : memref<4xf32> to memref<4xf32>
      return
    }"""
    x = random(4)
    made, _ = run_leg(text, {"x": x}, {"o": x}, tmp_path)
    assert np.array_equal(made[IRKind.RESULT].handle["o"], x)
    plan: LaunchPlan = made[IRKind.PLAN].handle
    assert any(isinstance(a, Pointer) and a.byte_offset == 256 for s in plan.steps for a in s.args)


def test_constants_left_in_the_module_join_the_plan(tmp_path: Path) -> None:
    text = """
    memref.global "private" constant @table : memref<3xi64> = dense<[7, 8, 9]>
    func.func @main(%x: memref<3xi64>, %o: memref<3xi64>) {
      %t = memref.get_global @table : memref<3xi64>
      memref.copy %t, %o : memref<3xi64> to memref<3xi64>
      return
    }"""
    made, _ = run_leg(text, {"x": np.zeros(3, np.int64)}, {"o": np.zeros(3, np.int64)}, tmp_path)
    plan: LaunchPlan = made[IRKind.PLAN].handle
    assert [c.name for c in plan.constants] == ["table"]
    assert np.load(tmp_path / "consts" / f"{plan.constants[0].sha256}.npy").tolist() == [7, 8, 9]
    assert made[IRKind.RESULT].handle["o"].tolist() == [7, 8, 9]


def test_nothing_to_compute_is_nothing_to_launch(tmp_path: Path) -> None:
    empty = np.zeros((0, 4), np.float32)
    text = """
    func.func @main(%x: memref<0x4xf32>, %o: memref<0x4xf32>) {
      memref.copy %x, %o : memref<0x4xf32> to memref<0x4xf32>
      return
    }"""
    plan: LaunchPlan = run_leg(text, {"x": empty}, {"o": empty}, tmp_path)[0][IRKind.PLAN].handle
    assert plan.steps == ()


def test_equal_layers_share_their_kernels(tmp_path: Path) -> None:
    text = """
    func.func @main(%x: memref<8x8xf32>, %v: memref<8x8xf32>, %w: memref<8x8xf32>, %o: memref<8x8xf32>) {
      %zero = arith.constant 0.0 : f32
      %h = memref.alloc() : memref<8x8xf32>
      linalg.fill ins(%zero : f32) outs(%h : memref<8x8xf32>)
      linalg.matmul ins(%x, %v : memref<8x8xf32>, memref<8x8xf32>) outs(%h : memref<8x8xf32>)
      linalg.fill ins(%zero : f32) outs(%o : memref<8x8xf32>)
      linalg.matmul ins(%h, %w : memref<8x8xf32>, memref<8x8xf32>) outs(%o : memref<8x8xf32>)
      return
    }"""
    arrays = {name: random(8, 8) for name in "xvw"}
    made, _ = run_leg(text, arrays, {"o": arrays["x"]}, tmp_path)
    plan: LaunchPlan = made[IRKind.PLAN].handle
    assert len({s.kernel for s in plan.steps}) == len(plan.steps) // 2
    want = arrays["x"].astype(np.float64) @ arrays["v"] @ arrays["w"]
    assert np.abs(made[IRKind.RESULT].handle["o"] - want).max() < 1e-5


def test_ptxas_report_is_read() -> None:
    text = """ptxas info    : Compiling entry function 'conv' for 'sm_90a'
ptxas info    : Function properties for conv
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 48 registers, used 0 barriers, 16 bytes cumulative stack size, 1024 bytes smem
"""
    facts = parse_ptxas(text)["conv"]
    assert (facts.registers, facts.spill_stores, facts.spill_loads, facts.stack, facts.shared) == (48, 8, 4, 16, 1024)


def test_a_model_that_only_checks_has_kernels_without_outputs(tmp_path: Path) -> None:
    text = """
    #id = affine_map<(d0) -> (d0)>
    func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) {
      %zero = arith.constant 0.0 : f32
      linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) {
      ^bb0(%a: f32):
        %ok = arith.cmpf une, %a, %zero : f32
        cf.assert %ok, "division by zero"
        linalg.yield
      }
      memref.copy %x, %o : memref<4xf32> to memref<4xf32>
      return
    }"""
    x = np.ones(4, np.float32)
    made, _ = run_leg(text, {"x": x}, {"o": x}, tmp_path)
    assert "__assertfail" in made[IRKind.PTX].text
    with pytest.raises(CompileError, match="division by zero"):
        run_leg(text, {"x": x - 1}, {"o": x}, tmp_path)


def test_an_address_outside_its_buffer_is_found(tmp_path: Path) -> None:
    text = """
    #id = affine_map<(d0) -> (d0)>
    func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) {
      %c1 = arith.constant 1 : index
      linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%o : memref<4xf32>) {
      ^bb0(%z: f32):
        %i = linalg.index 0 : index
        %next = arith.addi %i, %c1 : index
        %v = memref.load %x[%next] : memref<4xf32>
        linalg.yield %v : f32
      }
      return
    }"""
    x = random(4)
    with pytest.raises(CompileError, match="reaches outside its buffer"):
        emulate(text, {"x": x}, {"o": x}, tmp_path)


SCALARS = [
    ("f32", "%r = math.round %x : f32", lambda x, y: np.trunc(x + np.copysign(0.5, x))),
    ("f32", "%r = arith.remf %x, %y : f32", np.fmod),
    ("f32", "%r = math.fma %x, %y, %x : f32", lambda x, y: x * y + x),
    ("i32", "%r = arith.divsi %x, %y : i32", lambda x, y: (x / y).astype(np.int32)),
    ("i32", "%r = arith.remsi %x, %y : i32", np.fmod),
    ("i32", "%r = arith.ceildivsi %x, %y : i32", lambda x, y: np.ceil(x / y).astype(np.int32)),
    ("i32", "%r = arith.divui %x, %y : i32", lambda x, y: (x.view("u4") // y.view("u4")).view("i4")),
    ("i32", "%r = arith.shrui %x, %y : i32", lambda x, y: (x.view("u4") >> y.view("u4")).view("i4")),
    ("i32", "%w = arith.trunci %x : i32 to i8\n%r = arith.extui %w : i8 to i32", lambda x, y: x & 255),
    ("i32", "%c = arith.cmpi ult, %x, %y : i32\n%r = arith.extui %c : i1 to i32",
     lambda x, y: (x.view("u4") < y.view("u4")).astype("i4")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body", "means"), SCALARS, ids=lambda v: v if isinstance(v, str) else "")
def test_the_emulators_scalars(kind: str, body: str, means: object, tmp_path: Path) -> None:
    x = RNG.integers(-50, 50, 300).astype(DTYPES[kind]) / (4 if kind == "f32" else 1)
    y = RNG.integers(1, 9, 300).astype(DTYPES[kind])
    arrays = {"a": x.astype(DTYPES[kind]), "b": y}
    got = emulate(elementwise(kind, body), arrays, {"o": y}, tmp_path)["o"]
    assert callable(means)
    assert np.array_equal(got, means(arrays["a"], y))
