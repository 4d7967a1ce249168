"""Readable kernel names, from what an operation computes and where in the model it came from."""

import re
from collections.abc import Sequence
from typing import Any

from dialects.bindings import Operation, load
from pipelines.mlir.cuda.structured import Structured, dims_of

ir = load("ir")

_PLUMBING = {"arith.constant", "linalg.index", "arith.index_cast", "arith.extf", "arith.truncf", "arith.cmpf"}
_LONGEST = 60
_LOCATION = re.compile(r'"([^"]*)"(:\d+)?')


def computes(view: Structured) -> str:
    """What a structured operation does: `conv2d`, `matmul`, `pool_max`, `reduce_add`, `sub_exp`, `fill`, `copy` ..."""
    ops = [o.operation.name for o in view.payload]
    short = [name.partition(".")[2] for name in ops if name not in _PLUMBING]
    windows = [i for i in range(view.inputs) if _windowed(view, i)]
    if view.reduction:
        spatial = sum(1 for e in view.maps[windows[0]].results if isinstance(e, ir.AffineBinaryExpr)) if windows else 0
        multiplied = "arith.mulf" in ops or "arith.muli" in ops
        folded = _plain(ops[-1].partition(".")[2]) if ops else "any"
        if spatial:
            return f"conv{spatial}d" if multiplied and view.inputs > 1 else f"pool_{folded}"
        if multiplied and folded == "add" and view.inputs > 1:
            return _joined(["matmul"] if len(short) == 2 else [*dict.fromkeys(_plain(s) for s in short[:-2]), "matmul"])
        return f"reduce_{folded}" if len(short) == 1 else _joined([*map(_plain, short[:-1]), f"reduce_{folded}"])
    if not view.outputs:
        return "assert"
    if not short:
        return "copy" if any(view.reads(i) for i in range(view.inputs)) else "fill"
    return _joined(list(dict.fromkeys(_plain(s) for s in short)))


def of_chain(core: Structured, epilogue: Sequence[Structured]) -> str:
    """Name of a kernel: what its core computes, and what follows it."""
    return identifier("_".join(map(computes, (core, *epilogue))))


def source(location: Any) -> str:
    """The name a location carries (a node or module path of the model); "" when it has none."""
    return next((text for text, line in _LOCATION.findall(str(location)) if not line), "")


def source_text(location: Any) -> str:
    """A location as a person reads it: the model's own name, or else the innermost file name and line."""
    files = (text.rpartition("/")[2] + line for text, line in _LOCATION.findall(str(location)) if line)
    return source(location) or next(files, "")


def identifier(text: str) -> str:
    """`text` with everything that PTX does not allow in a name replaced by underscores."""
    return re.sub(r"\W+", "_", text).strip("_")[:_LONGEST]


def of_host(ops: list[Operation]) -> str:
    """Name of a kernel that runs host scalars: `scalar_` and the operations that are not loads or stores."""
    inner = [o.name.partition(".")[2] for o in ops if o.name not in _PLUMBING and not o.name.startswith("memref.")]
    return _joined(["scalar", *dict.fromkeys(map(_plain, inner))])


def _windowed(view: Structured, position: int) -> bool:
    return any(isinstance(e, ir.AffineBinaryExpr) and len(dims_of(e)) > 1 for e in view.maps[position].results)


def _plain(name: str) -> str:
    renamed = {"maximumf": "max", "maxnumf": "max", "minimumf": "min", "minnumf": "min", "maxsi": "max", "minsi": "min"}
    return renamed.get(name) or re.sub(r"(?<=[a-z])(f|i|si|ui)$", "", name) if name not in _KEEP else name


_KEEP = {"erf", "powi", "fpowi", "ori", "xori", "andi"}


def _joined(parts: list[str]) -> str:
    return identifier("_".join(parts[:4]))
