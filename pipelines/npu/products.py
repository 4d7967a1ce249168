"""Products in linalg that the array can compute, with all that goes with them; and for the others, why not."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from byoc.systolic.gemm import Conv2d, Gemm, Work
from byoc.systolic.machine import ACCUMULATOR_DTYPE, Machine
from dialects.bindings import Operation
from dialects.npu.areas import DTYPES
from pipelines.mlir.tiled.edit import defining, ir, maps_of
from pipelines.npu.elementwise import Step, scalar, steps_of
from pipelines.npu.epilogue import Fused, fuse

MATMULS = ("linalg.matmul", "linalg.batch_matmul")
QUANTISED = ("linalg.quantized_matmul", "linalg.quantized_batch_matmul")
"""Products of integers less a zero point each; operands are a, b, the zero points, and what the sums start from."""
CONVOLUTIONS = {"linalg.conv_2d_nchw_fchw": "nchw", "linalg.conv_2d_nhwc_hwcf": "nhwc"}
EXACT_SUM = 2**31 // 2**14
"""As many products of int8 as surely fit an int32."""


@dataclass(frozen=True)
class Product:
    """A product in the IR as work for the array.

    `layout` is the model's, "nchw" or "nhwc" for a convolution; the array's is nhwc. `a`, `b`, and where the epilogue
    has them `bias` and `scale`, are tensors of the model; `covered` the operations that `work` replaces, in order, the
    last of which gives `result`.
    """

    work: Work
    layout: str
    a: Any
    b: Any
    fused: Fused
    covered: tuple[Operation, ...]

    @property
    def anchor(self) -> Operation:
        """The product itself."""
        return self.covered[0]

    @property
    def result(self) -> Any:
        """The value that the work gives."""
        return self.covered[-1].results[0]


def read_product(op: Operation, machine: Machine) -> Product | str:
    """The work of a linalg product, or one line that says why this machine cannot do it."""
    a, b = _operands(op, machine)
    reason = _missing(op, machine) or _shape_reason(op) or _type_reason(op, a, b, machine)
    if reason:
        return reason
    layout, dtype = CONVOLUTIONS.get(op.name, ""), _dtype(a)
    channel = 1 if layout == "nchw" else op.results[0].type.rank - 1
    start = _start(op, channel)
    if start is None:
        return "it adds to a tensor that is neither zero nor a bias; add it after the product"
    fused, followers = _fused(op, channel, start, dtype)
    if fused.count < len(start):
        return "it adds to a bias in int64; the array's is int32"
    work = _work(op, layout, dtype, fused)
    if fused.wide and work.matrix.k >= EXACT_SUM:
        return f"it sums {work.matrix.k} products in int64, which may not fit the array's int32"
    return Product(work, layout, a, b, fused, (op, *followers))


def _missing(op: Operation, machine: Machine) -> str:
    kind = "conv2d" if "conv" in op.name else "matmul"
    return "" if kind in machine.operations else f"{machine.name} has no {kind}; it has {', '.join(machine.operations)}"


def _fused(op: Operation, channel: int, start: list[Step], dtype: str) -> tuple[Fused, list[Operation]]:
    """As much of what follows as the vector unit can do, in whole operations: the epilogue, and they."""
    followers, counts, steps = _followers(op, channel)
    wide, kept = _dtype(op.results[0]) == "int64", len(steps)
    while True:
        fused = fuse([*start, *steps[:kept]], dtype, wide)
        done = max(0, fused.count - len(start))
        used = _whole(done, counts)
        kept = sum(counts[:used])
        if kept == done:
            return fused, followers[:used]


def is_product(op: Operation) -> bool:
    """Whether an operation multiplies and sums: something an array could be asked for."""
    if op.name == "linalg.generic":
        body = [o.operation.name for o in op.regions[0].blocks[0].operations]
        sums = any(str(i) == "#linalg.iterator_type<reduction>" for i in op.attributes["iterator_types"])
        return (
            sums
            and len(op.operands) > 2
            and body[-3:-1] in (["arith.mulf", "arith.addf"], ["arith.muli", "arith.addi"])
        )
    return op.name.startswith("linalg.") and any(
        word in op.name for word in ("matmul", "conv_", "matvec", "vecmat", "dot")
    )


def multiplies(op: Operation) -> int:
    """Multiply-accumulates of a product; 0 when a size is not known."""
    shapes = [list(v.type.shape) for v in op.operands if isinstance(v.type, ir.RankedTensorType)]
    if any(n < 0 for shape in shapes for n in shape):
        return 0
    if "conv" in op.name:
        # Every weight is used once for every image and pixel of the output.
        spatial = int(op.name.partition("conv_")[2][0])
        first = 1 if "_n" in op.name and "wc_" in op.name else len(shapes[2]) - spatial
        return math.prod(shapes[1]) * shapes[2][0] * math.prod(shapes[2][first : first + spatial])
    if op.name == "linalg.generic":
        extents: dict[int, int] = {}
        for shape, indexing in zip(shapes, maps_of(op), strict=True):
            for size, expression in zip(shape, indexing.results, strict=True):
                if isinstance(expression, ir.AffineDimExpr):
                    extents[ir.AffineDimExpr(expression).position] = size
        return math.prod(extents.values())
    return math.prod(shapes[2]) * shapes[0][-1]


def _dtype(value: Any) -> str:
    return DTYPES.get(str(value.type.element_type), str(value.type.element_type))


def _shape_reason(op: Operation) -> str:
    for value in (v for v in op.operands if isinstance(v.type, ir.RankedTensorType)):
        if not value.type.has_static_shape:
            return f"its sizes are not static: {value.type}"
        if 0 in value.type.shape:
            return f"it has no elements: {value.type}"
    if op.name in MATMULS:
        rank = op.operands[0].type.rank
        wanted = [f"(d0, d{rank})", f"(d{rank}, d{rank - 1})", f"(d0, d{rank - 1})"]
        if rank == 3:
            wanted = ["(d0, d1, d3)", "(d0, d3, d2)", "(d0, d1, d2)"]
        if [str(m).partition("-> ")[2] for m in maps_of(op)] != wanted:
            return "an operand is transposed or broadcast in place; transpose it before the product"
        return ""
    if op.name in CONVOLUTIONS:
        dilation = tuple(ir.DenseIntElementsAttr(op.attributes["dilations"]))
        return (
            f"it is dilated by {dilation[0]}x{dilation[1]}; the array has windows without gaps"
            if set(dilation) != {1}
            else ""
        )
    if "depthwise" in op.name:
        return "it is depthwise: each channel is a product of one column, of which the array would use no other"
    if "gfchw" in op.name or "fgc" in op.name or "ngc" in op.name:
        return "it is grouped; the array computes convolutions of all channels"
    if op.name in QUANTISED:
        zeros = all(scalar(zero) == 0 for zero in list(op.operands)[2:4])
        return "" if zeros else "its operands have zero points; the array multiplies integers as they are"
    return f"no pattern of the array is a {op.name.removeprefix('linalg.')}; it has matmul, batch_matmul, conv_2d"


def _type_reason(op: Operation, a: Any, b: Any, machine: Machine) -> str:
    dtype, other, sums = _dtype(a), _dtype(b), _dtype(op.results[0])
    if dtype != other or dtype not in machine.dtypes:
        what = dtype if dtype == other else f"{dtype} by {other}"
        return f"it multiplies {what}; {machine.name} multiplies {', '.join(machine.dtypes)}"
    if "cast" in op.attributes and "unsigned" in str(op.attributes["cast"]):
        return "its operands are unsigned; the array's are signed"
    if sums != ACCUMULATOR_DTYPE[dtype] and (dtype, sums) != ("int8", "int64"):
        return f"it sums {dtype} in {sums}; the array sums it in {ACCUMULATOR_DTYPE[dtype]}"
    return ""


def _operands(op: Operation, machine: Machine) -> tuple[Any, Any]:
    """The factors: as narrow as they were before something widened them, if the machine multiplies that."""
    a, b = (_widened(v) for v in op.operands[:2])
    if _dtype(a) == _dtype(b) and _dtype(a) in machine.dtypes:
        return a, b
    return op.operands[0], op.operands[1]


def _widened(value: Any) -> Any:
    """The narrow tensor whose elements `value` has in a wider type, or `value` itself."""
    op = defining(value, "linalg.generic")
    if op is None or len(op.operands) != 2:
        return value
    steps = steps_of(op, op.operands[0], 0)
    widens = steps is not None and len(steps) == 1 and steps[0].name in ("extsi i32", "extsi i64", "extf f32")
    return op.operands[0] if widens else value


def _start(op: Operation, channel: int) -> list[Step] | None:
    """What the sums start from: nothing for zero, or a bias added to them; None for anything else."""
    value = op.operands[len(op.operands) - 1]
    fill = defining(value, "linalg.fill")
    if fill is not None:
        return [] if scalar(fill.operands[0]) == 0 else None
    spread = defining(value, "linalg.broadcast")
    if spread is not None and spread.operands[0].type.rank == 1:
        others = [d for d in range(value.type.rank) if d != channel]
        if list(ir.DenseI64ArrayAttr(spread.attributes["dimensions"])) == others:
            return [Step("add", vector=spread.operands[0])]
    return [] if scalar(value) == 0 else None


def _followers(op: Operation, channel: int) -> tuple[list[Operation], list[int], list[Step]]:
    """Elementwise operations, each the only reader of the one before it: they, how many steps each has, the steps."""
    found: list[Operation] = []
    counts: list[int] = []
    steps: list[Step] = []
    value = op.results[0]
    while len(uses := list(value.uses)) == 1:
        reader = uses[0].owner.operation
        here = steps_of(reader, value, channel)
        if here is None or uses[0].operand_number == len(reader.operands) - 1:
            break
        found.append(reader)
        counts.append(len(here))
        steps += here
        value = reader.results[0]
    return found, counts, steps


def _whole(wanted: int, counts: Sequence[int]) -> int:
    """How many operations, of so many steps each, have no more than the `wanted` steps."""
    return sum(total <= wanted for total in itertools.accumulate(counts))


def _work(op: Operation, layout: str, dtype: str, fused: Fused) -> Work:
    first, second = (list(v.type.shape) for v in op.operands[:2])
    if not layout:
        batch, (m, k), n = (first[0] if len(first) == 3 else 1), first[-2:], second[-1]
        return Gemm(m, k, n, dtype, batch, epilogue=fused.epilogue)
    strides = tuple(ir.DenseIntElementsAttr(op.attributes["strides"]))
    n, c, h, w = first if layout == "nchw" else (first[0], first[3], first[1], first[2])
    oc, kh, kw = (second[0], *second[2:]) if layout == "nchw" else (second[3], *second[:2])
    return Conv2d(n, h, w, c, oc, kh, kw, (strides[0], strides[1]), dtype, fused.epilogue)
