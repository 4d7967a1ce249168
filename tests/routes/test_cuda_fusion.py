"""Which neighbours share a kernel, and that no sharing lets threads race."""

from pathlib import Path

import numpy as np
import pytest

from dialects.bindings import inside, parse
from pipelines.mlir.cuda.chain import chains
from pipelines.mlir.cuda.host import entry_block
from pipelines.mlir.cuda.stages import GpuMap
from tests.routes.leg import emulate
from workbench.core.source import ModelRequest
from workbench.core.target import Target
from workbench.run import LowerRequest, lower

RNG = np.random.default_rng(1)
MAPS = """
#ij = affine_map<(d0, d1) -> (d0, d1)>
#ji = affine_map<(d0, d1) -> (d1, d0)>
#j = affine_map<(d0, d1) -> (d1)>
#i0 = affine_map<(d0, d1) -> (d0, 0)>
#ik = affine_map<(d0, d1, d2) -> (d0, d2)>
#kj = affine_map<(d0, d1, d2) -> (d2, d1)>
#oij = affine_map<(d0, d1, d2) -> (d0, d1)>
"""
M = "memref<8x8xf32>"


def bias(target: str) -> str:
    return f"""
    linalg.generic {{indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]}}
        ins(%b : memref<8xf32>) outs({target} : {M}) {{ ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }}"""


def matmul(left: str, right: str, target: str) -> str:
    return f"""
    linalg.generic {{indexing_maps = [#ik, #kj, #oij], iterator_types = ["parallel", "parallel", "reduction"]}}
        ins({left}, {right} : {M}, {M}) outs({target} : {M}) {{
      ^bb0(%p: f32, %q: f32, %s: f32):
        %m = arith.mulf %p, %q : f32
        %a = arith.addf %s, %m : f32
        linalg.yield %a : f32 }}"""


def relu(source: str, target: str) -> str:
    return f"""
    linalg.generic {{indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}}
        ins({source} : {M}) outs({target} : {M}) {{
      ^bb0(%p: f32, %q: f32):
        %r = arith.maximumf %p, %zero : f32
        linalg.yield %r : f32 }}"""


def add(source: str, other: str, target: str, where: str = "#ij") -> str:
    return f"""
    linalg.generic {{indexing_maps = [#ij, {where}, #ij], iterator_types = ["parallel", "parallel"]}}
        ins({source}, {other} : {M}, {M}) outs({target} : {M}) {{
      ^bb0(%p: f32, %q: f32, %z: f32):
        %r = arith.addf %p, %q : f32
        linalg.yield %r : f32 }}"""


def gather(index: str, source: str, target: str) -> str:
    """target[i, j] = source[i, index[i, j]]: the payload loads from a buffer that is no operand."""
    return f"""
    linalg.generic {{indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}}
        ins({index} : {M}) outs({target} : {M}) {{
      ^bb0(%p: f32, %q: f32):
        %i = linalg.index 0 : index
        %s = arith.fptosi %p : f32 to i64
        %k = arith.index_cast %s : i64 to index
        %r = memref.load {source}[%i, %k] : {M}
        linalg.yield %r : f32 }}"""


H = f"%h = memref.alloc() : {M}\n"
T = f"%t = memref.alloc() : {M}\n"
CASES = {
    "bias, matmul, relu in place": (bias("%o") + matmul("%x", "%w", "%o") + relu("%o", "%o"), 1),
    "into another buffer": (H + bias("%h") + matmul("%x", "%w", "%h") + add("%h", "%y", "%o"), 1),
    "two epilogues": (H + bias("%h") + matmul("%x", "%w", "%h") + relu("%h", "%h") + add("%h", "%y", "%o"), 1),
    "value needed again": (
        H + bias("%h") + matmul("%x", "%w", "%h") + relu("%h", "%o") + add("%o", "%h", "%o"),
        2,
    ),
    "reused after being overwritten": (
        H + T + bias("%h") + matmul("%x", "%w", "%h") + relu("%h", "%t") + bias("%h") + matmul("%t", "%w", "%h")
        + add("%h", "%y", "%o"),
        2,
    ),
    "other threads read the target": (
        H + T + relu("%x", "%t") + bias("%h") + matmul("%t", "%w", "%h")
        + add("%h", "%t", "%t") + relu("%t", "%o"),
        3,
    ),
    "transposed read of the value": (
        H + "%g = memref.alloc() : " + M + bias("%h") + matmul("%x", "%w", "%h") + add("%h", "%h", "%g", "#ji")
        + relu("%g", "%o"),
        2,
    ),
    "accumulator with a value": (relu("%x", "%o") + matmul("%x", "%w", "%o"), 1),
    "value gathered later": (
        H + T + bias("%h") + matmul("%x", "%w", "%h") + relu("%h", "%t") + gather("%n", "%h", "%o")
        + add("%o", "%t", "%o"),
        3,
    ),
    "value gathered at once": (
        H + bias("%h") + matmul("%x", "%w", "%h") + relu("%h", "%h") + gather("%n", "%h", "%o"),
        2,
    ),
    "value taken and gathered": (
        H + "%g = memref.alloc() : " + M + bias("%h") + matmul("%x", "%w", "%h")
        + add("%h", "%n", "%g").replace("arith.addf %p, %q", "arith.addf %p, %l").replace(
            "%r = ", "%z0 = arith.constant 0 : index\n%l = memref.load %h[%z0, %z0] : " + M + "\n%r = "
        )
        + relu("%g", "%o"),
        2,
    ),
    "accumulator is an input": (H + relu("%x", "%h") + matmul("%h", "%w", "%h"), None),
}  # fmt: skip


