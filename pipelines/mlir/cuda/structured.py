"""A read-only view of one `linalg.generic` on buffers: loop extents, indexing maps, and what its reduction computes."""

import math
from dataclasses import dataclass
from typing import Any

from dialects.bindings import Operation, load
from workbench.core.errors import CompileError

ir = load("ir")

VIEWS = frozenset(
    f"memref.{name}" for name in ("cast", "collapse_shape", "expand_shape", "reinterpret_cast", "subview", "view")
)
"""Operations that give another shape to the same memory."""

ASSOCIATIVE = {
    "arith.addf": 0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": -math.inf,
    "arith.maxnumf": -math.inf,
    "arith.minimumf": math.inf,
    "arith.minnumf": math.inf,
}
"""Combiners of float reductions that lanes may share, and their neutral elements."""


@dataclass(frozen=True)
class Structured:
    """One `linalg.generic`: iteration space `extents`, split into `parallel` and `reduction` dimension numbers.

    `maps[i]` takes a loop point to an element of `operands[i]`; the first `inputs` operands are read only.
    `parallel` is ordered so that the last dimension is the one that runs fastest in the output's memory. An operation
    may have no outputs: then it only asserts.
    """

    op: Operation
    operands: tuple[Any, ...]
    inputs: int
    maps: tuple[Any, ...]
    extents: tuple[int, ...]
    parallel: tuple[int, ...]
    reduction: tuple[int, ...]

    @property
    def body(self) -> Any:
        """The payload block; its arguments are one element of each operand."""
        return self.op.regions[0].blocks[0]

    @property
    def payload(self) -> list[Operation]:
        """The payload's operations without the terminator."""
        return list(self.body.operations)[:-1]

    @property
    def yields(self) -> list[Any]:
        """What the payload yields, one value an output."""
        return list(self.body.operations[len(self.body.operations) - 1].operands)

    @property
    def outputs(self) -> range:
        """Positions of the outputs among the operands."""
        return range(self.inputs, len(self.operands))

    @property
    def captured(self) -> list[tuple[Any, str]]:
        """Buffers that the payload uses beside the elements it is given, each with the name of the using operation."""
        return _buffers_used(self.op.regions[0])

    def points(self, dims: tuple[int, ...]) -> int:
        """How many points the given dimensions span."""
        return math.prod(self.extents[d] for d in dims)

    def reads(self, position: int) -> bool:
        """Whether the payload uses the element of this operand."""
        return any(True for _ in self.body.arguments[position].uses)

    def depends(self, position: int, dim: int) -> bool:
        """Whether the element of this operand changes along `dim`."""
        return any(dim in dims_of(e) for e in self.maps[position].results)

    def combiner(self) -> str | None:
        """Name of the associative operation that folds a value into the single f32 output, or None."""
        if len(self.outputs) != 1 or not self.reduction:
            return None
        accumulator = self.body.arguments[self.inputs]
        uses = [use.owner.operation for use in accumulator.uses]
        last = self.payload[-1].operation if self.payload else None
        if last is None or uses != [last] or not isinstance(accumulator.type, ir.F32Type):
            return None
        return str(last.name) if last.name in ASSOCIATIVE and list(last.results) == self.yields else None


def _buffers_used(region: Any) -> list[tuple[Any, str]]:
    found: list[tuple[Any, str]] = []
    for block in region.blocks:
        for op in block.operations:
            operation = op.operation
            found += [(v, str(operation.name)) for v in operation.operands if isinstance(v.type, ir.MemRefType)]
            for nested in operation.regions:
                found += _buffers_used(nested)
    return found


def dims_of(expr: Any) -> set[int]:
    """Dimension numbers in an affine expression."""
    if isinstance(expr, ir.AffineDimExpr):
        return {expr.position}
    if isinstance(expr, ir.AffineBinaryExpr):
        return dims_of(expr.lhs) | dims_of(expr.rhs)
    return set()


def structured(op: Operation) -> Structured:
    """View a `linalg.generic` on statically shaped buffers; raises CompileError naming what cannot be mapped."""
    generic = op.operation
    operands = tuple(generic.operands)
    maps = tuple(ir.AffineMapAttr(a).value for a in ir.ArrayAttr(generic.attributes["indexing_maps"]))
    iterators = ["parallel" in str(a) for a in ir.ArrayAttr(generic.attributes["iterator_types"])]
    extents = _extents(generic, operands, maps, len(iterators))
    inputs = ir.DenseI32ArrayAttr(generic.attributes["operandSegmentSizes"])[0]
    parallel = tuple(d for d, p in enumerate(iterators) if p)
    written = [d for m in maps[inputs : inputs + 1] for e in m.results for d in sorted(dims_of(e))]
    order = {d: i for i, d in enumerate(written)}
    return Structured(
        op=generic,
        operands=operands,
        inputs=inputs,
        maps=maps,
        extents=extents,
        parallel=tuple(sorted(parallel, key=lambda d: order.get(d, -1))),
        reduction=tuple(d for d, p in enumerate(iterators) if not p),
    )


def _extents(op: Operation, operands: tuple[Any, ...], maps: tuple[Any, ...], rank: int) -> tuple[int, ...]:
    found: dict[int, int] = {}
    for operand, indexing in zip(operands, maps, strict=True):
        if not isinstance(operand.type, ir.MemRefType):
            continue
        for size, expr in zip(static_shape(operand), indexing.results, strict=True):
            if isinstance(expr, ir.AffineDimExpr):
                found[expr.position] = size
    missing = [d for d in range(rank) if d not in found]
    if missing:
        raise CompileError(
            f"linalg.generic at {op.location}: no operand gives the size of loop {missing[0]}; "
            "run linalg-generalize-named-ops on a form with explicit window operands"
        )
    return tuple(found[d] for d in range(rank))


def static_shape(value: Any) -> list[int]:
    """Shape of a memref value; raises CompileError when a size is not known at compile time."""
    kind = ir.MemRefType(value.type)
    if not kind.has_static_shape:
        raise CompileError(f"{kind} has a size that is only known at run time; give every symbolic size a value")
    return list(kind.shape)
