// STAGES: gpu-map
// One kernel: 24 threads in a block of 128, guarded; the bias starts the accumulator, which stays in a register, and
// relu runs before the one store.

// CHECK-LABEL: func.func @main
// CHECK-NOT:     linalg.
// CHECK:         gpu.launch
// CHECK-SAME:    threads({{.*}}) in (%{{.*}} = %c128
// CHECK-SAME:    module(@kernels) function(@matmul_max)
// CHECK:           arith.cmpi ult
// CHECK:           scf.if
// CHECK:             %[[BIAS:.*]] = memref.load %arg2
// CHECK:             %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[BIAS]]) -> (f32)
// CHECK-NOT:           memref.store
// CHECK:               scf.yield
// CHECK:             %[[OUT:.*]] = arith.maximumf %[[SUM]]
// CHECK:             memref.store %[[OUT]], %arg3
// CHECK-NOT:     gpu.launch
#ij = affine_map<(d0, d1) -> (d0, d1)>
#j = affine_map<(d0, d1) -> (d1)>
func.func @main(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %bias: memref<6xf32>, %c: memref<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%bias : memref<6xf32>) outs(%c : memref<4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<4x6xf32>) outs(%c : memref<4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    %r = arith.maximumf %x, %zero : f32
    linalg.yield %r : f32
  }
  return
}
