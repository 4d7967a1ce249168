"""The rewrites of the tiled level on small modules: what they change and what they leave."""

from typing import Any

import pytest

from dialects.bindings import inside, parse, run_pipeline, run_transform, text_of
from pipelines.mlir.tiled import chain, copies, fuse, group, layout, reshapes, schedule, share
from pipelines.mlir.tiled.edit import ops_named
from pipelines.mlir.tiled.fences import remove_fences
from pipelines.mlir.tiled.nest import Access, LoopNest, read_nest
from pipelines.mlir.tiled.strategy import Registers, Split, Tiling

CONV = """
func.func @main(%x: tensor<1x8x16x16xf32>, %w: tensor<32x8x3x3xf32>, %v: tensor<16x32x3x3xf32>)
    -> tensor<1x16x12x12xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x32x14x14xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %c0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x16x16xf32>, tensor<32x8x3x3xf32>)
      outs(%i0 : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %r0 = linalg.exp ins(%c0 : tensor<1x32x14x14xf32>) outs(%e0 : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %e1 = tensor.empty() : tensor<1x16x12x12xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x16x12x12xf32>) -> tensor<1x16x12x12xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%r0, %v : tensor<1x32x14x14xf32>, tensor<16x32x3x3xf32>)
      outs(%i1 : tensor<1x16x12x12xf32>) -> tensor<1x16x12x12xf32>
  return %c1 : tensor<1x16x12x12xf32>
}
"""

ATTENTION = """
#qk = affine_map<(h, s, t) -> (h, s, t)>
#row = affine_map<(h, s, t) -> (h, s)>
func.func @main(%q: tensor<2x16x8xf32>, %k: tensor<2x8x32xf32>, %v: tensor<2x32x16xf32>) -> tensor<2x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x16x32xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  %scores = linalg.batch_matmul ins(%q, %k : tensor<2x16x8xf32>, tensor<2x8x32xf32>)
      outs(%i0 : tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  %e1 = tensor.empty() : tensor<2x16xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x16xf32>) -> tensor<2x16xf32>
  %sums = linalg.generic {indexing_maps = [#qk, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scores : tensor<2x16x32xf32>) outs(%i1 : tensor<2x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<2x16xf32>
  %normal = linalg.generic {indexing_maps = [#qk, #row, #qk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %sums : tensor<2x16x32xf32>, tensor<2x16xf32>) outs(%e0 : tensor<2x16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<2x16x32xf32>
  %e2 = tensor.empty() : tensor<2x16x16xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %out = linalg.batch_matmul ins(%normal, %v : tensor<2x16x32xf32>, tensor<2x32x16xf32>)
      outs(%i2 : tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  return %out : tensor<2x16x16xf32>
}
"""


@pytest.fixture
def conv() -> Any:
    return parse(CONV)


@pytest.fixture
def attention() -> Any:
    module = parse(ATTENTION)
    run_pipeline(module, "builtin.module(func.func(linalg-generalize-named-ops))")
    return module


def test_fences_keep_fusion_out_of_anchors(conv: Any) -> None:
    with inside(conv):
        run_transform(conv, fuse.generalize_script(fuse.loose_ops(conv)))
        fuse.fence_anchors(conv)
        assert "call @tiled_fence" in text_of(conv)
        run_pipeline(conv, "builtin.module(func.func(linalg-fuse-elementwise-ops))")
        remove_fences(conv)
        assert "tiled_fence" not in text_of(conv)
        assert len(ops_named(conv, "linalg.conv_2d_nchw_fchw")) == 2
        assert len(ops_named(conv, "linalg.generic")) == 1


def test_channels_last_leaves_transposes_only_at_the_edges(conv: Any) -> None:
    """Image, two weights and the result: nothing between the convolutions."""
    with inside(conv):
        run_pipeline(conv, "builtin.module(func.func(linalg-generalize-named-ops))")
        layout.channels_last(conv)
        layout.cancel_transposes(conv)
        assert conv.operation.verify()
        run_pipeline(conv, "builtin.module(canonicalize,cse)")
        assert len(ops_named(conv, "linalg.transpose")) == 4
        nests = [n for op in ops_named(conv, "linalg.generic") if (n := read_nest(op)) is not None and n.contraction]
        assert [n.outputs[0].shape for n in nests] == [(1, 14, 14, 32), (1, 12, 12, 16)]
        assert [n.inputs[1].shape for n in nests] == [(3, 3, 8, 32), (3, 3, 32, 16)]


