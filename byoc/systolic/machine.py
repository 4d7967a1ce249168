"""The description of an array: its TOML file, its presets and what each number means."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from workbench.core.arrays import numpy_dtype
from workbench.core.errors import UsageError

PRESETS = Path(__file__).parents[1] / "presets"

ACCUMULATOR_DTYPE = {"int8": "int32", "float16": "float32", "bfloat16": "float32", "float32": "float32"}
"""Element dtype of the scratchpad -> the 32-bit dtype that products are summed in."""


OPERATIONS = ("matmul", "conv2d")
"""What a machine may be said to take: products of matrices, and convolutions by im2col in its DMA."""


class Dataflow(StrEnum):
    """Which operand of C[M,N] += A[M,K] B[K,N] stays in the processing elements."""

    WS = "ws"
    """B stays, a piece of R rows (of K) by C columns (of N) at a time; rows of A stream through."""
    OS = "os"
    """C stays, R rows (of M) by C columns (of N); A enters from the left, B from the top."""
    IS = "is"
    """A stays, R rows (of K) by C columns (of M); columns of B stream through."""


@dataclass(frozen=True)
class Energy:
    """Picojoules: of one multiply-accumulate by element dtype, and of one byte read or written by memory."""

    mac: Mapping[str, float]
    scratchpad_byte: float
    accumulator_byte: float
    dram_byte: float


@dataclass(frozen=True)
class Machine:
    """One array of R x C processing elements with its memories.

    `dataflow` is what the lowering uses unless told otherwise. `dram_bytes_per_cycle` is the width of the one bus to
    DRAM; `dma_channels` is how many transfers may be under way, so that their latencies overlap.
    `double_buffered` lets the lowering split each memory in two halves: one filled while the other is used.
    `operations` are those of OPERATIONS that compilers may send to it; a file that leaves them out means all.
    `tile` fixes m, k, n of every tile; without it the lowering chooses.
    """

    name: str
    rows: int
    columns: int
    dataflow: Dataflow
    scratchpad_bytes: int
    accumulator_bytes: int
    double_buffered: bool
    dram_bytes_per_cycle: int
    dram_latency_cycles: int
    dma_channels: int
    clock_mhz: float
    energy_pj: Energy
    operations: tuple[str, ...] = OPERATIONS
    tile: tuple[int, ...] = ()

    def __hash__(self) -> int:
        """By name; equality compares everything."""
        return hash(self.name)

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Element dtypes it multiplies: those with an energy per multiply-accumulate."""
        return tuple(self.energy_pj.mac)

    @property
    def buffers(self) -> int:
        """Tiles of one operand held at a time: 2 when double-buffered."""
        return 2 if self.double_buffered else 1

    def scratchpad_elements(self, dtype: str) -> int:
        """Capacity in elements of `dtype`; scratchpad addresses count these."""
        return self.scratchpad_bytes // numpy_dtype(dtype).itemsize

    @property
    def accumulator_words(self) -> int:
        """Capacity in 32-bit words; accumulator addresses count these."""
        return self.accumulator_bytes // 4


def presets() -> tuple[str, ...]:
    """Names that `load_machine` knows without a file."""
    return tuple(sorted(p.stem for p in PRESETS.glob("*.toml")))


def load_machine(name_or_path: str | Path) -> Machine:
    """Read a preset by name or a TOML file by path. Raises UsageError naming the file and the key."""
    path = Path(name_or_path)
    if path.suffix != ".toml":
        if str(name_or_path) not in presets():
            raise UsageError(f"no accelerator '{name_or_path}'; known: {', '.join(presets())}, or give a .toml file")
        path = PRESETS / f"{name_or_path}.toml"
    return _read(path.resolve(), path.stat().st_mtime_ns if path.is_file() else 0)


@cache
def _read(path: Path, changed: int) -> Machine:
    """Parse once per version of the file."""
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    return parse_machine(data, str(path))


