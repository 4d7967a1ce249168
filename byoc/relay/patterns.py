"""The pattern table: which compositions of Relay operators become one task of the array.

Every entry is a product (conv2d, dense, batch_matmul) with some of bias, relu and requantise behind it. A quantised
entry takes its operands through qnn.dequantize, which is how ONNX's QDQ form arrives; requantise is the qnn.quantize at
its end. Longer chains stand before shorter ones, for the first that matches wins.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tvm import relay
from tvm.relay.dataflow_pattern import is_constant, is_op, wildcard

COMPILER = "systolic"
"""TVM's name for this code generator: `relay.ext.systolic`."""

PRODUCTS = {"conv2d": "nn.conv2d", "dense": "nn.dense", "batch_matmul": "nn.batch_matmul"}
"""Kinds of task and the Relay operators that compute them."""

FUSED = ("bias", "relu", "requantise")


@dataclass(frozen=True)
class Chain:
    """One entry of the table."""

    kind: str
    quantised: bool
    fused: tuple[str, ...]

    @property
    def name(self) -> str:
        """The composite's name in Relay; `chain_of` reads it back."""
        return f"{COMPILER}.{self.kind}" + ".qdq" * self.quantised + "".join(f".{f}" for f in self.fused)

    def pattern(self) -> Any:
        """What it looks like."""
        y = is_op(PRODUCTS[self.kind])(self._operand(), self._operand())
        if "bias" in self.fused:
            bias = self._operand()
            y = is_op("nn.bias_add")(y, bias) | is_op("add")(y, bias)
        if "relu" in self.fused:
            y = is_op("nn.relu")(y) | is_op("maximum")(is_constant(), y)
        return is_op("qnn.quantize")(y, is_constant(), is_constant()) if "requantise" in self.fused else y

    def _operand(self) -> Any:
        return is_op("qnn.dequantize")(wildcard(), is_constant(), is_constant()) if self.quantised else wildcard()


@dataclass(frozen=True)
class Matched:
    """The parts of one occurrence of a chain, all Relay expressions with types.

    `x`, `w` and `bias` are what the product and the addition read: calls of qnn.dequantize where quantised. `floor` is
    what a ReLU written as a maximum compares with.
    """

    chain: Chain
    root: Any
    product: Any
    x: Any
    w: Any
    bias: Any = None
    floor: Any = None


def chains() -> Iterator[Chain]:
    """Every entry, longer ones first."""
    for count in range(len(FUSED), -1, -1):
        for fused in combinations(FUSED, count):
            for kind in PRODUCTS:
                yield Chain(kind, True, fused)
    for count in range(2, -1, -1):
        for fused in combinations(FUSED[:2], count):
            for kind in PRODUCTS:
                yield Chain(kind, False, fused)


def chain_of(name: str) -> Chain:
    """The entry that a composite is called after."""
    _, kind, *rest = name.split(".")
    return Chain(kind, "qdq" in rest, tuple(f for f in rest if f in FUSED))


def pattern_table(accepts: Callable[[Matched], bool]) -> list[tuple[str, Any, Callable[[Any], bool]]]:
    """The table as MergeComposite takes it; `accepts` decides on each occurrence."""

    def check(chain: Chain) -> Callable[[Any], bool]:
        return lambda root: accepts(taken_apart(chain, root))

    return [(chain.name, chain.pattern(), check(chain)) for chain in chains()]


def taken_apart(chain: Chain, root: Any) -> Matched:
    """The parts of an expression that matches a chain."""
    y, bias, floor = root, None, None
    if "requantise" in chain.fused:
        y = y.args[0]
    if "relu" in chain.fused:
        floor, y = (None, y.args[0]) if len(y.args) == 1 else y.args
    if "bias" in chain.fused:
        one, other = y.args
        y, bias = (one, other) if calls(one, PRODUCTS[chain.kind]) else (other, one)
    return Matched(chain, root, y, y.args[0], y.args[1], bias, floor)


def calls(x: Any, name: str) -> bool:
    """Whether an expression is a call of one operator."""
    return isinstance(x, relay.Call) and str(getattr(x.op, "name", "")) == name