def test_groups_have_a_root_and_an_init_of_their_own(attention: Any) -> None:
    with inside(attention):
        group.form_groups(attention, Registers(512, 32))
        groups = group.members(attention)
        assert len(groups) == 2
        assert all(set(members) == {group.ANCHOR, group.INIT, group.ROOT} for members in groups.values())


def test_split_groups_cover_the_whole_output(attention: Any) -> None:
    with inside(attention):
        group.form_groups(attention, Registers(512, 32))
        number = max(group.members(attention))
        group.split_groups(attention, {number: Split(1, 12)})
        assert attention.operation.verify()
        shapes = [tuple(m[group.ROOT].results[0].type.shape) for m in group.members(attention).values()]
        assert sorted(shapes)[:2] == [(2, 4, 16), (2, 12, 16)]


def test_a_softmax_between_matmuls_is_one_chain(attention: Any) -> None:
    with inside(attention):
        sizes = chain.mark_chains(attention)
        assert sizes == [(1, 16, 0, 0)]
        run_transform(attention, schedule.chain_script(sizes))
        remove_fences(attention)
        run_pipeline(attention, "builtin.module(canonicalize,cse)")
        (loop,) = ops_named(attention, "scf.forall")
        outside = [op for op in ops_named(attention, "linalg.generic") if op.parent != loop]
        assert not outside


def test_a_chain_stops_at_what_others_use() -> None:
    """Scores that are returned as well have to be complete."""
    text = ATTENTION.replace(
        "-> tensor<2x16x16xf32> {\n  %zero", "-> (tensor<2x16x16xf32>, tensor<2x16x32xf32>) {\n  %zero"
    )
    text = text.replace(
        "return %out : tensor<2x16x16xf32>", "return %out, %scores : tensor<2x16x16xf32>, tensor<2x16x32xf32>"
    )
    module = parse(text)
    with inside(module):
        run_pipeline(module, "builtin.module(func.func(linalg-generalize-named-ops))")
        assert chain.mark_chains(module) == []


def test_reshapes_sink_below_elementwise_operations() -> None:
    same = "affine_map<(a, b, c) -> (a, b, c)>"
    module = parse(f"""
func.func @main(%x: tensor<6x5xf32>) -> tensor<2x3x5xf32> {{
  %wide = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, 5] : tensor<6x5xf32> into tensor<2x3x5xf32>
  %empty = tensor.empty() : tensor<2x3x5xf32>
  %out = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%wide : tensor<2x3x5xf32>) outs(%empty : tensor<2x3x5xf32>) {{
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  }} -> tensor<2x3x5xf32>
  return %out : tensor<2x3x5xf32>
}}""")
    with inside(module):
        reshapes.sink_reshapes(module)
        assert module.operation.verify()
        (op,) = ops_named(module, "linalg.generic")
        assert op.results[0].type.shape == [6, 5]


@pytest.mark.parametrize(
    ("shape", "strides", "first"),
    [((56, 56, 64), (3712, 64, 1), 1), ((4, 8), (8, 1), 0), ((4, 8), (16, 2), 2), ((3,), (1,), 0), ((2, 0), (0, 1), 2)],
)
def test_contiguous_from(shape: tuple[int, ...], strides: tuple[int, ...], first: int) -> None:
    assert copies.contiguous_from(shape, strides) == first


def test_copies_go_row_by_row() -> None:
    module = parse("""
func.func @main(%from: memref<4x8x3xf32>, %to: memref<4x8x3xf32, strided<[30, 3, 1], offset: 6>>) {
  memref.copy %from, %to : memref<4x8x3xf32> to memref<4x8x3xf32, strided<[30, 3, 1], offset: 6>>
  return
}""")
    with inside(module):
        copies.copy_by_rows(module)
        assert module.operation.verify()
        (copy,) = ops_named(module, "memref.copy")
        assert copy.parent.name == "scf.for"
        assert copy.operands[0].type.shape == [8, 3]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((8, 64, 512), (4, 0, 0)), ((1, 333, 1024), (0, 111, 0)), ((2, 2, 2), None), ((1, 1, 1 << 20), (0, 0, 1 << 19))],
)
def test_share_gives_every_thread_a_piece(sizes: tuple[int, ...], expected: tuple[int, ...] | None) -> None:
    walked = tuple(((loop, 1),) for loop in range(3))
    nest = LoopNest(sizes, (True,) * 3, (), (Access(sizes, walked),), 32)
    assert share.share(nest, threads=2) == expected


def test_tilings_of_a_module_are_planned_by_group(attention: Any) -> None:
    with inside(attention):
        group.form_groups(attention, Registers(256, 16))
        plans = group.plan(attention, Registers(256, 16)).values()
        assert all(isinstance(p, Tiling) for p in plans)
