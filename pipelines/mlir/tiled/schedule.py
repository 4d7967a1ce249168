"""Transform scripts, as text made from tile sizes."""

from collections.abc import Mapping, Sequence

from pipelines.mlir.tiled.strategy import Tiling

OP = "!transform.any_op"


def script(body: str, *sequences: str) -> str:
    """A transform module whose main sequence runs `body` on `%root`; `sequences` are named ones it may include."""
    main = f"""  transform.named_sequence @__transform_main(%root: {OP} {{transform.readonly}}) {{
{body}
    transform.yield
  }}"""
    return "\n".join(["module attributes {transform.with_named_sequence} {", main, *sequences, "}"])


def chain_script(chains: Sequence[Sequence[int]]) -> str:
    """Tile the last operation of each chain and fuse all that is before it, up to the fences."""
    calls = [f"    transform.include @chain{n} failures(suppress) (%root) : ({OP}) -> ()" for n in range(len(chains))]
    sequences = [
        f"""  transform.named_sequence @chain{n}(%root: {OP} {{transform.readonly}}) {{
{_match("last", "tiled.chain", n)}
    %fused, %loop = transform.structured.fuse %last tile_sizes [{", ".join(map(str, sizes))}]
        {{apply_cleanup, use_forall}} : ({OP}) -> ({OP}, {OP})
    transform.yield
  }}"""
        for n, sizes in enumerate(chains)
    ]
    return script("\n".join(calls), *sequences)


def share_script(shares: Sequence[Sequence[int]]) -> str:
    """Tile each shared operation into pieces."""
    calls = [f"    transform.include @share{n} failures(suppress) (%root) : ({OP}) -> ()" for n in range(len(shares))]
    sequences = [
        f"""  transform.named_sequence @share{n}(%root: {OP} {{transform.readonly}}) {{
{_match("whole", "tiled.share", n)}
{_tile("whole", "pieces", "forall", sizes)}
    transform.yield
  }}"""
        for n, sizes in enumerate(shares)
    ]
    return script("\n".join(calls), *sequences)


def tile_script(
    tilings: Mapping[int, Tiling],
    reductions: Mapping[int, Sequence[int]],
    inits: Sequence[int],
    shared: Sequence[int] = (),
) -> str:
    """Tile each group: pieces for threads, then tiles of registers, then the anchor's reductions one step at a time.

    `reductions[n]` are the anchor's tile sizes along its own loops (0 along parallel ones); `inits` the groups that
    fill their output, `shared` the groups in a piece already. A group that cannot be tiled is left as it was.
    """
    calls = [f"    transform.include @group{n} failures(suppress) (%root) : ({OP}) -> ()" for n in tilings]
    groups = [_group(n, tiling, reductions[n], n in inits, n in shared) for n, tiling in tilings.items()]
    return script("\n".join(calls), *groups)


def _group(number: int, tiling: Tiling, reductions: Sequence[int], has_init: bool, shared: bool) -> str:
    lines = [_match("root0", "tiled.root", number), _match("anchor0", "tiled.anchor", number)]
    lines += [_match("init0", "tiled.init", number)] if has_init else []
    levels = [("for", tiling.inner)] if shared else [("forall", tiling.outer), ("for", tiling.inner)]
    for level, (kind, sizes) in enumerate(levels):
        lines += _tile_and_fuse(level, kind, sizes, has_init)
    lines += [_tile(f"anchor{len(levels)}", "step", "for", reductions)]
    body = "\n".join(lines)
    return f"""  transform.named_sequence @group{number}(%root: {OP} {{transform.readonly}}) {{
{body}
    transform.yield
  }}"""


def _match(name: str, mark: str, number: int) -> str:
    return f"    %{name} = transform.structured.match attributes {{{mark} = {number} : i64}} in %root : ({OP}) -> {OP}"


def _tile_and_fuse(level: int, kind: str, sizes: Sequence[int], has_init: bool) -> list[str]:
    """Tile the root and bring its producers into the innermost new loop."""
    loops = 1 if kind == "forall" else sum(size > 0 for size in sizes)
    inner = f"%loop{level}" if loops == 1 else f"%loop{level}#{loops - 1}"
    lines = [_tile(f"root{level}", f"loop{level}", kind, sizes, f"root{level + 1}")]
    for producer in ["anchor", "init"] if has_init else ["anchor"]:
        held = f"%{producer}loop{level}"
        lines.append(
            f"    %{producer}{level + 1}, {held} = transform.structured.fuse_into_containing_op %{producer}{level}"
            f" into {inner} : ({OP}, {OP}) -> ({OP}, {OP})"
        )
        inner = held
    return lines


def _tile(name: str, loop: str, kind: str, sizes: Sequence[int], result: str = "tiled") -> str:
    loops = 1 if kind == "forall" else sum(size > 0 for size in sizes)
    many = f":{loops}" if loops > 1 else ""
    results = ", ".join([OP] * (loops + 1))
    listed = ", ".join(map(str, sizes))
    return (
        f"    %{result}, %{loop}{many} = transform.structured.tile_using_{kind} %{name} tile_sizes [{listed}]"
        f" : ({OP}) -> ({results})"
    )


def on_functions(*patterns: str, then: str = "") -> str:
    """A script that applies pattern sets to each function, and then more steps on `%funcs`."""
    listed = "\n".join(f"      transform.apply_patterns.{p}" for p in patterns)
    return script(f"""    %funcs = transform.structured.match ops{{["func.func"]}} in %root : ({OP}) -> {OP}
    transform.apply_patterns to %funcs {{
{listed}
    }} : {OP}
{then}""")


SIMPLIFY_TILES = on_functions(
    "linalg.tiling_canonicalization",
    "linalg.fold_unit_extent_dims_via_slices",
    "tensor.merge_consecutive_insert_extract_slice",
)
"""Fold the loops of size 1 that tiling leaves, so that a tile is two-dimensional.

Without the canonicalizer: it erases the copy that is the root of a group without a user to fuse.
"""

VECTORIZE = script(
    f"""    %tiles = transform.structured.match attributes {{tiled.vectorize}} in %root : ({OP}) -> {OP}
    transform.foreach %tiles : {OP} {{
    ^bb0(%tile: {OP}):
      transform.include @one failures(suppress) (%tile) : ({OP}) -> ()
    }}""",
    f"""  transform.named_sequence @one(%tile: {OP} {{transform.consumed}}) {{
    transform.structured.vectorize %tile : {OP}
    transform.yield
  }}""",
)
"""Vectorize each marked tile; one that cannot be vectorized stays a loop."""

HOIST_ACCUMULATORS = on_functions(
    "vector.transfer_permutation_patterns",
    "tensor.fold_tensor_subset_ops_into_vector_transfers",
    "tensor.merge_consecutive_insert_extract_slice",
    "canonicalization",
    then=f"""    %loops = transform.structured.match interface{{LoopLikeInterface}} in %funcs : ({OP}) -> {OP}
    transform.apply_licm to %loops : {OP}
    transform.foreach %loops : {OP} {{
    ^bb0(%loop: {OP}):
      transform.loop.hoist_loop_invariant_subsets %loop : {OP}
    }}
    transform.apply_patterns to %funcs {{
      transform.apply_patterns.canonicalization
    }} : {OP}""",
)
"""Keep a tile of the output in registers across the reduction loops instead of writing it back at each step."""
