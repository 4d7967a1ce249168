"""A GEMM or conv2d to a program: tiles in DRAM order, loads ahead of the product when the machine is double-buffered.

The schedule, one step for each tile product (K inmost):
    activate the tile of C that the step before completed, start loading the next step's operands,
    wait for this step's operands, preload, multiply, store what was activated.
Every operand has `machine.buffers` slots; a tile that is already in one is not loaded again. A slot is overwritten
only behind a Fence on the tag of whoever used it last.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from byoc.systolic.gemm import Tile, Tiling, Work, buffers_of
from byoc.systolic.layout import Layout
from byoc.systolic.machine import ACCUMULATOR_DTYPE, Dataflow, Machine
from byoc.systolic.operands import overlap
from byoc.systolic.program import (
    Activate,
    Block,
    Config,
    DmaLoad,
    DmaStore,
    Dram,
    Fence,
    Instruction,
    Matmul,
    Memory,
    Preload,
    Program,
)
from byoc.systolic.search import choose_tiling
from workbench.core.errors import CompileError


def gemm_program(machine: Machine, work: Work, tiling: Tiling | None = None, name: str = "") -> Program:
    """The program of `work` (Gemm or Conv2d) under the machine's dataflow; buffers as the class of `work` tells.

    Without a `tiling` the cheapest one by `byoc.systolic.cost` is taken. Raises CompileError, with the numbers, when
    a tile does not fit the scratchpad or the accumulator memory, or the machine does not multiply the dtype.
    """
    if work.dtype not in machine.dtypes:
        raise CompileError(f"{work.name}: {machine.name} multiplies {', '.join(machine.dtypes)}, not {work.dtype}")
    tiling = (tiling or choose_tiling(machine, work)).within(work.matrix)
    layout = Layout.of(machine, work, tiling)
    layout.require(machine, work, tiling)
    instructions = _Lowering(machine, work, tiling, layout).run()
    buffers = buffers_of(work, ACCUMULATOR_DTYPE[work.dtype])
    return Program(name or work.name, work.dtype, buffers, tuple(instructions))


def tiles(work: Work, tiling: Tiling) -> Iterator[Tile]:
    """Tile products in the order they are done."""
    gemm = work.matrix
    mt, _, nt = tiling.counts(gemm)
    mn, nm = ((i, j) for i in range(mt) for j in range(nt)), ((i, j) for j in range(nt) for i in range(mt))
    order = list(mn if tiling.order == "mn" else nm)
    for batch in range(gemm.batch):
        for i, j in order:
            m0, n0 = i * tiling.m, j * tiling.n
            m, n = min(tiling.m, gemm.m - m0), min(tiling.n, gemm.n - n0)
            for k0 in range(0, gemm.k, tiling.k):
                yield Tile(batch, m0, m, k0, min(tiling.k, gemm.k - k0), n0, n)


class _Finished(NamedTuple):
    """A tile of C to be stored once the tag `ready` is settled; `users` of the slot it lies in."""

    store: DmaStore
    ready: int
    users: set[int]


class _Slots:
    """The slots of one operand: which tile is in each, and the tags of those who use it."""

    def __init__(self, count: int, tag: int) -> None:
        self.keys: list[tuple[int, ...] | None] = [None] * count
        self.users: list[set[int]] = [set() for _ in range(count)]
        self.recent, self.first_tag = -1, tag

    def holds(self, key: tuple[int, ...]) -> bool:
        """Whether `key` is in a slot, which becomes the most recent one."""
        if key in self.keys:
            self.recent = self.keys.index(key)
        return key in self.keys

    def take(self, key: tuple[int, ...]) -> tuple[int, set[int]]:
        """The slot used least recently, for `key`, and the tags to wait for before it is overwritten."""
        slot = self.recent = (self.recent + 1) % len(self.keys)
        users, self.users[slot], self.keys[slot] = self.users[slot], set(), key
        return slot, users

    def tag(self, slot: int) -> int:
        """The tag of what fills the slot."""
        return self.first_tag + slot


class _Lowering:
    """Emits the instructions of one product."""

    def __init__(self, machine: Machine, work: Work, tiling: Tiling, layout: Layout) -> None:
        self.machine, self.work, self.layout = machine, work, layout
        self.steps = list(tiles(work, tiling))
        self.a, self.b, self.vectors, self.sums, self.out = (_Slots(layout.slots, 2 * i) for i in range(1, 6))
        self.code: list[Instruction] = [Config(machine.dataflow)]
        self.unsettled: set[int] = set()
        self.completed: tuple[Tile, int] | None = None
        self.held: Block | None = None

    def run(self) -> list[Instruction]:
        """All of the product."""
        if self.layout.slots > 1:
            self.load(self.steps[0])
        for i, tile in enumerate(self.steps):
            result = self.finish()
            if self.layout.slots == 1:
                self.store(result)
                self.load(tile)
            elif i + 1 < len(self.steps):
                self.load(self.steps[i + 1])
            self.multiply(tile, tag=12 + i % 2)
            if self.layout.slots > 1:
                self.store(result)
        self.store(self.finish())
        return self.code

    def emit(self, instruction: DmaLoad | DmaStore | Matmul | Activate) -> None:
        """Append, and remember that its tag is not settled."""
        self.code.append(instruction)
        self.unsettled.add(instruction.tag)

    def wait(self, tags: set[int]) -> None:
        """A Fence on those of `tags` that no Fence has settled yet."""
        if waited := tags & self.unsettled:
            self.code.append(Fence(tuple(sorted(waited))))
            self.unsettled -= waited

    def load(self, t: Tile) -> None:
        """Start loading those of a step's operands that are not on chip."""
        if not self.a.holds(key := _a_key(t)):
            slot, users = self.a.take(key)
            block = self.layout.a_block(slot, t.m, t.k)
            for piece in self.work.a_pieces(t):
                part = Block(block.address + piece.row * t.k + piece.column, piece.rows, piece.columns, t.k)
                self.fill(users, DmaLoad(piece.window, Memory.SCRATCHPAD, part, self.a.tag(slot)))
        if not self.b.holds(key := _b_key(t)):
            slot, users = self.b.take(key)
            block = self.layout.b_block(slot, t.k, t.n)
            self.fill(users, DmaLoad(self.work.b_window(t), Memory.SCRATCHPAD, block, self.b.tag(slot)))
        if self.layout.vectors and not self.vectors.holds(key := (t.n0,)):
            slot, users = self.vectors.take(key)
            names = ["bias"] * self.work.epilogue.bias + ["scale"] * self.work.epilogue.per_column
            for row, name in enumerate(names):
                source, block = Dram(name, t.n0, (1, t.n), (t.n, 1)), self.layout.vector_block(slot, row, t.n)
                self.fill(users, DmaLoad(source, Memory.ACCUMULATOR, block, self.vectors.tag(slot)))

    def fill(self, users: set[int], load: DmaLoad) -> None:
        """Load into a slot once its users are done; the array no longer holds what was there."""
        self.wait(users)
        self.emit(load)
        if load.memory is Memory.SCRATCHPAD and self.held is not None and overlap(load.target, self.held):
            self.held = None

    def multiply(self, t: Tile, tag: int) -> None:
        """One tile product, behind its operands and, for a new tile of C, the last user of its sums."""
        a, b = self.a.keys.index(_a_key(t)), self.b.keys.index(_b_key(t))
        needs = {self.a.tag(a), self.b.tag(b)}
        if t.k0 == 0:
            _, users = self.sums.take((t.batch, t.m0, t.n0))
            needs |= users
        self.wait(needs)
        a_block, b_block = self.layout.a_block(a, t.m, t.k), self.layout.b_block(b, t.k, t.n)
        stationary = {Dataflow.WS: b_block, Dataflow.IS: a_block, Dataflow.OS: None}[self.machine.dataflow]
        if stationary is not None and stationary != self.held:
            self.code.append(Preload(stationary))
            self.held = stationary
        c = self.layout.sum_block(self.sums.recent, t.m, t.n)
        self.emit(Matmul(a_block, b_block, c, t.k0 > 0, tag))
        self.a.users[a].add(tag)
        self.b.users[b].add(tag)
        if t.k0 + t.k == self.work.matrix.k:
            self.completed = t, tag

    def finish(self) -> "_Finished | None":
        """Activate the tile of C that the last Matmul completed, if it did."""
        if self.completed is None:
            return None
        (t, ready), self.completed = self.completed, None
        slot, epilogue = self.sums.recent, self.work.epilogue
        sums, users = self.layout.sum_block(slot, t.m, t.n), self.sums.users[slot]
        store = DmaStore(Memory.ACCUMULATOR, sums, self.work.c_window(t), self.out.tag(slot))
        if epilogue.plain:
            return _Finished(store, ready, users)
        needs, activate = {ready}, Activate(sums, Memory.ACCUMULATOR, sums, tag=self.sums.tag(slot))
        users.add(activate.tag)
        if epilogue.narrow:
            out, last = self.out.take((t.batch, t.m0, t.n0))
            users, needs = self.out.users[out], needs | last
            block = self.layout.out_block(out, t.m, t.n)
            activate = replace(activate, memory=Memory.SCRATCHPAD, target=block)
            store = DmaStore(Memory.SCRATCHPAD, block, store.target, self.out.tag(out))
        self.emit_activate(needs, activate, t)
        return _Finished(store, activate.tag, users)

    def emit_activate(self, needs: set[int], bare: Activate, t: Tile) -> None:
        """Activate with the epilogue's options, behind `needs` and its vectors."""
        epilogue, bias, scales = self.work.epilogue, None, None
        if self.layout.vectors:
            slot = self.vectors.keys.index((t.n0,))
            needs = needs | {self.vectors.tag(slot)}
            self.vectors.users[slot].add(bare.tag)
            rows = [self.layout.vector_block(slot, row, t.n).address for row in range(self.layout.vectors)]
            bias = rows[0] if epilogue.bias else None
            scales = rows[-1] if epilogue.per_column else None
        self.wait(needs)
        options = {"relu": epilogue.relu, "scale": epilogue.scale, "zero_point": epilogue.zero_point}
        self.emit(replace(bare, bias=bias, scales=scales, clip=epilogue.clip, **options))

    def store(self, finished: "_Finished | None") -> None:
        """Store a finished tile of C."""
        if finished is not None:
            self.wait({finished.ready})
            self.emit(finished.store)
            finished.users.add(finished.store.tag)


def _a_key(t: Tile) -> tuple[int, ...]:
    return (t.batch, t.m0, t.k0)


def _b_key(t: Tile) -> tuple[int, ...]:
    return (t.batch, t.k0, t.n0)
