"""The launch plan: buffers, constants and kernel launches of one model, as JSON. Described in docs/launch-plan.md."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.errors import UsageError
from workbench.core.tensors import ConstantSpec, TensorSpec

FORMAT = "workbench-launch-plan"
VERSION = "1.0"
ITEM_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1,
    "uint64": 8, "uint32": 4, "uint16": 2, "uint8": 1, "bool": 1,
}  # fmt: skip
SPACES = ("input", "constant", "output", "buffer")


def tensor_bytes(shape: tuple[int, ...], dtype: str) -> int:
    """Size of a dense tensor in bytes; raises UsageError for a dtype that plans do not know."""
    if dtype not in ITEM_BYTES:
        raise UsageError(f"dtype '{dtype}' has no place in a launch plan; known: {', '.join(ITEM_BYTES)}")
    return math.prod(shape) * ITEM_BYTES[dtype]


@dataclass(frozen=True)
class Buffer:
    """Scratch memory: `bytes` at `offset` in the arena, holding data from step `first` to step `last`."""

    bytes: int
    offset: int
    first: int
    last: int


@dataclass(frozen=True)
class Pointer:
    """A kernel argument that points into tensor `index` of `space`, `byte_offset` bytes in."""

    space: str
    index: int
    byte_offset: int = 0


@dataclass(frozen=True)
class Scalar:
    """A kernel argument passed by value."""

    dtype: str
    value: float


@dataclass(frozen=True)
class Step:
    """One kernel launch. `source` says where in the model it came from; `writes` which arguments it stores to."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    args: tuple[Pointer | Scalar, ...]
    shared_bytes: int = 0
    source: str = ""
    writes: tuple[int, ...] = ()


