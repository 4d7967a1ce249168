"""Matrix products: batches are flattened to one dimension, einsum becomes transposes around a matrix product."""

import math
import string
from dataclasses import dataclass

import numpy as np

from pipelines.importers.onnx.graph import Value
from pipelines.importers.onnx.rewrite import Rewrite
from workbench.core.errors import CompileError


def matmul(r: Rewrite) -> list[Value] | None:
    """At most one batch dimension, the same on both sides. One dimension on a side stays as it is."""
    a, b = r.shape(0), r.shape(1)
    if min(len(a), len(b)) == 1 and max(len(a), len(b)) > 2:
        left = r.op("Unsqueeze", r.input(0), r.ints(0)) if len(a) == 1 else r.input(0)
        right = r.op("Unsqueeze", r.input(1), r.ints(1)) if len(b) == 1 else r.input(1)
        return [r.op("Squeeze", r.op("MatMul", left, right), r.ints(-2 if len(a) == 1 else -1))]
    if max(len(a), len(b)) <= 2 or (len(a) == len(b) == 3 and a[0] == b[0]):
        return None
    if len(b) == 2:
        rows = r.op("Reshape", r.input(0), r.ints(math.prod(a[:-1]), a[-1]), allowzero=1)
        product = r.op("MatMul", rows, r.input(1))
    else:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
        product = r.op("MatMul", _one_batch(r, 0, a, batch), _one_batch(r, 1, b, batch))
    return [r.op("Reshape", product, r.ints(*r.result_shape()), allowzero=1)]


def _one_batch(r: Rewrite, position: int, shape: tuple[int, ...], batch: tuple[int, ...]) -> Value:
    value = r.input(position)
    if shape[:-2] != batch:
        value = r.op("Expand", value, r.ints(*batch, *shape[-2:]))
    return r.op("Reshape", value, r.ints(math.prod(batch), *shape[-2:]), allowzero=1)


@dataclass(frozen=True)
class _Term:
    """An operand of an einsum: one label for each of its dimensions."""

    value: Value
    labels: str


def einsum(r: Rewrite) -> list[Value] | None:
    """Transposes, sums and batched matrix products, two operands at a time. Blanks in the equation mean nothing."""
    terms, output = _parse(r)
    sizes: dict[str, int] = {}
    for position, term in enumerate(terms):
        for label, size in zip(term.labels, r.shape(position), strict=True):
            if sizes.get(label, 1) == 1 or size == sizes[label]:
                sizes[label] = size
            elif size != 1:
                raise CompileError(f"Einsum at node '{r.node.name}': '{label}' is both {sizes[label]} and {size}")
    terms = [
        _spread(r, _diagonal(r, t, r.shape(i)), dict(zip(t.labels, r.shape(i), strict=True)), sizes)
        for i, t in enumerate(terms)
    ]
    while len(terms) > 1:
        later = set(output).union(*(t.labels for t in terms[2:]))
        terms = [_product(r, terms[0], terms[1], later, sizes), *terms[2:]]
    last = _sum_out(r, terms[0], set(output))
    return [_ordered(r, last, output).value]


def _parse(r: Rewrite) -> tuple[list[_Term], str]:
    """Operands and output with one letter a dimension, the ellipsis spelt out in letters the equation lacks."""
    equation = r.options["equation"].replace(" ", "")
    left, arrow, right = equation.partition("->")
    spare = [c for c in string.ascii_letters if c not in equation]
    rest = max(len(r.shape(i)) - len(t.replace("...", "")) for i, t in enumerate(left.split(",")))
    dots = "".join(spare[: max(rest, 0)])
    terms: list[_Term] = []
    for i, text in enumerate(left.split(",")):
        missing = len(r.shape(i)) - len(text.replace("...", ""))
        terms.append(_Term(r.input(i), text.replace("...", dots[len(dots) - missing :])))
    if not arrow:
        letters = "".join(t.labels for t in terms)
        once = sorted(c for c in set(letters) - set(dots) if letters.count(c) == 1)
        return terms, dots + "".join(once)
    return terms, right.replace("...", dots)


def _diagonal(r: Rewrite, term: _Term, shape: tuple[int, ...]) -> _Term:
    """Keep the diagonal of dimensions that share a label."""
    value, labels, sizes = term.value, term.labels, list(shape)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i, j = labels.index(label), labels.rindex(label)
            n = sizes[i]
            rest = [d for d in range(len(labels)) if d not in (i, j)]
            value = r.op("Transpose", value, perm=[*rest, i, j])
            value = r.op("Reshape", value, r.ints(*(sizes[d] for d in rest), n * n), allowzero=1)
            value = r.op("Gather", value, r.ints(*(k * (n + 1) for k in range(n))), axis=-1)
            labels = "".join(labels[d] for d in rest) + label
            sizes = [*(sizes[d] for d in rest), n]
    return _Term(value, labels)


def _spread(r: Rewrite, term: _Term, own: dict[str, int], sizes: dict[str, int]) -> _Term:
    """Repeat dimensions of size one that stand against larger ones."""
    shape = [sizes[label] for label in term.labels]
    if all(own[label] == sizes[label] for label in term.labels):
        return term
    return _Term(r.op("Expand", term.value, r.ints(*shape)), term.labels)


def _sum_out(r: Rewrite, term: _Term, wanted: set[str]) -> _Term:
    gone = [i for i, label in enumerate(term.labels) if label not in wanted]
    if not gone:
        return term
    value = r.op("ReduceSum", term.value, r.ints(*gone), keepdims=0)
    return _Term(value, "".join(label for label in term.labels if label in wanted))


def _ordered(r: Rewrite, term: _Term, labels: str) -> _Term:
    if term.labels == labels:
        return term
    return _Term(r.op("Transpose", term.value, perm=[term.labels.index(c) for c in labels]), labels)


def _product(r: Rewrite, a: _Term, b: _Term, later: set[str], sizes: dict[str, int]) -> _Term:
    """Multiply two operands and sum over the labels that nothing needs any more."""
    a = _sum_out(r, a, later | set(b.labels))
    b = _sum_out(r, b, later | set(a.labels))
    batch = "".join(c for c in a.labels if c in b.labels and c in later)
    inner = "".join(c for c in a.labels if c in b.labels and c not in later)
    rows = "".join(c for c in a.labels if c not in b.labels)
    columns = "".join(c for c in b.labels if c not in a.labels)

    def extent(labels: str) -> int:
        return math.prod(sizes[c] for c in labels)

    left = _ordered(r, a, batch + rows + inner).value
    right = _ordered(r, b, batch + inner + columns).value
    left = r.op("Reshape", left, r.ints(extent(batch), extent(rows), extent(inner)), allowzero=1)
    right = r.op("Reshape", right, r.ints(extent(batch), extent(inner), extent(columns)), allowzero=1)
    labels = batch + rows + columns
    shape = r.ints(*(sizes[c] for c in labels))
    return _Term(r.op("Reshape", r.op("MatMul", left, right), shape, allowzero=1), labels)
