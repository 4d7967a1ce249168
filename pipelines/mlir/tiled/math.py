"""exp, tanh and erf as polynomials in float32, for scalars and vectors alike.

The C library has them one number at a time; a polynomial vectorizes. Errors stay within 3 units in the last place.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dialects.bindings import Module, Operation
from pipelines.mlir.tiled.edit import create, ir, ops_named

EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
"""Cephes expf: exp(r) = 1 + r + r^2 p(r) for |r| <= ln(2)/2, highest power first."""
TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
"""Cephes tanhf: tanh(x) = x + x^3 p(x^2) for |x| < 0.625."""
ERF_SMALL = (-7.5757575758e-4, 4.6296296296e-3, -2.3809523810e-2, 1.0e-1, -3.3333333333e-1, 1.0)
"""Taylor: erf(x) = 2/sqrt(pi) x p(x^2) for |x| < 0.5."""
ERF_LARGE = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
"""Abramowitz and Stegun 7.1.26: erf(x) = 1 - t p(t) exp(-x^2), t = 1 / (1 + 0.3275911 x), error below 1.5e-7."""


@dataclass(frozen=True)
class Floats:
    """Builds float32 arithmetic on one type: f32 or a vector of it."""

    kind: Any

    @property
    def integers(self) -> Any:
        """The i32 type of the same shape."""
        i32 = ir.IntegerType.get_signless(32)
        return ir.VectorType.get(self.kind.shape, i32) if isinstance(self.kind, ir.VectorType) else i32

    @property
    def truths(self) -> Any:
        """The i1 type of the same shape."""
        i1 = ir.IntegerType.get_signless(1)
        return ir.VectorType.get(self.kind.shape, i1) if isinstance(self.kind, ir.VectorType) else i1

    def constant(self, value: float) -> Any:
        """The same number everywhere."""
        return self._constant(self.kind, ir.FloatAttr.get(ir.F32Type.get(), value))

    def integer(self, value: int) -> Any:
        """The same integer everywhere."""
        return self._constant(self.integers, ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value))

    def _constant(self, kind: Any, value: Any) -> Any:
        attribute = ir.DenseElementsAttr.get_splat(kind, value) if isinstance(kind, ir.VectorType) else value
        return create("arith.constant", [], kind, value=attribute)

    def op(self, name: str, *operands: Any) -> Any:
        """A float operation."""
        return create(name, operands, self.kind)

    def int_op(self, name: str, *operands: Any) -> Any:
        """An integer operation."""
        return create(name, operands, self.integers)

    def polynomial(self, x: Any, coefficients: Sequence[float]) -> Any:
        """Horner's rule, highest power first."""
        value = self.constant(coefficients[0])
        for coefficient in coefficients[1:]:
            value = self.op("math.fma", value, x, self.constant(coefficient))
        return value

    def where_below(self, x: Any, bound: float, below: Any, otherwise: Any) -> Any:
        """`below` where x < bound, else `otherwise`; a NaN takes `otherwise`."""
        predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 4)
        test = create("arith.cmpf", [x, self.constant(bound)], self.truths, predicate=predicate)
        return self.op("arith.select", test, below, otherwise)


def exp(f: Floats, x: Any) -> Any:
    """exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2. Overflows to inf, underflows to 0, keeps NaN."""
    x = f.op("arith.maximumf", f.op("arith.minimumf", x, f.constant(89.0)), f.constant(-104.0))
    # Adding 1.5 * 2^23 leaves round(x / ln 2) in the low bits of the sum: no conversion, which a NaN would poison.
    magic = 12582912.0
    shifted = f.op("math.fma", x, f.constant(1.44269504088896341), f.constant(magic))
    n = f.op("arith.subf", shifted, f.constant(magic))
    r = f.op("math.fma", n, f.constant(-0.693359375), x)
    r = f.op("math.fma", n, f.constant(2.12194440e-4), r)
    tail = f.op("math.fma", f.op("arith.mulf", r, r), f.polynomial(r, EXP), r)
    power = f.int_op("arith.subi", f.int_op("arith.bitcast", shifted), f.integer(_bits(magic)))
    # Two factors: 2^n itself would overflow, or lose a denormal, before the product does.
    half = f.int_op("arith.shrsi", power, f.integer(1))
    value = f.op("arith.addf", tail, f.constant(1.0))
    for part in (half, f.int_op("arith.subi", power, half)):
        value = f.op("arith.mulf", value, _power_of_two(f, part))
    return value


def _power_of_two(f: Floats, n: Any) -> Any:
    biased = f.int_op("arith.shli", f.int_op("arith.addi", n, f.integer(127)), f.integer(23))
    return f.op("arith.bitcast", biased)


def _bits(value: float) -> int:
    return struct.unpack("<i", struct.pack("<f", value))[0]


def tanh(f: Floats, x: Any) -> Any:
    """A polynomial near 0, 1 - 2 / (exp(2|x|) + 1) elsewhere."""
    square = f.op("arith.mulf", x, x)
    cube = f.op("arith.mulf", x, square)
    near = f.op("math.fma", cube, f.polynomial(square, TANH), x)
    size = f.op("math.absf", x)
    grown = f.op("arith.addf", exp(f, f.op("arith.addf", size, size)), f.constant(1.0))
    far = f.op("arith.subf", f.constant(1.0), f.op("arith.divf", f.constant(2.0), grown))
    return f.where_below(size, 0.625, near, f.op("math.copysign", far, x))


def erf(f: Floats, x: Any) -> Any:
    """A polynomial near 0, 1 - t p(t) exp(-x^2) elsewhere."""
    square = f.op("arith.mulf", x, x)
    scaled = f.op("arith.mulf", x, f.constant(1.12837916709551257))
    near = f.op("arith.mulf", scaled, f.polynomial(square, ERF_SMALL))
    size = f.op("math.absf", x)
    denominator = f.op("math.fma", size, f.constant(0.3275911), f.constant(1.0))
    t = f.op("arith.divf", f.constant(1.0), denominator)
    decay = f.op("arith.mulf", f.op("arith.mulf", t, f.polynomial(t, ERF_LARGE)), exp(f, f.op("arith.negf", square)))
    far = f.op("arith.subf", f.constant(1.0), decay)
    return f.where_below(size, 0.5, near, f.op("math.copysign", far, x))


EXPANSIONS: dict[str, Callable[[Floats, Any], Any]] = {"math.exp": exp, "math.tanh": tanh, "math.erf": erf}


def expand_math(module: Module) -> None:
    """Replace exp, tanh and erf by polynomials in float32; narrower floats are widened for it."""
    for op in ops_named(module, *EXPANSIONS):
        element = getattr(op.results[0].type, "element_type", op.results[0].type)
        if isinstance(element, ir.F32Type | ir.F16Type | ir.BF16Type):
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_expanded(op, element))
            op.erase()


def _expanded(op: Operation, element: Any) -> Any:
    kind, x = op.results[0].type, op.operands[0]
    f32 = ir.F32Type.get()
    if isinstance(element, ir.F32Type):
        return EXPANSIONS[op.name](Floats(kind), x)
    floats = Floats(ir.VectorType.get(kind.shape, f32) if isinstance(kind, ir.VectorType) else f32)
    return create("arith.truncf", [EXPANSIONS[op.name](floats, floats.op("arith.extf", x))], kind)
