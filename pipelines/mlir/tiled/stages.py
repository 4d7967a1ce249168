"""The stages of the tiled level, from linalg on tensors to loops over vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from dialects import bindings
from dialects.bindings import Operation, inside, text_of
from pipelines.mlir.linalg import BUFFERIZE, arguments_read_only, results_apart
from pipelines.mlir.passes import PassRunner
from pipelines.mlir.stage import MlirStage, open_module
from pipelines.mlir.tiled import (
    chain,
    copies,
    fuse,
    group,
    layout,
    math,
    panels,
    reshapes,
    schedule,
    share,
    vectors,
    weights,
)
from pipelines.mlir.tiled.edit import in_piece
from pipelines.mlir.tiled.fences import remove_fences
from pipelines.mlir.tiled.machine import registers
from pipelines.mlir.tiled.nest import read_nest
from pipelines.mlir.tiled.strategy import Registers, Split, Tiling
from workbench.core.artefact import Artefact
from workbench.core.errors import Skip
from workbench.core.kinds import IRKind
from workbench.core.stage import Context, Stage
from workbench.core.tensors import ConstantSpec
from workbench.core.trace.layout import get_constant, put_constant

CLEAN = "canonicalize,cse"
STACK = "func.func(buffer-hoisting,buffer-loop-hoisting,promote-buffers-to-stack{max-alloc-size-in-bytes=1024})"
"""Small buffers on the stack, out of the loops first: the stack is only given back when the function returns.

