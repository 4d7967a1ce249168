// STAGES: loops
// A matmul is three nested affine loops.

// CHECK-LABEL: func.func @main
// CHECK:         affine.for %[[I:.*]] = 0 to 4
// CHECK-NEXT:      affine.for %[[J:.*]] = 0 to 6
// CHECK-NEXT:        affine.for %[[K:.*]] = 0 to 8
// CHECK-DAG:           affine.load %{{.*}}[%[[I]], %[[K]]]
// CHECK-DAG:           affine.load %{{.*}}[%[[K]], %[[J]]]
// CHECK:               arith.mulf
// CHECK:               arith.addf
// CHECK:               affine.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @main(%a: memref<4x8xf32>, %b: memref<8x6xf32>, %c: memref<4x6xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x6xf32>) outs(%c : memref<4x6xf32>)
  return
}
