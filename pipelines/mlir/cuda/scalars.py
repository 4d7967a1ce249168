"""What arith and math operations on scalars mean, in numpy, for the emulator."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _divide(a: Array, b: Array) -> Array:
    """Signed division that rounds towards zero."""
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def _half_away(a: Array) -> Array:
    return np.trunc(a + np.copysign(0.5, a))


def _same(a: Array) -> Array:
    return a


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    return np.vectorize(function, otypes=[np.float64])


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply,
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.remf": np.fmod, "arith.divsi": _divide, "arith.divui": np.floor_divide, "arith.remsi": np.fmod,
    "arith.remui": np.remainder, "arith.floordivsi": np.floor_divide, "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.ceildivui": lambda a, b: (a // b) + (a % b != 0),
    "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift, "arith.shrsi": np.right_shift, "arith.shrui": np.right_shift,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum, "arith.maxui": np.maximum, "arith.minui": np.minimum,
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin,
    "math.powf": np.power, "math.fpowi": np.power, "math.atan2": np.arctan2, "math.copysign": np.copysign,
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {
    "arith.extf": _same, "arith.truncf": _same, "arith.sitofp": _same, "arith.uitofp": _same, "arith.extsi": _same,
    "arith.extui": _same, "arith.trunci": _same, "arith.index_cast": _same, "arith.index_castui": _same,
    "arith.fptosi": np.trunc, "arith.fptoui": np.trunc, "arith.negf": np.negative,
    "math.absf": np.abs, "math.absi": np.abs, "math.sqrt": np.sqrt, "math.rsqrt": lambda a: 1 / np.sqrt(a),
    "math.cbrt": np.cbrt, "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1, "math.log": np.log,
    "math.log1p": np.log1p, "math.log2": np.log2, "math.log10": np.log10,
    "math.sin": np.sin, "math.cos": np.cos, "math.tan": np.tan, "math.asin": np.arcsin, "math.acos": np.arccos,
    "math.atan": np.arctan, "math.sinh": np.sinh, "math.cosh": np.cosh, "math.tanh": np.tanh,
    "math.asinh": np.arcsinh, "math.acosh": np.arccosh, "math.atanh": np.arctanh,
    "math.erf": _each(math.erf), "math.erfc": _each(math.erfc),
    "math.floor": np.floor, "math.ceil": np.ceil, "math.trunc": np.trunc, "math.roundeven": np.rint,
    "math.round": _half_away, "math.isnan": np.isnan, "math.isinf": np.isinf, "math.isfinite": np.isfinite,
}  # fmt: skip
READS_UNSIGNED = frozenset(
    f"arith.{name}" for name in (
        "divui", "remui", "ceildivui", "shrui", "maxui", "minui", "extui", "uitofp", "index_castui", "trunci",
    )
)  # fmt: skip
"""Operations that take the bits of a signless integer as an unsigned number."""

_COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal
}  # fmt: skip
_INTEGER_PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
_FLOAT_PREDICATES = [
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
]  # fmt: skip
"""Comparison names by MLIR's predicate number."""


def unsigned(array: Array) -> Array:
    """The same bits as unsigned integers; other arrays as they are."""
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "i" else array


def convert(array: Any, dtype: Any, name: str) -> Array:
    """The result of operation `name` in its result type. Booleans keep the lowest bit, as trunci does."""
    out = np.asarray(array)
    if name == "arith.trunci" and dtype == np.bool_:
        return (out & 1).astype(dtype)
    if name == "arith.fptoui" and dtype.kind == "i":
        return out.astype(f"u{dtype.itemsize}").view(dtype)
    return out.astype(dtype)


def compare(name: str, predicate: int, a: Array, b: Array) -> Any:
    """arith.cmpi or arith.cmpf by predicate number."""
    if name == "arith.cmpi":
        kind = _INTEGER_PREDICATES[predicate]
        if kind.startswith("u"):
            a, b = unsigned(a), unsigned(b)
        return _COMPARE[kind if len(kind) == 2 else kind[1:]](a, b)
    kind = _FLOAT_PREDICATES[predicate]
    unordered = np.isnan(a) | np.isnan(b)
    if kind in ("ord", "uno"):
        return ~unordered if kind == "ord" else unordered
    if kind in ("true", "false"):
        return np.full(np.shape(a), kind == "true")
    plain = _COMPARE[kind[1:]](a, b)
    return plain & ~unordered if kind.startswith("o") else plain | unordered