@dataclass(frozen=True)
class LaunchPlan:
    """Everything a runner needs besides the kernels' code and the arrays. File names are relative to the plan."""

    chip: str
    inputs: tuple[TensorSpec, ...]
    constants: tuple[ConstantSpec, ...]
    outputs: tuple[TensorSpec, ...]
    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    arena_bytes: int
    ptx: str = "kernels.ptx"
    cubin: str | None = None
    model: str = ""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; `from_json` reads it back."""
        data = asdict(self)
        data["steps"] = [_step_json(s) for s in self.steps]
        data["constants"] = [
            {"name": c.name, "shape": list(c.shape), "dtype": c.dtype, "sha256": c.sha256, "file": constant_file(c)}
            for c in self.constants
        ]
        return {"format": FORMAT, "version": VERSION} | data

    def dumps(self) -> str:
        """The plan as text: one step, tensor or buffer a line."""
        data = self.to_json()
        lines = [f"  {json.dumps(k)}: {_lines(v)}" for k, v in data.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "LaunchPlan":
        """Read and check a plan; unknown fields are ignored. Raises UsageError saying what is wrong with it."""
        if data.get("format") != FORMAT:
            raise UsageError(f"this is not a launch plan: format is {data.get('format')!r}, expected '{FORMAT}'")
        if int(str(data["version"]).partition(".")[0]) > int(VERSION.partition(".")[0]):
            raise UsageError(f"launch plan version {data['version']} is newer than {VERSION}; update the workbench")
        try:
            plan = _read(data)
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"damaged launch plan: {type(error).__name__} {error}") from None
        check(plan)
        return plan

    @staticmethod
    def load(path: Path) -> "LaunchPlan":
        """Read `plan.json`."""
        try:
            data = json.loads(path.read_text())
        except (OSError, json.JSONDecodeError) as error:
            raise UsageError(f"cannot read launch plan {path}: {error}") from None
        return LaunchPlan.from_json(data)


def constant_file(constant: ConstantSpec) -> str:
    """Where a bundle keeps a constant."""
    return f"consts/{constant.sha256}.npy"


def check(plan: LaunchPlan) -> None:
    """Raise UsageError unless every reference resolves, launches are legal, buffers are written before they are
    read and live ones keep apart."""
    sizes = {
        "input": [tensor_bytes(t.shape, t.dtype) for t in plan.inputs],
        "constant": [tensor_bytes(t.shape, t.dtype) for t in plan.constants],
        "output": [tensor_bytes(t.shape, t.dtype) for t in plan.outputs],
        "buffer": [b.bytes for b in plan.buffers],
    }
    for number, step in enumerate(plan.steps):
        where = f"step {number} ({step.kernel})"
        if min(step.grid) < 1 or min(step.block) < 1 or math.prod(step.block) > 1024:
            raise UsageError(f"{where}: grid {step.grid} block {step.block} cannot be launched")
        for arg in step.args:
            if isinstance(arg, Pointer):
                known = sizes.get(arg.space)
                if known is None or not 0 <= arg.index < len(known):
                    raise UsageError(f"{where}: no {arg.space} {arg.index} in this plan")
                if not 0 <= arg.byte_offset <= known[arg.index]:
                    raise UsageError(f"{where}: byte offset {arg.byte_offset} is outside {arg.space} {arg.index}")
        for position in step.writes:
            arg = step.args[position]
            if isinstance(arg, Pointer) and arg.space in ("input", "constant"):
                raise UsageError(f"{where}: writes to {arg.space} {arg.index}, which callers expect unchanged")
    _check_order(plan)
    _check_arena(plan)


def _check_order(plan: LaunchPlan) -> None:
    """A buffer's first step must store to it; what else that step does with it is the kernel's business."""
    written: set[int] = set()
    for number, step in enumerate(plan.steps):
        used = {i: a.index for i, a in enumerate(step.args) if isinstance(a, Pointer) and a.space == "buffer"}
        written.update(used[i] for i in step.writes if i in used)
        for index in used.values():
            if index not in written and plan.buffers[index].bytes:
                raise UsageError(f"step {number} ({step.kernel}) reads buffer {index} before any step has written it")


def _check_arena(plan: LaunchPlan) -> None:
    for number, step in enumerate(plan.steps):
        for arg in step.args:
            if isinstance(arg, Pointer) and arg.space == "buffer":
                buffer = plan.buffers[arg.index]
                if not buffer.first <= number <= buffer.last:
                    raise UsageError(f"step {number} ({step.kernel}) uses buffer {arg.index} outside its lifetime")
    for i, a in enumerate(plan.buffers):
        if a.offset < 0 or a.offset + a.bytes > plan.arena_bytes:
            raise UsageError(f"buffer {i} reaches outside the arena of {plan.arena_bytes} bytes")
        for j, b in enumerate(plan.buffers[:i]):
            apart = a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
            if not apart and a.first <= b.last and b.first <= a.last:
                raise UsageError(f"buffers {j} and {i} overlap in the arena while both are in use")


PTX_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


def ptx_parameters(ptx: str) -> dict[str, list[int]]:
    """Parameter sizes in bytes of every kernel in a PTX text."""
    found: dict[str, list[int]] = {}
    for name, params in re.findall(r"\.entry\s+([\w$]+)\s*\((.*?)\)", ptx, flags=re.DOTALL):
        found[name] = [PTX_BYTES[bits] for bits in re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)", params)]
    return found


def check_against_ptx(plan: LaunchPlan, ptx: str) -> None:
    """Raise UsageError unless every step's arguments fit its kernel's parameters in the PTX."""
    known = ptx_parameters(ptx)
    for number, step in enumerate(plan.steps):
        where = f"step {number} ({step.kernel})"
        if step.kernel not in known:
            raise UsageError(f"{where}: {plan.ptx} has no such kernel")
        given = [8 if isinstance(a, Pointer) else ITEM_BYTES[a.dtype] for a in step.args]
        if given != known[step.kernel]:
            raise UsageError(f"{where}: arguments of {given} bytes, but the kernel takes {known[step.kernel]}")


def _step_json(step: Step) -> dict[str, Any]:
    data = asdict(step)
    data["args"] = [
        {"in": a.space, "index": a.index} | ({"byte_offset": a.byte_offset} if a.byte_offset else {})
        if isinstance(a, Pointer)
        else {"in": "value", "dtype": a.dtype, "value": a.value}
        for a in step.args
    ]
    return data


def _read(data: Mapping[str, Any]) -> LaunchPlan:
    def tensor(item: Mapping[str, Any]) -> TensorSpec:
        return TensorSpec(item["name"], tuple(item["shape"]), item["dtype"])

    def arg(item: Mapping[str, Any]) -> Pointer | Scalar:
        if item["in"] == "value":
            return Scalar(item["dtype"], item["value"])
        return Pointer(item["in"], item["index"], item.get("byte_offset", 0))

    def step(item: Mapping[str, Any]) -> Step:
        return Step(
            kernel=item["kernel"],
            grid=_three(item["grid"]),
            block=_three(item["block"]),
            args=tuple(arg(a) for a in item["args"]),
            shared_bytes=item.get("shared_bytes", 0),
            source=item.get("source", ""),
            writes=tuple(item.get("writes", ())),
        )

    return LaunchPlan(
        chip=data["chip"],
        inputs=tuple(tensor(t) for t in data["inputs"]),
        constants=tuple(ConstantSpec(c["name"], tuple(c["shape"]), c["dtype"], c["sha256"]) for c in data["constants"]),
        outputs=tuple(tensor(t) for t in data["outputs"]),
        buffers=tuple(Buffer(b["bytes"], b["offset"], b["first"], b["last"]) for b in data["buffers"]),
        steps=tuple(step(s) for s in data["steps"]),
        arena_bytes=data["arena_bytes"],
        ptx=data["ptx"],
        cubin=data.get("cubin"),
        model=data.get("model", ""),
        extra=dict(data.get("extra", {})),
    )


def _three(values: list[int]) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z


def _lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"    {json.dumps(item)}" for item in value) + "\n  ]"  # pyright: ignore[reportUnknownVariableType]
    return json.dumps(value)
