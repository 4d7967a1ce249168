"""What the array cannot take stays on the host with its reason, and the result is right either way."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byoc.systolic.machine import PRESETS
from workbench.core.arrays import Array, Arrays
from workbench.core.offload import Offload
from workbench.core.tensors import Signature, TensorSpec
from workbench.worker import run_job

DENSE = """
func.func @main(%a: tensor<9x20x{t}>, %b: tensor<20x7x{t}>) -> tensor<9x7x{t}> {{
  %zero = arith.constant dense<0.0> : tensor<9x7x{t}>
  %m = linalg.matmul ins(%a, %b : tensor<9x20x{t}>, tensor<20x7x{t}>) outs(%zero : tensor<9x7x{t}>) -> tensor<9x7x{t}>
  return %m : tensor<9x7x{t}>
}}
"""
DYNAMIC = """
func.func @main(%a: tensor<9x20xf32>, %b: tensor<20x7xf32>) -> tensor<9x7xf32> {
  %c9 = arith.constant 9 : index
  %0 = arith.constant 0.0 : f32
  %e = tensor.empty(%c9) : tensor<?x7xf32>
  %zero = linalg.fill ins(%0 : f32) outs(%e : tensor<?x7xf32>) -> tensor<?x7xf32>
  %d = tensor.cast %a : tensor<9x20xf32> to tensor<?x20xf32>
  %m = linalg.matmul ins(%d, %b : tensor<?x20xf32>, tensor<20x7xf32>) outs(%zero : tensor<?x7xf32>) -> tensor<?x7xf32>
  %r = tensor.cast %m : tensor<?x7xf32> to tensor<9x7xf32>
  return %r : tensor<9x7xf32>
}
"""
CONV = """
func.func @main(%a: tensor<1x4x9x9xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<1x6x{n}x{n}xf32> {{
  %zero = arith.constant dense<0.0> : tensor<1x6x{n}x{n}xf32>
  %c = linalg.conv_2d_nchw_fchw {{dilations = dense<{dilation}> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
    ins(%a, %b : tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>) outs(%zero : tensor<1x6x{n}x{n}xf32>)
    -> tensor<1x6x{n}x{n}xf32>
  return %c : tensor<1x6x{n}x{n}xf32>
}}
"""
GROUPED = """
func.func @main(%a: tensor<1x2x2x9x9xf32>, %b: tensor<2x3x2x3x3xf32>) -> tensor<1x2x3x7x7xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x2x3x7x7xf32>
  %c = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%a, %b : tensor<1x2x2x9x9xf32>, tensor<2x3x2x3x3xf32>) outs(%zero : tensor<1x2x3x7x7xf32>)
    -> tensor<1x2x3x7x7xf32>
  return %c : tensor<1x2x3x7x7xf32>
}
"""
QUANTISED = """
func.func @main(%a: tensor<9x20xi8>, %b: tensor<20x7xi8>) -> tensor<9x7xi32> {{
  %za = arith.constant {zero} : i32
  %zb = arith.constant 0 : i32
  %0 = arith.constant dense<0> : tensor<9x7xi32>
  %m = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<9x20xi8>, tensor<20x7xi8>, i32, i32)
    outs(%0 : tensor<9x7xi32>) -> tensor<9x7xi32>
  return %m : tensor<9x7xi32>
}}
"""
SPLIT = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @main(%a: tensor<9x20xi8>, %b: tensor<20x7xi8>, %v: tensor<7xi32>) -> tensor<9x7xf32> {
  %zero = arith.constant dense<0> : tensor<9x7xi32>
  %s = arith.constant 6.103515625e-05 : f32
  %e = tensor.empty() : tensor<9x7xf32>
  %m = linalg.matmul ins(%a, %b : tensor<9x20xi8>, tensor<20x7xi8>) outs(%zero : tensor<9x7xi32>) -> tensor<9x7xi32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %v : tensor<9x7xi32>, tensor<7xi32>) outs(%e : tensor<9x7xf32>) {
  ^bb0(%x: i32, %y: i32, %z: f32):
    %0 = arith.addi %x, %y : i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<9x7xf32>
  %x = linalg.exp ins(%r : tensor<9x7xf32>) outs(%e : tensor<9x7xf32>) -> tensor<9x7xf32>
  return %x : tensor<9x7xf32>
}
"""
WIDE = """
func.func @main(%a: tensor<9x20xi8>, %b: tensor<20x7xi8>) -> tensor<9x7xi64> {
  %zero = arith.constant dense<0> : tensor<9x7xi64>
  %m = linalg.matmul ins(%a, %b : tensor<9x20xi8>, tensor<20x7xi8>) outs(%zero : tensor<9x7xi64>) -> tensor<9x7xi64>
  return %m : tensor<9x7xi64>
}
"""


