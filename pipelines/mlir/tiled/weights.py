"""Weights in the order in which they are read: transposed and cut into panels once, when the model is compiled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dialects.bindings import Module, Operation, public_functions
from pipelines.mlir.tiled.edit import ir, maps_of, permuted, users
from pipelines.mlir.tiled.nest import read_nest
from pipelines.mlir.tiled.panels import panel_width, read_panel


@dataclass(frozen=True)
class Packing:
    """A new layout for one weight: first its dimensions in `order`, then its last one cut into `panels` of lanes.

    With panels of p lanes, (a, b, n) becomes (n/p, a, b, p). 0 keeps the last dimension whole.
    """

    order: tuple[int, ...]
    panels: int = 0

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The packed shape."""
        new = permuted(shape, self.order)
        return (new[-1] // self.panels, *new[:-1], self.panels) if self.panels else tuple(new)

    def apply(self, array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """The packed array, contiguous."""
        new = array.transpose(self.order)
        if self.panels:
            new = np.moveaxis(new.reshape(*new.shape[:-1], -1, self.panels), -2, 0)
        return np.ascontiguousarray(new)


def pack_weights(module: Module, weights: Sequence[int]) -> dict[int, Packing]:
    """Change the types of the arguments that have a better layout; `weights` are the numbers of the constant ones."""
    arguments = list(public_functions(module)[0].regions[0].blocks[0].arguments)
    packings: dict[int, Packing] = {}
    for number in weights:
        argument = arguments[number]
        order = _untranspose(argument) or tuple(range(argument.type.rank))
        panels = _panels(argument) if argument.type.rank > 1 else 0
        if panels:
            readers = users(argument)
            shape = Packing(tuple(range(argument.type.rank)), panels).shape(argument.type.shape)
            argument.set_type(ir.RankedTensorType.get(shape, argument.type.element_type))
            for op in readers:
                read_panel(op, argument)
        if panels or order != tuple(sorted(order)):
            packings[number] = Packing(order, panels)
    _retype_function(module)
    return packings


def _retype_function(module: Module) -> None:
    function = public_functions(module)[0]
    arguments = [a.type for a in function.regions[0].blocks[0].arguments]
    results = function.attributes["function_type"].value.results
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(arguments, results))


def _untranspose(argument: Any) -> tuple[int, ...] | None:
    """If every user transposes the argument in one way, let it come transposed; gives the order."""
    readers = users(argument)
    orders = {_transposes(op) for op in readers}
    if len(orders) != 1 or (order := orders.pop()) is None:
        return None
    argument.set_type(readers[0].results[0].type)
    for op in readers:
        op.results[0].replace_all_uses_with(argument)
        op.erase()
    return order


def _transposes(op: Operation) -> tuple[int, ...] | None:
    """The order in which an operation gives the dimensions of its operand, or None when it does anything else."""
    if op.name == "linalg.transpose":
        return tuple(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    nest = read_nest(op)
    if nest is None or len(op.operands) != 2 or not nest.elementwise:
        return None
    block = op.regions[0].blocks[0]
    source, target = maps_of(op)
    copies = len(block.operations) == 1 and block.operations[0].operands[0] == block.arguments[0]
    if not (copies and source.is_permutation and target.is_permutation):
        return None
    position = {expr.position: d for d, expr in enumerate(source.results)}
    return tuple(position[expr.position] for expr in target.results)


def _panels(argument: Any) -> int:
    """Lanes of a panel, if every user reads whole panels of one width; else 0."""
    widths = {panel_width(op) for op in users(argument)}
    return widths.pop() if len(widths) == 1 else 0
