"""Fuses a softmax and the matmuls around it into one loop over rows, so that no score leaves the cache.

A chain is a contraction with everything that computes its operands row by row: each member has all of the chain's
batch and row loops, and nothing outside the chain uses it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dialects.bindings import Module, Operation
from pipelines.mlir.tiled.edit import defining, ir, ops_named, users
from pipelines.mlir.tiled.fences import Fences
from pipelines.mlir.tiled.nest import Access, LoopNest, read_nest

CHAIN = "tiled.chain"
MAX_MEMBERS = 16
"""Longest chain: fusion copies a member once for each of its users before it removes the copies again."""
SHARED_BYTES = 512 * 1024
"""Most that every piece of a chain may read whole: it should stay in a second-level cache."""
ROW_BYTES = 64 * 1024
"""Most that a member may hold for the rows of one piece."""

Tags = dict[int, int]
"""Which of the chain's loops a loop, or a dimension, follows."""


@dataclass
class Chain:
    """The last operation, its tile sizes, and the members before it."""

    last: Operation
    tiles: tuple[int, ...]
    members: list[Operation] = field(default_factory=list[Operation])


def mark_chains(module: Module, smallest: int = 0) -> list[tuple[int, ...]]:
    """Mark the last operation of each chain with its number, and fence what must not be fused into it.

    Gives the tile sizes of each chain's last operation, one a loop. `smallest` is the fewest iterations that operation
    must have.
    """
    tiles: list[tuple[int, ...]] = []
    taken: list[Operation] = []
    fences = Fences(module)
    for op in reversed(ops_named(module, "linalg.generic")):
        chain = find_chain(op, smallest) if op not in taken else None
        if chain is None:
            continue
        op.attributes[CHAIN] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(tiles))
        tiles.append(chain.tiles)
        taken += chain.members
        for member in (op, *chain.members):
            for number, value in enumerate(member.operands):
                if _outside(value, chain):
                    fences.before(member, number)
    return tiles


def find_chain(last: Operation, smallest: int = 0) -> Chain | None:
    """The chain that ends in a contraction; None when there is no second contraction in it or no room for it."""
    nest = read_nest(last)
    if nest is None or not nest.contraction or nest.windowed or len(nest.outputs[0].indices) < 2:
        return None
    if nest.iterations < smallest:
        return None
    loops = [index[0][0] for index in nest.outputs[0].indices if len(index) == 1]
    if len(loops) != len(nest.outputs[0].indices):
        return None
    shared = loops[:-1]
    chain = Chain(last, ())
    tags = {loop: loop for loop in shared}
    _collect(chain, last, nest, tags)
    nests = [n for op in chain.members if (n := read_nest(op)) is not None]
    if len(chain.members) > MAX_MEMBERS or not any(n.contraction for n in nests):
        return None
    rows = _rows(nest.sizes[shared[-1]], [*nests, nest], nest.sizes, shared)
    if rows < 4 or _read_whole(chain, shared) > SHARED_BYTES:
        return None
    chain.tiles = tuple((rows if loop == shared[-1] else 1) if loop in shared else 0 for loop in range(len(nest.sizes)))
    return chain


def _collect(chain: Chain, op: Operation, nest: LoopNest, tags: Tags) -> None:
    """Add the producers of an operation that follow all of the chain's loops, then theirs."""
    for value, access in zip(op.operands, nest.accesses, strict=True):
        producer = _producer(value)
        if producer is None or producer in chain.members:
            continue
        made = read_nest(producer)
        if made is None or len(made.outputs) != 1 or made.windowed or not _inside(producer, chain):
            continue
        followed = _follow(access, tags, made.outputs[0])
        if set(followed.values()) == set(tags.values()):
            chain.members.append(producer)
            _collect(chain, producer, made, followed)


def _follow(access: Access, tags: Tags, output: Access) -> Tags:
    """Tags of a producer's loops, through the tensor it makes; those of loops that are not plain are dropped."""
    followed: Tags = {}
    for read, written in zip(access.indices, output.indices, strict=True):
        if len(read) == 1 and len(written) == 1 and read[0][1] == written[0][1] == 1 and read[0][0] in tags:
            followed[written[0][0]] = tags[read[0][0]]
    return followed


def _inside(op: Operation, chain: Chain) -> bool:
    return all(user in (chain.last, *chain.members) for user in users(op.results[0]))


def _outside(value: Any, chain: Chain) -> bool:
    """Whether a tensor comes from before the chain; an empty one may be made anywhere."""
    if not isinstance(value.type, ir.RankedTensorType) or defining(value, "tensor.empty") is not None:
        return False
    producer = _producer(value)
    return producer is None or producer not in chain.members


def _producer(value: Any) -> Operation | None:
    return defining(value, "linalg.generic")


def _rows(extent: int, nests: Sequence[LoopNest], sizes: Sequence[int], shared: Sequence[int]) -> int:
    """Rows of a piece: the largest divisor whose widest member still fits."""
    whole = math.prod(sizes[loop] for loop in shared)
    row = max(math.prod(n.outputs[0].shape) * n.bits // 8 for n in nests) // whole
    limit = max(1, ROW_BYTES // max(row, 1))
    return max(d for d in range(1, min(extent, limit) + 1) if extent % d == 0)


def _read_whole(chain: Chain, shared: Sequence[int]) -> int:
    """Bytes of one batch's operands that do not follow the row."""
    total = 0
    for op in (chain.last, *chain.members):
        nest = read_nest(op)
        if nest is None:
            continue
        for value, access in zip(op.operands, nest.inputs, strict=False):
            if nest.contraction and _outside(value, chain):
                total = max(total, math.prod(access.shape[-2:]) * nest.bits // 8)
    return total
