// STAGES: gpu-map | gpu-outline | nvvm | ptx
// TARGET: cuda:sm_90a

// CHECK:      .target sm_90a
// CHECK:      .visible .entry exp(
// CHECK:      .maxntid 256
// CHECK:      ld.global
// CHECK:      ex2.approx
// CHECK:      st.global
#id = affine_map<(d0) -> (d0)>
func.func @main(%x: memref<256xf32>, %o: memref<256xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<256xf32>) outs(%o : memref<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  }
  return
}
