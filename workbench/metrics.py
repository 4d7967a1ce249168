"""Facts counted in IR text: operations by name. Works on what is on disk, without a compiler."""

import re
from collections import Counter

from workbench.core.kinds import IRKind

_MLIR_OP = re.compile(r'^\s*(?:%[^=\n]*= )?"?([a-z_][a-z0-9_]*\.[a-z_][a-z0-9_.]*)', re.MULTILINE)
_LLVM_OP = re.compile(r"^  (?:%[\w.]+ = )?(?:tail |musttail )?([a-z]+)\b", re.MULTILINE)
_ASM_OP = re.compile(r"^\t([a-z][a-z0-9]*)\b", re.MULTILINE)
_PTX_OP = re.compile(r"^\t(?:@!?%p\d+ )?([a-z]\w*(?:\.[a-z_]+)?)[\w.:]*\s", re.MULTILINE)
_SASS_OP = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][A-Z0-9_]*)", re.MULTILINE)


def count_ops(text: str, kind: IRKind = IRKind.LINALG) -> dict[str, int]:
    """Operations (or instructions) in `text` by name, most frequent first."""
    if kind in (IRKind.PLAN, IRKind.FX, IRKind.ONNX, IRKind.SOURCE, IRKind.RESULT):
        return {}
    pattern = {IRKind.LLVM_IR: _LLVM_OP, IRKind.ASM: _ASM_OP, IRKind.PTX: _PTX_OP, IRKind.SASS: _SASS_OP}.get(
        kind, _MLIR_OP
    )
    return dict(Counter(pattern.findall(text)).most_common())


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
