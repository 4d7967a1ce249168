"""Writes one function of `npu` operations as text: the memories, the tiles as views of them, and the operations."""

import math
from collections.abc import Sequence

from dialects.npu.areas import DTYPES, ELEMENTS
from dialects.npu.dialect import ACCUMULATOR, SCRATCHPAD

_SPACES = {"scratchpad": SCRATCHPAD, "accumulator": ACCUMULATOR}


class Writer:
    """A function over DRAM buffers. `buffers` are (name, shape, dtype), results last; values are named after them.

    Every operation that takes time gets a tag of its own, counted from 0.
    """

    def __init__(self, name: str, buffers: Sequence[tuple[str, tuple[int, ...], str]], results: int = 1) -> None:
        self.name, self.results = name, results
        self._types = {f"%{n}": memref(shape, dtype) for n, shape, dtype in buffers}
        self._buffers = tuple(self._types)
        self._lines: list[str] = []
        self._views: dict[tuple[object, ...], str] = {}
        self._tags = 0

    def memory(self, space: str, dtype: str, elements: int) -> str:
        """All of a memory, seen as elements of `dtype`."""
        value = f"%{space}_{ELEMENTS[dtype]}"
        if value not in self._types:
            self._types[value] = f"memref<{elements}x{ELEMENTS[dtype]}, {_SPACES[space]}>"
            self._lines.append(f'{value} = "npu.memory"() : () -> {self._types[value]}')
        return value

    def view(self, base: str, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> str:
        """A strided window of a memory or of a DRAM buffer; the same window is written once."""
        key = (base, offset, tuple(sizes), tuple(strides))
        if key not in self._views:
            kind = _window(self._types[base], offset, sizes, strides)
            value = self._views[key] = f"{base}_{len(self._views)}"
            self._types[value] = kind
            self._lines.append(
                f"{value} = memref.reinterpret_cast {base} to offset: [{offset}], sizes: [{_list(sizes)}], "
                f"strides: [{_list(strides)}] : {self._types[base]} to {kind}"
            )
        return self._views[key]

    def emit(self, op: str, operands: Sequence[str], attributes: str = "", tagged: bool = True) -> None:
        """An `npu` operation without results."""
        parts = [attributes] if attributes else []
        if tagged:
            parts.append(f"tag = {self._tags} : i64")
            self._tags += 1
        held = f" {{{', '.join(parts)}}}" if parts else ""
        types = ", ".join(self._types[o] for o in operands)
        self._lines.append(f'"npu.{op}"({", ".join(operands)}){held} : ({types}) -> ()')

    def text(self) -> str:
        """The function."""
        arguments = ", ".join(f"{v}: {self._types[v]}" for v in self._buffers)
        names = ", ".join(f'"{v[1:]}"' for v in self._buffers)
        held = f"npu.buffers = [{names}], npu.results = {self.results} : i64"
        head = f"func.func @{self.name}({arguments}) attributes {{{held}}} {{"
        return "\n".join([head, *(f"  {line}" for line in self._lines), "  return", "}"])


def memref(shape: Sequence[int], dtype: str) -> str:
    """`memref<4x8xf32>`."""
    return f"memref<{'x'.join(map(str, (*shape, ELEMENTS[dtype])))}>"


def _window(base: str, offset: int, sizes: Sequence[int], strides: Sequence[int]) -> str:
    inner = base.removeprefix("memref<").removesuffix(">")
    shape, _, space = inner.partition(", ")
    element = shape.rpartition("x")[2]
    assert element in DTYPES and math.prod(sizes) > 0, f"{base} has no window of {sizes}"
    layout = f"strided<[{_list(strides)}]{f', offset: {offset}' if offset else ''}>"
    return f"memref<{'x'.join(map(str, (*sizes, element)))}, {layout}{f', {space}' if space else ''}>"


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
