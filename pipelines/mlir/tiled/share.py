"""Cuts what was not tiled into one piece of work a thread."""

from dialects.bindings import Module
from pipelines.mlir.tiled.edit import in_piece, ir, ops_named
from pipelines.mlir.tiled.nest import LoopNest, read_nest

MIN_ITERATIONS = 128 * 1024
"""Fewest iterations of a loop nest that are worth waking a thread for."""
MIN_PRODUCTS = 512 * 1024
"""Fewest multiply-adds of a tiled operation that are: about ten microseconds of one thread."""
SHARE = "tiled.share"


def mark_shares(module: Module, threads: int) -> list[tuple[int, ...]]:
    """Number the operations outside of pieces that are worth sharing; gives their tile sizes, one a loop."""
    tiles: list[tuple[int, ...]] = []
    for op in ops_named(module, "linalg.generic"):
        nest = read_nest(op) if not in_piece(op) else None
        sizes = share(nest, threads) if nest is not None else None
        if sizes is not None:
            op.attributes[SHARE] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(tiles))
            tiles.append(sizes)
    return tiles


def share(nest: LoopNest, threads: int) -> tuple[int, ...] | None:
    """Tile sizes that give every thread a piece of the outermost loop that has enough; None if none does."""
    if nest.iterations < MIN_ITERATIONS:
        return None
    for loop, (size, parallel) in enumerate(zip(nest.sizes, nest.parallel, strict=True)):
        if parallel and size >= threads:
            pieces = next(p for p in range(threads, size + 1) if size % p == 0)
            return tuple(size // pieces if other == loop else 0 for other in range(len(nest.sizes)))
    return None
