"""The rooms and their arrows: who may import whom, and what `import workbench` may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MAY_IMPORT = {
    "workbench.core": {"workbench.core"},
    "workbench": {"workbench"},
    "dialects": {"dialects", "workbench.core"},
    "models": {"models", "workbench.core", "workbench.catalog"},
    "pipelines": {
        *("pipelines", "dialects", "byoc", "models.load", "workbench.core", "workbench.launch", "workbench.numerics")
    },
    "byoc": {"byoc", "dialects", "workbench.core"},
}
COMPILERS = {"mlir", "torch_mlir", "tvm", "torch", "onnx", "iree", "triton"}


def imports_of(path: Path) -> set[str]:
    """Modules a file imports, at any depth."""
    out: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            out |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            out.add(node.module)
    return out


def room_of(module: str) -> str:
    return "workbench.core" if module.startswith("workbench.core") else module.partition(".")[0]


def inside(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".")


@pytest.mark.parametrize(
    "path",
    sorted(p for r in ("workbench", "dialects", "models", "pipelines", "byoc") for p in (ROOT / r).rglob("*.py")),
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_imports_go_one_way(path: Path) -> None:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    allowed = MAY_IMPORT[room_of(module)]
    rooms = ("workbench", "dialects", "models", "pipelines", "byoc")
    ours = {m for m in imports_of(path) if any(inside(m, r) for r in rooms)}
    wrong = {m for m in ours if not any(inside(m, a) for a in allowed)}
    assert not wrong, f"{module} imports {sorted(wrong)}; it may import {sorted(allowed)}"


def test_core_imports_no_compiler() -> None:
    for path in (ROOT / "workbench").rglob("*.py"):
        loaded = {m.partition(".")[0] for m in imports_of(path)} & COMPILERS
        assert not loaded, f"{path.relative_to(ROOT)} imports {loaded}"


def test_help_loads_no_compiler_and_is_quick() -> None:
    script = (
        "import sys, time; t = time.process_time(); import workbench.cli.main; "
        "print(time.process_time() - t); print(' '.join(sys.modules))"
    )
    best = 9.0
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        taken, modules = done.stdout.splitlines()
        best = min(best, float(taken))
        assert not {m.partition(".")[0] for m in modules.split()} & COMPILERS
    assert best < 0.3, f"importing the command line took {best:.2f} s"