def run(text: str, inputs: Arrays, output: Array, log: Path, accel: str = "lab4") -> tuple[Array, Offload]:
    """The result, in float64, and what went where."""
    given = tuple(TensorSpec(n, a.shape, a.dtype.name) for n, a in inputs.items())
    signature = Signature(given, (TensorSpec("out", output.shape, output.dtype.name),))
    params: dict[str, Any] = {"text": text, "accel": accel, "signature": signature.to_json()}
    params["inputs"] = {n: a.tolist() for n, a in inputs.items()}
    done = run_job("tests.npu.job:lower", params, log / "log", lambda _: None, 120)
    return np.array(done["outputs"]["out"]), Offload.from_json(done["regions"])


def accelerator(folder: Path, *changes: tuple[str, str]) -> str:
    """A file that describes the lab's machine, changed."""
    text = (PRESETS / "lab4.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "machine.toml").write_text(text)
    return str(folder / "machine.toml")


def factors(shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: str = "float32") -> Arrays:
    rng = np.random.default_rng(0)
    return {n: rng.standard_normal(s).astype(dtype) for n, s in zip("ab", shapes, strict=True)}


def convolution(a: Array, b: Array, dilation: int = 1) -> Array:
    """nchw by fchw, in float64."""
    reach = 2 * dilation + 1
    seen = np.lib.stride_tricks.sliding_window_view(a.astype(np.float64), (reach, reach), (2, 3))
    return np.einsum("nchwij,fcij->nfhw", seen[..., ::dilation, ::dilation], b.astype(np.float64))


def stays(found: Offload, reason: str) -> None:
    """Nothing went to the array, because of this."""
    assert found.regions == ()
    (left,) = [o for o in found.left if o.macs or "sizes" in o.reason]
    assert reason in left.reason


def test_a_product_goes(tmp_path: Path) -> None:
    inputs = factors(((9, 20), (20, 7)))
    want = inputs["a"] @ inputs["b"]
    result, found = run(DENSE.format(t="f32"), inputs, want, tmp_path)
    np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-5)
    (region,) = found.regions
    assert (region.m, region.k, region.n, found.share) == (9, 20, 7, 1.0)
    assert region.figures["ws"].cycles > 0


def test_float64_stays(tmp_path: Path) -> None:
    inputs = factors(((9, 20), (20, 7)), "float64")
    want = inputs["a"] @ inputs["b"]
    result, found = run(DENSE.format(t="f64"), inputs, want, tmp_path)
    np.testing.assert_allclose(result, want, rtol=1e-12)
    stays(found, "it multiplies float64; lab4 multiplies int8, float16, bfloat16, float32")


def test_dynamic_sizes_stay(tmp_path: Path) -> None:
    inputs = factors(((9, 20), (20, 7)))
    want = inputs["a"] @ inputs["b"]
    result, found = run(DYNAMIC, inputs, want, tmp_path)
    np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-5)
    stays(found, "its sizes are not static: tensor<?x20xf32>")


