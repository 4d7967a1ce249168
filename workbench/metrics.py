"""Facts counted in IR text: operations by name. Works on what is on disk, without a compiler."""

import re
from collections import Counter
from collections.abc import Iterator

from workbench.core.kinds import IRKind

_MLIR_OP = re.compile(r'^\s*(?:%[^=\n]*= )?"?([a-z_][a-z0-9_]*\.[a-z_][a-z0-9_.]*)', re.MULTILINE)
_LLVM_OP = re.compile(r"^  (?:%[\w.]+ = )?(?:tail |musttail )?([a-z]+)\b", re.MULTILINE)
_ASM_OP = re.compile(r"^\t([a-z][a-z0-9]*)\b", re.MULTILINE)
_PTX_OP = re.compile(r"^\t(?:@!?%p\d+ )?([a-z]\w*(?:\.[a-z_]+)?)[\w.:]*\s", re.MULTILINE)
_SASS_OP = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][A-Z0-9_]*)", re.MULTILINE)
_RELAY_OP = re.compile(r"^\s+(?:%\w+ = )?(?!fn\b|if\b)([a-z][\w.]*)\(", re.MULTILINE)
_SYSTOLIC_OP = re.compile(r"^ *\d+: (\w+)", re.MULTILINE)
_TIR_LOOP = re.compile(r"^ *for [\w, ]+ in (?:T\.)?(\w+)\(", re.MULTILINE)
_TIR_STORE = re.compile(r"^ *\w+\[.*?\] = ", re.MULTILINE)
_RELAX_OP = re.compile(
    r"\bR\.(?!(?:func_attr|dataflow|output|const|shape|dtype|str|prim_value|tuple|function)\b)([a-z][\w.]*)\("
)
_TIR_CALL = re.compile(
    r"\bT\.(?!(?:u?int|b?float|bool|handle|Buffer|func_attr|target|parallel|vectorized|unroll|serial|grid"
    r"|prim_func|reads|writes|init)\w*\()(\w+)\("
)

_PATTERN = {
    IRKind.RELAY: _RELAY_OP,
    IRKind.LLVM_IR: _LLVM_OP,
    IRKind.ASM: _ASM_OP,
    IRKind.PTX: _PTX_OP,
    IRKind.SASS: _SASS_OP,
    IRKind.PROGRAM: _SYSTOLIC_OP,
}


def count_ops(text: str, kind: IRKind = IRKind.LINALG) -> dict[str, int]:
    """Operations (or instructions) in `text` by name, most frequent first."""
    if kind in (IRKind.PLAN, IRKind.CUDA, IRKind.FX, IRKind.ONNX, IRKind.SOURCE, IRKind.RESULT):
        return {}
    if kind is IRKind.TIR:
        return dict(Counter(_tir_ops(text)).most_common())
    if kind in (IRKind.RELAX, IRKind.RELAX_VM):
        return dict(Counter([*_RELAX_OP.findall(text), *_tir_ops(text)]).most_common())
    return dict(Counter(_PATTERN.get(kind, _MLIR_OP).findall(text)).most_common())


def _tir_ops(text: str) -> Iterator[str]:
    """Loops by how they run (`for.range`, `for.parallel` ...), stores, and the intrinsics that TIR calls."""
    yield from (f"for.{how}" for how in _TIR_LOOP.findall(text))
    yield from ("store" for _ in _TIR_STORE.finditer(text))
    yield from _TIR_CALL.findall(text)


def delta(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """Change of each count, zero changes left out."""
    names = before.keys() | after.keys()
    return {n: d for n in sorted(names) if (d := after.get(n, 0) - before.get(n, 0))}


def dialects(ops: dict[str, int]) -> dict[str, int]:
    """Operation counts summed by dialect (the part before the first dot)."""
    out: Counter[str] = Counter()
    for name, n in ops.items():
        out[name.partition(".")[0]] += n
    return dict(out.most_common())
