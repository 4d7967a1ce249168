"""The tiled stages compute what numpy computes, on sizes that tiles divide and on sizes that they don't."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.routes.tiled_leg import Array, lower_tiled, run_tiled
from workbench.core.kinds import IRKind
from workbench.core.target import Target
from workbench.core.tensors import TensorSpec

ELEMENT = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32"}


def tensor(array: Array) -> str:
    """The MLIR type of an array."""
    return f"tensor<{'x'.join([*map(str, array.shape), ELEMENT[array.dtype.name]])}>"


def random(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    """Small numbers from a fixed seed."""
    generator = np.random.default_rng(len(shape) + sum(shape))
    if dtype.startswith("int"):
        return generator.integers(-4, 5, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def matmul_text(a: Array, b: Array, out: Array) -> str:
    """`out = a @ b`, batched when there are three dimensions."""
    name = "batch_matmul" if a.ndim == 3 else "matmul"
    zero = "0" if a.dtype.kind == "i" else "0.0"
    element = ELEMENT[a.dtype.name]
    return f"""func.func @main(%a: {tensor(a)}, %b: {tensor(b)}) -> {tensor(out)} {{
  %zero = arith.constant {zero} : {element}
  %empty = tensor.empty() : {tensor(out)}
  %init = linalg.fill ins(%zero : {element}) outs(%empty : {tensor(out)}) -> {tensor(out)}
  %out = linalg.{name} ins(%a, %b : {tensor(a)}, {tensor(b)}) outs(%init : {tensor(out)}) -> {tensor(out)}
  return %out : {tensor(out)}
}}"""


def check_matmul(shape: tuple[int, ...], dtype: str, folder: Path, target: Target | None = None) -> None:
    """Run one product with the second operand as a weight."""
    *batch, m, k, n = shape
    a, b = random((*batch, m, k), dtype), random((*batch, k, n), dtype)
    exact = np.matmul(a.astype("float64"), b.astype("float64"))
    like = exact.astype(dtype)
    out = run_tiled(matmul_text(a, b, like), [a], [b], like, folder, target)
    np.testing.assert_allclose(out, exact, rtol=0, atol=1e-5 * max(1.0, float(np.abs(exact).max())))


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 3, 5), (64, 32, 128), (127, 93, 61), (1, 70, 1000), (33, 1, 130)])
def test_matmul(shape: tuple[int, ...], tmp_path: Path) -> None:
    check_matmul(shape, "float32", tmp_path)


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64"])
def test_batch_matmul_of_other_types(dtype: str, tmp_path: Path) -> None:
    check_matmul((3, 20, 9, 37), dtype, tmp_path)


@pytest.mark.parametrize("shape", [(64, 32, 128), (13, 5, 48), (2, 40, 8, 24)])
def test_two_threads(shape: tuple[int, ...], tmp_path: Path) -> None:
    check_matmul(shape, "float32", tmp_path, Target(chip="", threads=2))


@pytest.mark.parametrize("threads", [1, 2])
def test_panels_of_an_input(threads: int, tmp_path: Path) -> None:
    """A matrix that is no weight is copied into panels before the tiles that read it."""
    a, b = random((64, 320)), random((320, 256))
    exact = np.matmul(a.astype("float64"), b.astype("float64"))
    target = Target(cpu="haswell", chip="", threads=threads)
    like = exact.astype("float32")
    made = lower_tiled(matmul_text(a, b, like), [a, b], [], TensorSpec("out", like.shape, "float32"), tmp_path, target)
    assert "tensor.expand_shape" in made[IRKind.TILED].text
    out = run_tiled(matmul_text(a, b, like), [a, b], [], like, tmp_path, target)
    np.testing.assert_allclose(out, exact, rtol=0, atol=1e-5 * float(np.abs(exact).max()))


def softmax_text(heads: int, rows: int, columns: int, depth: int) -> str:
    """Attention without scaling: softmax(q k) v, on (heads, rows, depth)."""
    scores, row = f"tensor<{heads}x{rows}x{columns}xf32>", f"tensor<{heads}x{rows}xf32>"
    q, k = f"tensor<{heads}x{rows}x{depth}xf32>", f"tensor<{heads}x{depth}x{columns}xf32>"
    v = f"tensor<{heads}x{columns}x{depth}xf32>"
    reduce = 'indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]'
    each = 'indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]'
    return f"""
