"""Where an operand of an `npu` operation lies: read off its memref type and the value it is a view of."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialects.bindings import Module, Operation, load
from dialects.npu.dialect import ACCUMULATOR, SCRATCHPAD
from workbench.core.arrays import numpy_dtype
from workbench.core.errors import CompileError

DRAM = "DRAM"
_SPACES = {SCRATCHPAD: "scratchpad", ACCUMULATOR: "accumulator"}
DTYPES = {
    "i8": "int8", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "i32": "int32", "f64": "float64",
    "i64": "int64", "i16": "int16", "i1": "bool",
}  # fmt: skip
"""MLIR's element types -> the dtypes they hold."""
ELEMENTS = {dtype: element for element, dtype in DTYPES.items()}
SUMS = {"int8": "int32", "float16": "float32", "bfloat16": "float32", "float32": "float32"}
"""What the array multiplies -> what it sums in."""


@dataclass(frozen=True)
class Limits:
    """What the dialect must know of the array a module is made for: the module's `npu.machine`."""

    name: str
    dataflow: str
    scratchpad_bytes: int
    accumulator_bytes: int
    dtypes: tuple[str, ...]

    @property
    def spaces(self) -> tuple[str, ...]:
        """Its memories."""
        return tuple(_SPACES.values())

    def __str__(self) -> str:
        return f"{self.name} ({self.dataflow}, {self.scratchpad_bytes} and {self.accumulator_bytes} bytes)"

    def bytes_of(self, space: str) -> int:
        """Size of the scratchpad or of the accumulator memory."""
        return self.scratchpad_bytes if space == "scratchpad" else self.accumulator_bytes

    def attribute(self) -> str:
        """MLIR text of the module's `npu.machine`; `limits_of` reads it back."""
        dtypes = ", ".join(f'"{d}"' for d in self.dtypes)
        return (
            f'{{accumulator_bytes = {self.accumulator_bytes} : i64, dataflow = "{self.dataflow}", '
            f'dtypes = [{dtypes}], name = "{self.name}", scratchpad_bytes = {self.scratchpad_bytes} : i64}}'
        )


def limits_of(module: Module) -> Limits:
    """Read `npu.machine`; raises CompileError naming what is missing."""
    attributes = module.operation.attributes
    if "npu.machine" not in attributes:
        raise CompileError("the module has no npu.machine attribute: it says which array the module is made for")
    held: Mapping[str, Any] = {a.name: a.attr for a in attributes["npu.machine"]}
    wanted = ("name", "dataflow", "scratchpad_bytes", "accumulator_bytes", "dtypes")
    if missing := [key for key in wanted if key not in held]:
        raise CompileError(f"npu.machine lacks {missing[0]}; it has: {', '.join(held) or 'nothing'}")
    return Limits(
        name=held["name"].value,
        dataflow=held["dataflow"].value,
        scratchpad_bytes=held["scratchpad_bytes"].value,
        accumulator_bytes=held["accumulator_bytes"].value,
        dtypes=tuple(d.value for d in held["dtypes"]),
    )


@dataclass(frozen=True)
class Area:
    """A strided window: element (i0, i1, ...) is at `offset + sum(i * stride)` of `base`, in elements of `dtype`.

    `space` is scratchpad, accumulator or DRAM; `held` is how many elements `base` has.
    """

    space: str
    dtype: str
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    base: Any
    held: int

    @property
    def count(self) -> int:
        """Elements in the window."""
        return math.prod(self.sizes)

    @property
    def end(self) -> int:
        """One past the last element it reaches."""
        return self.offset + sum((n - 1) * s for n, s in zip(self.sizes, self.strides, strict=True)) + 1

    @property
    def item_bytes(self) -> int:
        """Bytes of an element."""
        return numpy_dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"{'x'.join(map(str, self.sizes))} {self.dtype} in {self.space}"


class Areas:
    """The windows that operands name, each read once."""

    def __init__(self) -> None:
        self._known: dict[Any, Area] = {}

    def of(self, op: Operation) -> list[Area]:
        """Those of an operation's operands. Raises CompileError as `area_of` does."""
        return [self._of(value, op) for value in op.operation.operands]

    def _of(self, value: Any, op: Operation) -> Area:
        if value not in self._known:
            self._known[value] = area_of(value, op)
        return self._known[value]


def area_of(value: Any, who: Operation) -> Area:
    """The window that an operand of `who` names. Raises CompileError for a dynamic size or an unknown memory space."""
    ir = load("ir")
    base = value
    while not isinstance(base.owner, ir.Block) and base.owner.name == "memref.reinterpret_cast":
        base = base.owner.operands[0]
    kind, whole = ir.MemRefType(value.type), ir.MemRefType(base.type)
    strides, offset = kind.get_strides_and_offset()
    if not kind.has_static_shape or any(abs(n) > 2**48 for n in (*strides, offset)):
        raise CompileError(f"{who.operation.name}: {kind} has a dynamic size; tiles are static")
    space, element = kind.memory_space, str(kind.element_type)
    if space is not None and str(space) not in _SPACES:
        raise CompileError(f"{who.operation.name}: {kind} is in memory space {space}; known: {', '.join(_SPACES)}")
    return Area(
        space=_SPACES[str(space)] if space is not None else DRAM,
        dtype=DTYPES.get(element, element),
        offset=offset,
        sizes=tuple(kind.shape),
        strides=tuple(strides),
        base=base,
        held=math.prod(whole.shape),
    )
