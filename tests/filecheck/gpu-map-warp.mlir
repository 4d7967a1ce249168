// STAGES: gpu-map
// Few long rows: the 32 lanes of a warp share a row and fold their sums by shuffles.

// CHECK-LABEL: func.func @main
// CHECK:         gpu.launch
// CHECK-SAME:    function(@reduce_add)
// CHECK:           %[[PART:.*]] = scf.for %{{.*}} = %[[LANE:.*]] to %c1000 step %c32
// CHECK:           gpu.shuffle xor %[[PART]], %c16_i32
// CHECK-COUNT-4:   gpu.shuffle xor
// CHECK:           arith.cmpi eq, %[[LANE]], %c0
// CHECK:           memref.store
func.func @main(%x: memref<4x1000xf32>, %o: memref<4xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<4x1000xf32>) outs(%o : memref<4xf32>) dimensions = [1]
  return
}