#all = affine_map<(h, s, t) -> (h, s, t)>
#row = affine_map<(h, s, t) -> (h, s)>
func.func @main(%q: {q}, %k: {k}, %v: {v}) -> {q} {{
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : {scores}
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : {scores}) -> {scores}
  %s = linalg.batch_matmul ins(%q, %k : {q}, {k}) outs(%i0 : {scores}) -> {scores}
  %e1 = tensor.empty() : {row}
  %i1 = linalg.fill ins(%lowest : f32) outs(%e1 : {row}) -> {row}
  %max = linalg.generic {{{reduce}}} ins(%s : {scores}) outs(%i1 : {row}) {{
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  }} -> {row}
  %exp = linalg.generic {{{each}}} ins(%s, %max : {scores}, {row}) outs(%e0 : {scores}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.subf %a, %b : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  }} -> {scores}
  %i2 = linalg.fill ins(%zero : f32) outs(%e1 : {row}) -> {row}
  %sum = linalg.generic {{{reduce}}} ins(%exp : {scores}) outs(%i2 : {row}) {{
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }} -> {row}
  %p = linalg.generic {{{each}}} ins(%exp, %sum : {scores}, {row}) outs(%e0 : {scores}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  }} -> {scores}
  %e2 = tensor.empty() : {q}
  %i3 = linalg.fill ins(%zero : f32) outs(%e2 : {q}) -> {q}
  %out = linalg.batch_matmul ins(%p, %v : {scores}, {v}) outs(%i3 : {q}) -> {q}
  return %out : {q}
}}"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(2, 32, 48, 16), (3, 17, 33, 5), (1, 64, 7, 64)])
def test_attention(shape: tuple[int, int, int, int], threads: int, tmp_path: Path) -> None:
    heads, rows, columns, depth = shape
    q, k, v = random((heads, rows, depth)), random((heads, depth, columns)), random((heads, columns, depth))
    scores = np.matmul(q.astype("float64"), k.astype("float64"))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    exact = np.matmul(weights / weights.sum(-1, keepdims=True), v.astype("float64"))
    out = run_tiled(softmax_text(*shape), [q, k, v], [], q, tmp_path, Target(chip="", threads=threads))
    np.testing.assert_allclose(out, exact, rtol=0, atol=1e-5 * float(np.abs(exact).max()))


@pytest.mark.parametrize("cpu", ["haswell", "nehalem"])
def test_narrower_vectors(cpu: str, tmp_path: Path) -> None:
    check_matmul((30, 20, 48), "float32", tmp_path, Target(cpu=cpu, chip=""))


def convolve(x: Array, w: Array, stride: int, dilation: int = 1) -> Array:
    """Convolution of (n, c, h, w) with (f, c, kh, kw) in float64, without padding."""
    kh, kw = w.shape[2:]
    oh = (x.shape[2] - dilation * (kh - 1) - 1) // stride + 1
    ow = (x.shape[3] - dilation * (kw - 1) - 1) // stride + 1
    out = np.zeros((x.shape[0], w.shape[0], oh, ow))
    for i, j in product(range(kh), range(kw)):
        rows = slice(i * dilation, i * dilation + stride * (oh - 1) + 1, stride)
        columns = slice(j * dilation, j * dilation + stride * (ow - 1) + 1, stride)
        out += np.einsum("nchw,fc->nfhw", x[:, :, rows, columns].astype("float64"), w[:, :, i, j].astype("float64"))
    return out


def block_text(x: Array, w: Array, bias: Array, other: Array, stride: int, dilation: int) -> str:
    """relu(convolution of the padded image + bias + other), as a residual block has it."""
    n, c, h, width = x.shape
    padded = f"tensor<{n}x{c}x{h + 2}x{width + 2}xf32>"
    out, same = tensor(other), "affine_map<(a, b, c, d) -> (a, b, c, d)>"
    window = f"{{dilations = dense<{dilation}> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}"
    kinds = ", ".join(['"parallel"'] * 4)
    return f"""func.func @main(%x: {tensor(x)}, %other: {out}, %w: {tensor(w)}, %bias: {tensor(bias)}) -> {out} {{
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {{
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  }} : {tensor(x)} to {padded}
  %empty = tensor.empty() : {out}
  %init = linalg.broadcast ins(%bias : {tensor(bias)}) outs(%empty : {out}) dimensions = [0, 2, 3]
  %conv = linalg.conv_2d_nchw_fchw {window} ins(%padded, %w : {padded}, {tensor(w)}) outs(%init : {out}) -> {out}
  %out = linalg.generic {{indexing_maps = [{same}, {same}, {same}], iterator_types = [{kinds}]}}
      ins(%conv, %other : {out}, {out}) outs(%empty : {out}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %sum = arith.addf %a, %b : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  }} -> {out}
  return %out : {out}
}}"""