@pytest.mark.parametrize("dilation", [1, 2])
def test_dilated_convolutions_stay(dilation: int, tmp_path: Path) -> None:
    inputs = factors(((1, 4, 9, 9), (6, 4, 3, 3)))
    want = convolution(inputs["a"], inputs["b"], dilation).astype(np.float32)
    result, found = run(CONV.format(n=want.shape[-1], dilation=dilation), inputs, want, tmp_path)
    np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-5)
    if dilation == 1:
        assert [r.kind for r in found.regions] == ["conv2d"]
    else:
        stays(found, "it is dilated by 2x2")


def test_grouped_convolutions_stay(tmp_path: Path) -> None:
    inputs = factors(((1, 2, 2, 9, 9), (2, 3, 2, 3, 3)))
    parts = [convolution(inputs["a"][:, g], inputs["b"][g]) for g in range(2)]
    want = np.stack(parts, 1).astype(np.float32)
    result, found = run(GROUPED, inputs, want, tmp_path)
    np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-5)
    stays(found, "it is grouped")


def test_a_machine_of_matrices_only(tmp_path: Path) -> None:
    inputs = factors(((1, 4, 9, 9), (6, 4, 3, 3)))
    want = convolution(inputs["a"], inputs["b"]).astype(np.float32)
    accel = accelerator(tmp_path, ("clock_mhz = 100\n", 'clock_mhz = 100\noperations = ["matmul"]\n'))
    result, found = run(CONV.format(n=7, dilation=1), inputs, want, tmp_path, accel)
    np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-5)
    stays(found, "lab4 has no conv2d; it has matmul")


def test_a_tile_larger_than_the_scratchpad(tmp_path: Path) -> None:
    inputs = factors(((9, 20), (20, 7)))
    want = inputs["a"] @ inputs["b"]
    accel = accelerator(
        tmp_path,
        ('dataflow = "ws"\n', 'dataflow = "ws"\ntile = [16, 32, 16]\n'),
        ("scratchpad_bytes = 4096", "scratchpad_bytes = 1024"),
    )
    result, found = run(DENSE.format(t="f32"), inputs, want, tmp_path, accel)
    np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-5)
    stays(found, "tile m=9 k=20 n=7 needs 2560 bytes of scratchpad")


def test_only_whole_operations_are_fused(tmp_path: Path) -> None:
    """One operation adds a bias and starts to rescale, the next does something else: the host does both."""
    rng = np.random.default_rng(0)
    inputs = {"a": rng.integers(-128, 128, (9, 20), np.int8), "b": rng.integers(-128, 128, (20, 7), np.int8)}
    inputs["v"] = rng.integers(-99, 99, 7, np.int32)
    sums = inputs["a"].astype(np.int32) @ inputs["b"].astype(np.int32) + inputs["v"]
    want = np.exp(sums.astype(np.float32) * np.float32(2.0**-14))
    result, found = run(SPLIT, inputs, want, tmp_path)
    np.testing.assert_allclose(result, want, rtol=1e-5)
    assert [r.fused for r in found.regions] == [()]


@pytest.mark.parametrize("zero", [0, 3])
def test_quantised_products(zero: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    inputs = {"a": rng.integers(-128, 128, (9, 20), np.int8), "b": rng.integers(-128, 128, (20, 7), np.int8)}
    want = (inputs["a"].astype(np.int32) - zero) @ inputs["b"].astype(np.int32)
    result, found = run(QUANTISED.format(zero=zero), inputs, want, tmp_path)
    np.testing.assert_array_equal(result, want)
    if zero == 0:
        assert len(found.regions) == 1
    else:
        stays(found, "its operands have zero points")


def test_sums_in_64_bits(tmp_path: Path) -> None:
    """int8 summed in int64: the array's int32 holds it, and the host extends it."""
    rng = np.random.default_rng(0)
    inputs = {"a": rng.integers(-128, 128, (9, 20), np.int8), "b": rng.integers(-128, 128, (20, 7), np.int8)}
    want = inputs["a"].astype(np.int64) @ inputs["b"].astype(np.int64)
    result, found = run(WIDE, inputs, want, tmp_path)
    np.testing.assert_array_equal(result, want)
    assert len(found.regions) == 1
