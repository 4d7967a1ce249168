"""Which of the steps after a product the array's vector unit can do: bias, relu, rescaling to int8, clip, narrowing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from byoc.systolic.gemm import Epilogue
from pipelines.npu.elementwise import Step

_INT8 = (-128.0, 127.0)
_NARROW = {"float16": "truncf f16", "bfloat16": "truncf bf16"}


@dataclass(frozen=True)
class Fused:
    """The first `count` steps as an epilogue, and the vectors it reads.

    `factor` is a power of two that the vector of scales is still to be multiplied by. `wide` says that sums are int64
    in the model and stay so: the array's int32 must be extended.
    """

    epilogue: Epilogue = field(default=Epilogue())
    bias: Any = None
    scale: Any = None
    factor: float = 1.0
    count: int = 0
    wide: bool = False


def fuse(steps: Sequence[Step], dtype: str, wide: bool) -> Fused:
    """As many leading steps as the vector unit can do on sums of products of `dtype`.

    `wide`: the model sums int8 in int64. Cut to 32 bits they are the array's, which wrap around the same way.
    """
    if dtype != "int8":
        return _floats(steps, dtype)
    if not wide:
        return _integers(steps, 0)
    return _integers(steps, 1) if steps and steps[0].name == "trunci i32" else Fused(wide=True)


def _bias_and_relu(steps: Sequence[Step], at: int) -> tuple[Any, bool, int]:
    """A vector added, then max with 0: the vector, whether there is a relu, and the next step."""
    bias, relu = None, False
    if at < len(steps) and steps[at].name == "add" and steps[at].vector is not None:
        bias, at = steps[at].vector, at + 1
    if at < len(steps) and steps[at].name == "at_least" and steps[at].number == 0:
        relu, at = True, at + 1
    return bias, relu, at


def _bounds(steps: Sequence[Step], at: int, low: float, high: float) -> tuple[float, float, int]:
    """Bounds narrowed by the at_least and at_most steps from `at` on, as long as they leave something."""
    while at < len(steps) and steps[at].name in ("at_least", "at_most"):
        number = steps[at].number or 0.0
        low, high = (max(low, number), high) if steps[at].name == "at_least" else (low, min(high, number))
        at += 1
    return low, high, at


def _floats(steps: Sequence[Step], dtype: str) -> Fused:
    bias, relu, at = _bias_and_relu(steps, 0)
    low, high, after = _bounds(steps, at, 0.0 if relu else -math.inf, math.inf)
    clip = (low, high) if after > at and low <= high else None
    at = after if clip else at
    narrow = at < len(steps) and steps[at].name == _NARROW.get(dtype)
    return Fused(Epilogue(bias is not None, relu, clip=clip, narrow=narrow), bias, count=at + narrow)


def _integers(steps: Sequence[Step], at: int) -> Fused:
    bias, relu, at = _bias_and_relu(steps, at)
    summed = Fused(Epilogue(bias is not None, relu), bias, count=at)
    return _requantised(steps, summed) or summed


def _requantised(steps: Sequence[Step], summed: Fused) -> Fused | None:
    """All of: to float, times a scale, perhaps max with 0, perhaps by a power of two, rounded, shifted, clipped, int8.

    max with 0 before rounding is max with 0 after it; a power of two may be multiplied into the scale beforehand.
    """
    rest = list(steps[summed.count :])
    if [s.name for s in rest[:2]] != ["sitofp f32", "mul"]:
        return None
    scale, at, low, factor = rest[1], 2, -math.inf, 1.0
    if at < len(rest) and rest[at].name == "at_least" and rest[at].number == 0:
        low, at = 0.0, at + 1
    if at < len(rest) and rest[at].name in ("mul", "div") and rest[at].number is not None:
        factor = _power_of_two(rest[at])
        at += 1
    if not factor or at >= len(rest) or rest[at].name != "roundeven":
        return None
    zero_point, at = 0.0, at + 1
    if at < len(rest) and rest[at].name == "add" and rest[at].vector is None:
        zero_point, at = rest[at].number or 0.0, at + 1
    low, high, at = _bounds(rest, at, low + zero_point, math.inf)
    if at >= len(rest) or rest[at].name != "fptosi i8" or not zero_point.is_integer():
        return None
    if not _INT8[0] <= low <= high <= _INT8[1]:
        return None
    old = summed.epilogue
    number = None if scale.number is None else scale.number * factor
    epilogue = Epilogue(old.bias, old.relu, number, number is None, int(zero_point), (low, high), narrow=True)
    return Fused(epilogue, summed.bias, scale.vector, factor, summed.count + at + 1)


def _power_of_two(step: Step) -> float:
    """What the step multiplies by when that is a power of two, so that nothing is rounded; else 0."""
    number = step.number or 0.0
    if number <= 0 or math.frexp(number)[0] != 0.5:
        return 0.0
    return number if step.name == "mul" else 1 / number