@pytest.mark.parametrize(
    ("image", "filters", "stride", "dilation"),
    [
        ((1, 3, 14, 14), (32, 3, 3, 3), 1, 1),
        ((2, 5, 9, 11), (7, 5, 3, 3), 2, 1),
        ((1, 16, 13, 17), (64, 16, 1, 1), 2, 1),
        ((1, 8, 15, 113), (130, 8, 3, 2), 1, 2),
        ((1, 2, 3, 3), (1, 2, 3, 3), 1, 1),
    ],
)
def test_residual_block(
    image: tuple[int, ...], filters: tuple[int, ...], stride: int, dilation: int, tmp_path: Path
) -> None:
    x, w, bias = random(image), random(filters), random(filters[:1])
    exact = convolve(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), w, stride, dilation)
    other = random(exact.shape)
    exact = np.maximum(exact + bias[:, None, None] + other, 0)
    out = run_tiled(block_text(x, w, bias, other, stride, dilation), [x, other], [w, bias], other, tmp_path)
    np.testing.assert_allclose(out, exact, rtol=0, atol=1e-5 * float(np.abs(exact).max()))


@pytest.mark.parametrize("kind", ["max", "sum"])
@pytest.mark.parametrize("image", [(1, 64, 18, 18), (2, 5, 7, 12)])
def test_pool(kind: str, image: tuple[int, ...], tmp_path: Path) -> None:
    x = random(image)
    oh, ow = (image[2] - 3) // 2 + 1, (image[3] - 3) // 2 + 1
    windows = np.stack([x[:, :, i : i + 2 * oh - 1 : 2, j : j + 2 * ow - 1 : 2] for i in range(3) for j in range(3)])
    exact = windows.max(0) if kind == "max" else windows.sum(0)
    window = "{dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}"
    text = f"""func.func @main(%x: {tensor(x)}) -> {tensor(exact)} {{
  %start = arith.constant {"0xFF800000" if kind == "max" else "0.0"} : f32
  %empty = tensor.empty() : {tensor(exact)}
  %shape = tensor.empty() : tensor<3x3xf32>
  %init = linalg.fill ins(%start : f32) outs(%empty : {tensor(exact)}) -> {tensor(exact)}
  %out = linalg.pooling_nchw_{kind} {window} ins(%x, %shape : {tensor(x)}, tensor<3x3xf32>)
      outs(%init : {tensor(exact)}) -> {tensor(exact)}
  return %out : {tensor(exact)}
}}"""
    np.testing.assert_allclose(run_tiled(text, [x], [], exact, tmp_path), exact, rtol=1e-5, atol=1e-6)


def math_text(function: str, count: int) -> str:
    """`function` of each of `count` numbers."""
    kind, same = f"tensor<{count}xf32>", "affine_map<(a) -> (a)>"
    return f"""func.func @main(%x: {kind}) -> {kind} {{
  %empty = tensor.empty() : {kind}
  %out = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = ["parallel"]}}
      ins(%x : {kind}) outs(%empty : {kind}) {{
  ^bb0(%a: f32, %b: f32):
    %y = math.{function} %a : f32
    linalg.yield %y : f32
  }} -> {kind}
  return %out : {kind}
}}"""


@pytest.mark.parametrize("function", ["exp", "tanh", "erf"])
def test_polynomials(function: str, tmp_path: Path) -> None:
    """Within 1e-6 of float64 everywhere, infinities and NaN included."""
    import math

    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 88.72, 89.0, -87.4, -103.0, -104.5, 1e-30, 0.5, 0.625, 200.0, -200.0]
    x = np.concatenate([np.array(edges), np.linspace(-12, 12, 4001), np.linspace(-100, 88, 999)]).astype("float32")
    exact = {"exp": np.exp, "tanh": np.tanh, "erf": np.vectorize(math.erf)}[function](x.astype("float64"))
    out = run_tiled(math_text(function, x.size), [x], [], x, tmp_path)
    with np.errstate(over="ignore"):
        expected = exact.astype("float32")
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-38)


def test_weights_are_packed_once(tmp_path: Path) -> None:
    """The function takes the weight in the order in which tiles read it, and no transpose is left to run."""
    x, w, bias = random((1, 16, 14, 14)), random((128, 16, 3, 3)), random((128,))
    other = random((1, 128, 14, 14))
    made = lower_tiled(
        block_text(x, w, bias, other, 1, 1),
        [x, other],
        [w, bias],
        TensorSpec("out", other.shape, "float32"),
        tmp_path,
        Target(cpu="haswell", chip=""),
    )
    assert made[IRKind.TILED].signature is not None
    packed = made[IRKind.TILED].signature.constants[0]
    assert len(packed.shape) == 5
    assert packed.shape[1:4] == (3, 3, 16)
    assert packed.shape[0] * packed.shape[4] == 128
    assert f"tensor<{'x'.join(map(str, packed.shape))}xf32>" in made[IRKind.TILED].text
