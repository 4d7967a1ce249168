"""Readable kernel names, from what an operation computes and where in the model it came from."""

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from dialects.bindings import Operation, load
from pipelines.mlir.cuda.structured import Structured, dims_of

ir = load("ir")

_PLUMBING = frozenset(
    ("arith.constant", "arith.index_cast", "arith.extf", "arith.truncf", "arith.cmpf", "arith.cmpi", "linalg.index")
)
_RENAMED = {
    "arith.maximumf": "max", "arith.maxnumf": "max", "arith.maxsi": "max", "arith.minimumf": "min",
    "arith.minnumf": "min", "arith.minsi": "min", "math.erf": "erf", "math.fpowi": "pow", "math.powf": "pow",
    "arith.ori": "or", "arith.andi": "and", "arith.xori": "xor", "cf.assert": "assert",
}  # fmt: skip
_LONGEST = 60
_LOCATION = re.compile(r'"([^"]*)"(:\d+)?')


def computes(view: Structured) -> str:
    """What a structured operation does: `conv2d`, `matmul`, `pool_max`, `reduce_add`, `sub_exp`, `relu`, `copy` ..."""
    if not view.outputs:
        return "assert"
    words = [w for op in view.payload if (w := _word(op.operation))]
    if not view.reduction:
        return _joined(words) if words else _movement(view)
    *inner, folded = words or ["any"]
    contracts = "mul" in inner and folded == "add" and view.inputs > 1
    spatial = max((_window_dims(view, i) for i in range(view.inputs)), default=0)
    if spatial:
        return f"conv{spatial}d" if contracts else f"pool_{folded}"
    if contracts:
        return _joined([*(w for w in inner if w != "mul"), "matmul"])
    return _joined([*inner, f"reduce_{folded}"])


def of_chain(core: Structured, epilogue: Sequence[Structured]) -> str:
    """Name of a kernel: what its core computes, and what follows it."""
    return identifier("_".join(map(computes, (core, *epilogue))))


def shared_source(names: Iterable[str]) -> str:
    """The leading components that dotted names have in common: `layer1` of `layer1.0.conv1` and `layer1.1.conv2`."""
    columns = zip(*(re.split(r"[./]", name) for name in names), strict=False)
    return ".".join(column[0] for column in itertools.takewhile(lambda column: len(set(column)) == 1, columns))


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
    return _joined(["scalar", *dict.fromkeys(inner)])


def _word(op: Operation) -> str:
    """Short name of a payload operation; "" for one that only moves or converts values."""
    if op.name in _PLUMBING:
        return ""
    if op.name == "arith.select" and _is_clamp(op):
        return "relu"
    return _RENAMED.get(op.name) or re.sub(r"(?<=[a-z])(f|si|ui|i)$", "", op.name.partition(".")[2])


def _is_clamp(select: Operation) -> bool:
    """x > c ? x : c, which is how torch.relu and clamp arrive."""
    condition = select.operands[0].owner
    compares = isinstance(condition, ir.Operation | ir.OpView) and condition.name == "arith.cmpf"
    return compares and list(condition.operands) == list(select.operands)[1:]


def _movement(view: Structured) -> str:
    """Name of a payload that computes nothing."""
    read = [i for i in range(view.inputs) if view.reads(i)]
    if not read:
        return "fill"
    source, target = view.maps[read[0]], view.maps[view.inputs]
    dims = [[e.position for e in m.results if isinstance(e, ir.AffineDimExpr)] for m in (source, target)]
    if len(dims[0]) < len(dims[1]):
        return "broadcast"
    return "transpose" if dims[0] != dims[1] else "copy"


def _window_dims(view: Structured, position: int) -> int:
    """How many indices of an operand slide a window: sums of a parallel and a reduction dimension."""
    return sum(1 for e in view.maps[position].results if len(dims_of(e)) > 1)


def _joined(parts: list[str]) -> str:
    return identifier("_".join(list(dict.fromkeys(parts))[:4]))