Not with threads: OpenMP's loops keep a stack of their own in an operation that the way to LLVM does not take.
"""
BUFFER_LIFETIMES = "func.func(buffer-hoisting),buffer-deallocation-pipeline,canonicalize"


@dataclass(frozen=True)
class FuseAround(MlirStage):
    """Fuses elementwise operations with each other, but not into the operations that are tiled later."""

    name: ClassVar[str] = "fuse-around"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.LINALG

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        loose = fuse.loose_ops(passes.module)
        if loose:
            passes.transform("generalize-loose-ops", fuse.generalize_script(loose))
        passes.rewrite("fence-anchors", fuse.fence_anchors)
        passes.run(f"{CLEAN},func.func(linalg-fuse-elementwise-ops),{CLEAN}")
        passes.rewrite("remove-fences", remove_fences)
        passes.run(f"{CLEAN},func.func(linalg-generalize-named-ops)")
        passes.rewrite("sink-reshapes", reshapes.sink_reshapes)
        passes.run(CLEAN)


@dataclass(frozen=True)
class ChannelsLast(MlirStage):
    """Convolutions and pools with the channel innermost; the transposes between them cancel."""

    name: ClassVar[str] = "channels-last"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.LINALG

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        passes.rewrite("channels-last", layout.channels_last)
        passes.rewrite("cancel-transposes", layout.cancel_transposes)
        passes.run(CLEAN)


@dataclass(frozen=True)
class FuseChains(MlirStage):
    """Fuses a matmul, what follows it row by row (a softmax), and the matmul after that into one loop over rows."""

    name: ClassVar[str] = "fuse-chains"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.LINALG

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        chains: list[tuple[int, ...]] = []
        smallest = share.MIN_PRODUCTS if ctx.target.threads > 1 else 0
        passes.rewrite("mark-chains", lambda module: chains.extend(chain.mark_chains(module, smallest)))
        if chains:
            passes.transform("fuse-chains", schedule.chain_script(chains))
        passes.rewrite("remove-fences", remove_fences)
        passes.run(CLEAN)


@dataclass(frozen=True)
class Tile(MlirStage):
    """Tiles contractions, convolutions and pools, with what fills their output and what uses their result fused in."""

    name: ClassVar[str] = "tile"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.TILED

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        machine, threads = registers(ctx.target), ctx.target.threads
        passes.rewrite("form-groups", lambda module: group.form_groups(module, machine))
        passes.rewrite("relax-reductions", vectors.relax_reductions)
        tilings = self._split(passes, machine, threads)
        if tilings:
            groups = group.members(passes.module)
            steps = {n: group.reduction_steps(groups[n]) for n in tilings}
            inits = [n for n in tilings if group.INIT in groups[n]]
            alone = [n for n in tilings if in_piece(groups[n][group.ROOT]) or self._small(threads, groups[n])]
            passes.transform("tile-and-fuse", schedule.tile_script(tilings, steps, inits, alone))
            passes.rewrite("fill-tiles-apart", vectors.fill_tiles_apart)
            passes.transform("simplify-tiles", schedule.SIMPLIFY_TILES)

    def _small(self, threads: int, members: Mapping[str, Operation]) -> bool:
        """Whether one thread is done before the others have woken."""
        nest = read_nest(members[group.ANCHOR])
        return threads > 1 and nest is not None and nest.iterations < share.MIN_PRODUCTS

    def _split(self, passes: PassRunner, machine: Registers, threads: int) -> dict[int, Tiling]:
        """Cut groups until each has tiles that divide it; one cut a dimension is enough."""
        while True:
            plan = group.plan(passes.module, machine, threads)
            splits = {n: choice for n, choice in plan.items() if isinstance(choice, Split)}
            if not splits:
                return {n: choice for n, choice in plan.items() if isinstance(choice, Tiling)}
            passes.rewrite("split-groups", lambda module, splits=splits: group.split_groups(module, splits))


@dataclass(frozen=True)
class Pack(Stage):
    """Lays out operands in the order in which the tiles read them.

    Weights are stored once more in that order, and the function takes those; other matrices are copied as it runs.
    """

    name: ClassVar[str] = "pack"
    consumes: ClassVar[IRKind] = IRKind.TILED
    produces: ClassVar[IRKind] = IRKind.TILED

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        assert ir.signature is not None, "tiled linalg without a signature"
        first, constants = len(ir.signature.inputs), ir.signature.constants
        numbers = range(first, first + len(constants))
        packings: dict[int, weights.Packing] = {}
        module = open_module(ir)
        with inside(module):
            passes = PassRunner(bindings, module, ctx.observers, ctx.capture)
            passes.rewrite("pack-weights", lambda m: packings.update(weights.pack_weights(m, numbers)))
            passes.rewrite("pack-panels", panels.pack_panels)
            text, located = text_of(module), text_of(module, located=True)
        packed = tuple(
            store_packed(ctx.store, c, packings[first + i]) if first + i in packings else c
            for i, c in enumerate(constants)
        )
        signature = replace(ir.signature, constants=packed)
        return replace(ir.derive(self.produces, text, handle=module, located=located), signature=signature)


def store_packed(store: Path, constant: ConstantSpec, packing: weights.Packing) -> ConstantSpec:
    """Put the packed weight into the store; gives its description."""
    array = packing.apply(get_constant(store, constant.sha256, constant.dtype))
    return replace(constant, shape=array.shape, sha256=put_constant(store, array))


@dataclass(frozen=True)
class Share(MlirStage):
    """Shares among the threads what was not tiled: reductions, elementwise operations, transposes."""

    name: ClassVar[str] = "share"
    consumes: ClassVar[IRKind] = IRKind.TILED
    produces: ClassVar[IRKind] = IRKind.TILED

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        if ctx.target.threads == 1:
            raise Skip("the target has one thread")
        passes.run("func.func(linalg-generalize-named-ops)")
        shares: list[tuple[int, ...]] = []
        passes.rewrite("mark-shares", lambda module: shares.extend(share.mark_shares(module, ctx.target.threads)))
        if shares:
            passes.transform("share", schedule.share_script(shares))
            passes.run(CLEAN)


@dataclass(frozen=True)
class Vectorize(MlirStage):
    """Turns each tile into vectors and keeps the tile of the output in registers across its reductions."""

    name: ClassVar[str] = "vectorize"
    consumes: ClassVar[IRKind] = IRKind.TILED
    produces: ClassVar[IRKind] = IRKind.TILED

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        passes.rewrite("slice-strides", vectors.slice_strides)
        passes.rewrite("mark-tiles", vectors.mark_tiles)
        passes.transform("vectorize", schedule.VECTORIZE)
        passes.transform("hoist-accumulators", schedule.HOIST_ACCUMULATORS)
        passes.rewrite("write-in-place", vectors.write_in_place)
        passes.rewrite("expand-math", math.expand_math)
        passes.run(CLEAN)


@dataclass(frozen=True)
class BufferizeTiles(MlirStage):
    """Gives every tensor a buffer; tiles are written in place, so none is allocated in a loop that was vectorized."""

    name: ClassVar[str] = "bufferize-tiles"
    consumes: ClassVar[IRKind] = IRKind.TILED
    produces: ClassVar[IRKind] = IRKind.BUFFERS

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        passes.rewrite("arguments-read-only", arguments_read_only)
        passes.rewrite("results-apart", results_apart)
        if ctx.target.threads > 1:
            passes.run(f"{BUFFERIZE},func.func(scf-forall-to-parallel),{BUFFER_LIFETIMES}")
        else:
            passes.run(f"{BUFFERIZE},func.func(scf-forall-to-for),{STACK},{BUFFER_LIFETIMES}")


@dataclass(frozen=True)
class VectorLoops(MlirStage):
    """Rows of vectors in place of two-dimensional ones, and plain loops for what was not tiled."""

    name: ClassVar[str] = "vector-loops"
    consumes: ClassVar[IRKind] = IRKind.BUFFERS
    produces: ClassVar[IRKind] = IRKind.LOOPS

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        if ctx.target.threads > 1:
            passes.run(f"convert-scf-to-openmp{{num-threads={ctx.target.threads}}}")
        passes.run(f"fold-memref-alias-ops,{CLEAN}")
        passes.rewrite("copy-by-rows", copies.copy_by_rows)
        passes.rewrite("broadcast-columns", vectors.broadcast_columns)
        # No canonicalizer after this: it would turn rows put into a tile into single elements.
        passes.run("func.func(convert-vector-to-scf{full-unroll=true target-rank=1},convert-linalg-to-loops),cse")


TILED_STAGES: tuple[type[Stage], ...] = (
    FuseAround,
    ChannelsLast,
    FuseChains,
    Tile,
    Pack,
    Share,
    Vectorize,
    BufferizeTiles,
    VectorLoops,
)
"""From linalg on tensors to loops, in order."""