def module_text(body: str) -> str:
    return f"""{MAPS}
    func.func @main(%x: {M}, %w: {M}, %y: {M}, %n: {M}, %b: memref<8xf32>, %o: {M}) {{
      %zero = arith.constant 0.0 : f32
      {body}
      return
    }}"""


@pytest.mark.parametrize("what", CASES)
def test_kernels_are_as_few_as_is_safe(what: str) -> None:
    body, kernels = CASES[what]
    module = parse(module_text(body))
    with inside(module):
        found = chains(entry_block(module))
        if kernels is None:
            assert all(len(c.members) == 1 for c in found)
        else:
            assert len(found) == kernels
        assert all(len(c.members) == 1 for c in chains(entry_block(module), fuse=False))


@pytest.mark.parametrize("rules", [GpuMap(), GpuMap(fill=1, warp_below=0), GpuMap(fuse=False)])
@pytest.mark.parametrize("what", [name for name, (_, kernels) in CASES.items() if kernels])
def test_fused_kernels_compute_the_same(what: str, rules: GpuMap, tmp_path: Path) -> None:
    arrays = {n: RNG.standard_normal((8, 8)).astype(np.float32) for n in "xwy"}
    arrays["n"] = RNG.integers(0, 8, (8, 8)).astype(np.float32)
    arrays["b"] = RNG.standard_normal(8).astype(np.float32)
    got = emulate(module_text(CASES[what][0]), arrays, {"o": arrays["x"]}, tmp_path, rules)["o"]
    x, w, y, b = (arrays[n].astype(np.float64) for n in "xwyb")
    h = x @ w + b
    t = np.maximum(x, 0)
    n = arrays["n"].astype(int)
    want = {
        "bias, matmul, relu in place": np.maximum(h, 0),
        "into another buffer": h + y,
        "two epilogues": np.maximum(h, 0) + y,
        "value needed again": np.maximum(h, 0) + h,
        "reused after being overwritten": np.maximum(h, 0) @ w + b + y,
        "other threads read the target": np.maximum(t @ w + b + t, 0),
        "transposed read of the value": np.maximum(h + h.T, 0),
        "accumulator with a value": t + x @ w,
        "value gathered later": np.take_along_axis(h, n, 1) + np.maximum(h, 0),
        "value gathered at once": np.take_along_axis(np.maximum(h, 0), n, 1),
        "value taken and gathered": np.maximum(h + h[0, 0], 0),
    }[what]
    assert np.abs(got - want).max() < 2e-5


@pytest.mark.parametrize(("groups", "shape"), [(2, (2, 6, 4, 4)), (3, (1, 6, 4, 4))])
def test_group_norm_gathers_statistics_that_its_neighbour_takes(
    groups: int, shape: tuple[int, ...], tmp_path: Path
) -> None:
    model = tmp_path / "model.py"
    model.write_text(
        f"import torch\ndef make():\n    torch.manual_seed(0)\n"
        f"    return torch.nn.GroupNorm({groups}, {shape[1]}), (torch.randn({shape}) * 3 + 1,)\n"
    )
    trace = lower(LowerRequest(ModelRequest(f"{model}:make"), target=Target(chip="sm_90a"), runs=tmp_path / "runs"))
    assert trace.stage("emulate")["status"] == "done"
    assert all(v["ok"] for v in trace.manifest["verdicts"])


def test_every_warp_order_would_show_a_race(tmp_path: Path) -> None:
    """The check itself: an in-place transpose, which no bufferization makes, depends on the order."""
    body = f"""
    linalg.generic {{indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}}
        ins(%o : {M}) outs(%o : {M}) {{ ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }}"""
    arrays = {n: RNG.standard_normal((8, 8)).astype(np.float32) for n in "xwyn"} | {"b": np.zeros(8, np.float32)}
    with pytest.raises(AssertionError, match="depends on the order of warps"):
        emulate(module_text(relu("%x", "%o") + body), arrays, {"o": arrays["x"]}, tmp_path)
