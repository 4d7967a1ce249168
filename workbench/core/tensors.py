"""Names, shapes and dtypes of what goes into and comes out of a compiled model."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class TensorSpec:
    """A static tensor: `dtype` is numpy's name ("float32", "bfloat16", "int64", "bool" ...)."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class ConstantSpec(TensorSpec):
    """A weight kept out of the IR. `sha256` names `consts/<sha256>.npy` in the trace."""

    sha256: str = ""


@dataclass(frozen=True)
class Signature:
    """Calling convention of the function `entry`: arguments are inputs then constants, results are outputs.

    From the `buffers` level on, outputs are trailing memref arguments that the function fills.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    constants: tuple[ConstantSpec, ...] = field(default=())
    entry: str = "main"

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; `from_json` reads it back."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Signature":
        """Read what `to_json` wrote; unknown fields are ignored."""

        def spec(item: Mapping[str, Any]) -> TensorSpec:
            return TensorSpec(item["name"], tuple(item["shape"]), item["dtype"])

        def const(item: Mapping[str, Any]) -> ConstantSpec:
            return ConstantSpec(item["name"], tuple(item["shape"]), item["dtype"], item["sha256"])

        return Signature(
            inputs=tuple(spec(i) for i in data["inputs"]),
            outputs=tuple(spec(i) for i in data["outputs"]),
            constants=tuple(const(i) for i in data.get("constants", ())),
            entry=data.get("entry", "main"),
        )
