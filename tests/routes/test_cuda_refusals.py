"""The CUDA leg where it cannot go on: refusals that name the operation, unknown chips, tools that are not there."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pipelines.mlir.cuda.chips import PTX_OF
from tests.routes.leg import elementwise, random, run_leg
from workbench.core import tools
from workbench.core.errors import CompileError, ToolMissing, UsageError, WorkbenchError
from workbench.core.kinds import IRKind

REFUSALS = {
    "dynamic shape": (
        "func.func @main(%x: memref<?xf32>, %o: memref<?xf32>) "
        "{ linalg.copy ins(%x : memref<?xf32>) outs(%o : memref<?xf32>) return }",
        r"memref<\?xf32> has a size that is only known at run time",
    ),
    "control flow": (
        """func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          scf.for %i = %c0 to %c1 step %c1 { linalg.copy ins(%x : memref<4xf32>) outs(%o : memref<4xf32>) }
          return }""",
        r"scf.for at .* runs linalg.\w+ on the host",
    ),
    "call": (
        """func.func private @other(memref<4xf32>)
        func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) { call @other(%x) : (memref<4xf32>) -> () return }""",
        r"func.call at .* cannot run it on the host",
    ),
    "branches": (
        """func.func @main(%x: memref<i1>, %o: memref<i1>) {
          %c = memref.load %x[] : memref<i1>
          cf.cond_br %c, ^a, ^b
          ^a: return
          ^b: return }""",
        r"cf.cond_br on the host",
    ),
    "run-time offset": (
        """func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) {
          %n = memref.alloc() : memref<index>
          %i = memref.load %n[] : memref<index>
          %v = memref.subview %x[%i] [4] [1] : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
          memref.copy %v, %o : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
          return }""",
        r"memref.subview at .* takes a size or an offset that is computed at run time",
    ),
    "input written": (
        """func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) {
          linalg.copy ins(%o : memref<4xf32>) outs(%x : memref<4xf32>) return }""",
        r"step 0 \(copy\): writes to input 0",
    ),
    "two functions": (
        "func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) { return } func.func @more() { return }",
        r"one function with a body",
    ),
    "no device form": (elementwise("i32", "%r = math.ipowi %x, %y : i32"), r"math.ipowi at .* has no NVVM lowering"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refusals_name_the_operation(what: str, tmp_path: Path) -> None:
    text, says = REFUSALS[what]
    dtype = np.int32 if "i32" in text else np.float32
    arrays = {"x": np.zeros(4, dtype)} if "%x: m" in text else {"a": np.ones(300, dtype), "b": np.ones(300, dtype)}
    with pytest.raises((CompileError, UsageError), match=says) as caught:
        run_leg(text, arrays, {"o": next(iter(arrays.values()))}, tmp_path)
    assert "\n" not in str(caught.value)


def test_unknown_chip_lists_the_known_ones(tmp_path: Path) -> None:
    x = random(300)
    with pytest.raises(UsageError, match=r"unknown chip 'sm_42'; known chips: sm_70, .*sm_121f"):
        run_leg(elementwise("f32", "%r = arith.addf %x, %y : f32"), {"a": x, "b": x}, {"o": x}, tmp_path, chip="sm_42")


def test_no_chip_skips_the_leg(tmp_path: Path) -> None:
    x = random(300)
    _, skips = run_leg(
        elementwise("f32", "%r = arith.addf %x, %y : f32"), {"a": x, "b": x}, {"o": x}, tmp_path, chip=""
    )
    assert "no chip was named" in skips.reasons["gpu-map"]


def test_every_known_chip_reaches_ptx() -> None:
    """In a process of its own: a wrong pair of chip and PTX version would abort it."""
    script = (
        "from dialects.bindings import inside, parse, run_pipeline\n"
        "from pipelines.mlir.cuda import nvvm\n"
        "from pipelines.mlir.cuda.chips import PTX_OF, chip\n"
        "text = 'gpu.module @k { gpu.func @f(%m: memref<4xf32>, %v: f32) kernel {"
        " %i = gpu.thread_id x memref.store %v, %m[%i] : memref<4xf32> gpu.return } }'\n"
        "for name in PTX_OF:\n"
        "    module = parse(text)\n"
        "    with inside(module):\n"
        "        run_pipeline(module, f'builtin.module({nvvm.nvvm_pipeline(chip(name), module)})')\n"
        "        ptx = nvvm.to_ptx(module, chip(name), None)\n"
        "    assert f'.target {name}' in ptx, name\n"
        "    print(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == list(PTX_OF), done.stderr[-500:]


@pytest.mark.parametrize("tool", ["PTXAS", "NVDISASM"])
def test_missing_tool_skips_unless_the_chip_was_asked_for(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = tools.Tool(f"no-{tool.lower()}", "nowhere", "bin", "pip install -e '.[cuda]' (in the checkout)")
    monkeypatch.setattr(f"pipelines.mlir.cuda.tools.{tool}", absent)
    x = random(300)
    text, arrays = elementwise("f32", "%r = arith.addf %x, %y : f32"), {"a": x, "b": x}
    made, skips = run_leg(text, arrays, {"o": x}, tmp_path, require_cuda=False)
    assert "pip install" in skips.reasons["sass"]
    assert IRKind.PTX in made
    with pytest.raises(ToolMissing, match="pip install"):
        run_leg(text, arrays, {"o": x}, tmp_path)


def test_old_chip_stops_at_ptx_with_a_reason(tmp_path: Path) -> None:
    x = random(300)
    text, arrays = elementwise("f32", "%r = arith.addf %x, %y : f32"), {"a": x, "b": x}
    made, skips = run_leg(text, arrays, {"o": x}, tmp_path, chip="sm_70", require_cuda=False)
    assert ".target sm_70" in made[IRKind.PTX].text
    assert "does not know sm_70" in skips.reasons["sass"]


def test_missing_libdevice_matters_only_where_math_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Path:
        raise ToolMissing("libdevice.10.bc is not on this machine; run: pip install -e '.[cuda]' (in the checkout)")

    monkeypatch.setattr("pipelines.mlir.cuda.tools.libdevice_toolkit", absent)
    x = random(300)
    made, _ = run_leg(elementwise("f32", "%r = arith.addf %x, %y : f32"), {"a": x, "b": x}, {"o": x}, tmp_path)
    assert IRKind.PTX in made
    with pytest.raises(WorkbenchError, match="libdevice"):
        run_leg(elementwise("f32", "%r = math.exp %x : f32"), {"a": x, "b": x}, {"o": x}, tmp_path)
