"""How many threads work on one output element, and how many output elements one thread computes."""

import itertools
import math
from dataclasses import dataclass

from pipelines.mlir.cuda.structured import Structured

WARP = 32
_TILES = (4, 2)


@dataclass(frozen=True)
class LaunchRules:
    """Launch geometry rules.

    `block` threads a block for elementwise kernels, `reduce_block` for reductions. A reduction with fewer than
    `warp_below` output elements and at least 64 terms is shared by the 32 lanes of a warp. A contraction gives each
    thread a register tile of up to 16 output elements while at least `fill` threads remain (a quarter of what an
    H100-class GPU holds at once). With `fuse`, a kernel also initialises its accumulators and runs the elementwise
    operations that follow it.
    """

    block: int = 256
    reduce_block: int = 128
    warp_below: int = 131072
    fill: int = 65536
    fuse: bool = True


@dataclass(frozen=True)
class Schedule:
    """Decision for one kernel: `lanes` threads share an output element; `tile[d]` outputs a thread along `d`."""

    block: int
    lanes: int
    tile: dict[int, int]

    @property
    def outputs_per_thread(self) -> int:
        """Size of the register tile."""
        return math.prod(self.tile.values())


def choose(view: Structured, rules: LaunchRules) -> Schedule:
    """Schedule a structured operation."""
    if not view.reduction:
        return Schedule(rules.block, 1, {})
    outputs, terms = view.points(view.parallel), view.points(view.reduction)
    shared = outputs < rules.warp_below and terms >= 2 * WARP and view.combiner() is not None
    lanes = WARP if shared else 1
    most = max(1, lanes * outputs // max(1, rules.fill))
    return Schedule(rules.reduce_block, lanes, _tile(view, lanes, most) if terms >= WARP // 2 else {})


def _tile(view: Structured, lanes: int, most: int) -> dict[int, int]:
    """The largest tile of at most `most` elements over two dimensions along which some input is reused.

    The fastest dimension stays with neighbouring threads so that their stores coalesce, unless a warp shares the work.
    """
    inputs = [i for i in range(view.inputs) if view.reads(i)]
    if len(inputs) < 2:
        return {}
    dims = view.parallel if lanes > 1 else view.parallel[:-1]
    reused = [d for d in dims if any(not view.depends(i, d) for i in inputs)]
    options = {d: [t for t in _TILES if view.extents[d] % t == 0] for d in reused}
    singles = [{d: t} for d in reused for t in options[d]]
    pairs = [{a: s, b: t} for a, b in itertools.combinations(reused, 2) for s in options[a] for t in options[b]]
    fitting = [tile for tile in singles + pairs if math.prod(tile.values()) <= most]
    return max(fitting, key=lambda t: (math.prod(t.values()), -max(t.values())), default={})