def parse_machine(data: Mapping[str, Any], where: str) -> Machine:
    """A machine from parsed TOML. Raises UsageError naming `where` and the key that is missing, unknown or bad."""
    top = _Section(where, "", data)
    array, memory, dram, energy = (top.section(name) for name in ("array", "memory", "dram", "energy_pj"))
    mac = energy.section("mac")
    machine = Machine(
        name=top.text("name"),
        rows=array.integer("rows", 4, 256),
        columns=array.integer("columns", 4, 256),
        dataflow=Dataflow(array.choice("dataflow", tuple(Dataflow))),
        scratchpad_bytes=memory.integer("scratchpad_bytes", 64, 2**31),
        accumulator_bytes=memory.integer("accumulator_bytes", 64, 2**31),
        double_buffered=memory.flag("double_buffered"),
        dram_bytes_per_cycle=dram.integer("bytes_per_cycle", 1, 2**31),
        dram_latency_cycles=dram.integer("latency_cycles", 0, 2**31),
        dma_channels=dram.integer("channels", 1, 256),
        clock_mhz=top.number("clock_mhz"),
        energy_pj=Energy(
            mac={name: mac.number(name) for name in mac.keys_among(tuple(ACCUMULATOR_DTYPE))},
            scratchpad_byte=energy.number("scratchpad_byte"),
            accumulator_byte=energy.number("accumulator_byte"),
            dram_byte=energy.number("dram_byte"),
        ),
        operations=top.choices("operations", OPERATIONS),
        tile=array.sizes("tile", 3),
    )
    for section in (top, array, memory, dram, energy, mac):
        section.refuse_unknown()
    return machine


class _Section:
    """One table of the file; every read names the key when it fails."""

    def __init__(self, where: str, prefix: str, data: Mapping[str, Any]) -> None:
        self.where, self.prefix, self.data = where, prefix, data
        self.seen: set[str] = set()

    def wrong(self, key: str, need: str) -> UsageError:
        found = f", not {self.data[key]!r}" if key in self.data else "; it is missing"
        return UsageError(f"{self.where}: {self.prefix}{key} must be {need}{found}")

    def get(self, key: str) -> Any:
        self.seen.add(key)
        return self.data.get(key)

    def section(self, key: str) -> "_Section":
        value = self.get(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "a table")
        return _Section(self.where, f"{self.prefix}{key}.", value)

    def text(self, key: str) -> str:
        value = self.get(key)
        if not isinstance(value, str) or not value:
            raise self.wrong(key, "a name")
        return value

    def flag(self, key: str) -> bool:
        value = self.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def integer(self, key: str, low: int, high: int) -> int:
        value = self.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(key, f"an integer from {low} to {high}")
        return value

    def number(self, key: str) -> float:
        value = self.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < float("inf"):
            raise self.wrong(key, "a positive number")
        return float(value)

    def choice(self, key: str, among: tuple[str, ...]) -> str:
        value = self.get(key)
        if value not in among:
            raise self.wrong(key, "one of " + ", ".join(among))
        return str(value)

    def choices(self, key: str, among: tuple[str, ...]) -> tuple[str, ...]:
        value = self.get(key)
        if value is None:
            return among
        if not isinstance(value, list) or not value or any(v not in among for v in value):
            raise self.wrong(key, "a list of " + ", ".join(among))
        return tuple(v for v in among if v in value)

    def sizes(self, key: str, count: int) -> tuple[int, ...]:
        value = self.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) != count or any(type(v) is not int or v < 1 for v in value):
            raise self.wrong(key, f"a list of {count} positive integers")
        return tuple(value)

    def keys_among(self, among: tuple[str, ...]) -> list[str]:
        names = [name for name in among if name in self.data]
        if not names:
            raise UsageError(f"{self.where}: {self.prefix.rstrip('.')} names no dtype; known: {', '.join(among)}")
        return names

    def refuse_unknown(self) -> None:
        if unknown := sorted(set(self.data) - self.seen):
            raise UsageError(
                f"{self.where}: unknown key {self.prefix}{unknown[0]}; known: {', '.join(sorted(self.seen))}"
            )
