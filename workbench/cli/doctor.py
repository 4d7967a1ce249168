"""`workbench doctor`: what will run on this machine, what won't, and the one line that fixes it."""

import importlib.util
import sys
from dataclasses import asdict, dataclass

from rich.table import Table

from workbench.cli.console import JsonOption, out, print_json
from workbench.core.tools import ALL, package_folder
from workbench.toolchain import TOOLCHAINS, default_root


@dataclass(frozen=True)
class Check:
    """One thing a route needs: whether it is there, where, and the line that brings it."""

    what: str
    needed_for: str
    ok: bool
    detail: str
    fix: str


_PACKAGES = (
    ("torch", "import", "every model"),
    ("torch_mlir", "import", "import to linalg"),
    ("onnx", "import", "ONNX models"),
    ("mlir", "mlir", "every MLIR stage after linalg"),
    ("tvm", "tvm", "the tvm route: Relay, TIR, Ansor, AutoTVM"),
    ("xgboost", "tvm", "tuning: the cost models of Ansor and AutoTVM"),
    ("cuda.core", "gpu", "running GPU bundles (on a machine with a GPU)"),
    ("onnxruntime", "bench", "benchmarks against onnxruntime"),
)


def checks() -> list[Check]:
    """Everything the routes need, in the order they need it. Loads no compiler."""
    out: list[Check] = []
    version = sys.version_info
    ok = (3, 11) <= version < (3, 14)
    out.append(Check("python", "everything", ok, f"{version.major}.{version.minor}", "use Python 3.11 to 3.13"))
    for name, extra, purpose in _PACKAGES:
        found = _installed(name)
        out.append(
            Check(
                name,
                purpose,
                found,
                "installed" if found else "missing",
                f"pip install -e '.[{extra}]' (in the checkout)",
            )
        )
    for tool in ALL:
        path = tool.find()
        purpose = "SASS" if tool.name in ("ptxas", "nvdisasm") else "host code"
        out.append(Check(tool.name, purpose, path is not None, str(path or "missing"), tool.fix))
    folder = package_folder("nvidia.cu13")
    libdevice = folder / "nvvm" / "libdevice" / "libdevice.10.bc" if folder else None
    there = libdevice is not None and libdevice.exists()
    out.append(
        Check(
            "libdevice",
            "math functions in PTX",
            there,
            str(libdevice) if there else "missing",
            "pip install -e '.[cuda]' (in the checkout)",
        )
    )
    root = default_root()
    for toolchain in TOOLCHAINS.values():
        problem = toolchain.problem(root)
        detail = problem or str(root / toolchain.name)
        out.append(
            Check(f"toolchain {toolchain.name}", toolchain.summary, not problem, detail, toolchain.install_command)
        )
    return out


def command(json: JsonOption = False) -> None:
    """Say what will run on this machine."""
    found = checks()
    if json:
        print_json([asdict(c) for c in found])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "what", "for", "found", "fix"):
        table.add_column(column, overflow="fold")
    for c in found:
        mark = "[green]ok[/]" if c.ok else "[red]no[/]"
        table.add_row(mark, c.what, c.needed_for, c.detail, "" if c.ok else c.fix.replace("[", "\\["))
    out.print(table)


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
