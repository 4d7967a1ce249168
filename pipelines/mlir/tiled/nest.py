"""A linalg operation as plain data: loop sizes, which loops are parallel, and how each operand is indexed."""

import math
from dataclasses import dataclass
from typing import Any

from dialects.bindings import Operation
from pipelines.mlir.tiled.edit import ir

Term = tuple[int, int]
"""A loop and its coefficient, in one index of one operand."""
Index = tuple[Term, ...]
"""One index of an operand: the sum of its terms. Empty for a constant index."""


@dataclass(frozen=True)
class Access:
    """How one operand is read or written: its shape and one index a dimension."""

    shape: tuple[int, ...]
    indices: tuple[Index, ...]

    @property
    def loops(self) -> frozenset[int]:
        """The loops that move this operand."""
        return frozenset(loop for index in self.indices for loop, _ in index)

    def position(self, loop: int) -> int | None:
        """The dimension that `loop` alone walks with step 1, or None."""
        where = [i for i, index in enumerate(self.indices) if index == ((loop, 1),)]
        return where[0] if len(where) == 1 and self._uses(loop) == 1 else None

    def _uses(self, loop: int) -> int:
        return sum(term[0] == loop for index in self.indices for term in index)


@dataclass(frozen=True)
class LoopNest:
    """Loops of a linalg operation, outermost first, with its inputs and outputs.

    `bits` is the width of the widest element that the body handles; `multiplies` says that the body adds a product to
    its output.
    """

    sizes: tuple[int, ...]
    parallel: tuple[bool, ...]
    inputs: tuple[Access, ...]
    outputs: tuple[Access, ...]
    bits: int
    multiplies: bool = False

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Inputs, then outputs."""
        return self.inputs + self.outputs

    @property
    def reductions(self) -> tuple[int, ...]:
        """The loops that are not parallel."""
        return tuple(i for i, p in enumerate(self.parallel) if not p)

    @property
    def iterations(self) -> int:
        """Product of the loop sizes."""
        return math.prod(self.sizes)

    @property
    def windowed(self) -> bool:
        """Whether an input is indexed by a sum of loops, as a convolution or a pool indexes its image."""
        return any(len(index) > 1 for access in self.inputs for index in access.indices)

    @property
    def contraction(self) -> bool:
        """Whether it sums products, as matmul and convolution do."""
        return self.multiplies and not self.elementwise

    @property
    def elementwise(self) -> bool:
        """Whether every loop is parallel."""
        return all(self.parallel)


def read_nest(op: Operation) -> LoopNest | None:
    """The loop nest of a `linalg.generic` on scalars and static ranked tensors; None for anything else."""
    if op.operation.name != "linalg.generic" or any(not _static(v) for v in op.operands):
        return None
    maps = [a.value for a in op.attributes["indexing_maps"]]
    accesses = [_access(value, m) for value, m in zip(op.operands, maps, strict=True)]
    if any(a is None for a in accesses):
        return None
    known = [a for a in accesses if a is not None]
    parallel = tuple("parallel" in str(kind) for kind in op.attributes["iterator_types"])
    sizes = _sizes(known, len(parallel))
    results = len(op.results)
    if sizes is None or results == 0:
        return None
    bits = max(_bits(getattr(v.type, "element_type", v.type)) for v in op.operands)
    return LoopNest(sizes, parallel, tuple(known[:-results]), tuple(known[-results:]), bits, _multiplies(op))


def _multiplies(op: Operation) -> bool:
    """Whether the body is yield(out + a * b), in floats or integers."""
    total = op.regions[0].blocks[0].operations[-1].operands[0].owner
    if isinstance(total, ir.Block) or total.operation.name not in ("arith.addf", "arith.addi"):
        return False
    parts = [v.owner.operation.name for v in total.operands if not isinstance(v.owner, ir.Block)]
    return any(name in ("arith.mulf", "arith.muli") for name in parts)


def _static(value: Any) -> bool:
    return not isinstance(value.type, ir.ShapedType) or (
        isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape
    )


def _bits(element: Any) -> int:
    return 64 if isinstance(element, ir.IndexType) else getattr(element, "width", 64)


def _access(value: Any, affine_map: Any) -> Access | None:
    indices = [_index(e) for e in affine_map.results]
    if any(i is None for i in indices):
        return None
    return Access(tuple(getattr(value.type, "shape", ())), tuple(i for i in indices if i is not None))


def _index(expr: Any) -> Index | None:
    """Terms of a sum of loops times constants; None for anything else (mod, floordiv, an offset)."""
    if isinstance(expr, ir.AffineDimExpr):
        return ((expr.position, 1),)
    if isinstance(expr, ir.AffineConstantExpr):
        return () if expr.value == 0 else None
    if isinstance(expr, ir.AffineMulExpr):
        if isinstance(expr.lhs, ir.AffineDimExpr) and isinstance(expr.rhs, ir.AffineConstantExpr):
            return ((expr.lhs.position, expr.rhs.value),)
        return None
    if isinstance(expr, ir.AffineAddExpr):
        left, right = _index(expr.lhs), _index(expr.rhs)
        return None if left is None or right is None else left + right
    return None


def _sizes(accesses: list[Access], loops: int) -> tuple[int, ...] | None:
    """Loop sizes, from the dimensions that one loop walks alone; None when a loop has no such dimension."""
    sizes = [-1] * loops
    for access in accesses:
        for extent, index in zip(access.shape, access.indices, strict=True):
            if len(index) == 1 and index[0][1] == 1:
                sizes[index[0][0]] = extent
    return None if -1 in sizes else tuple(sizes)
