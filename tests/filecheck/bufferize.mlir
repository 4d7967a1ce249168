// STAGES: bufferize
// The result becomes a trailing argument with the identity layout, written in place: no copy, no allocation.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[A:.*]]: memref<4x4xf32>, %[[OUT:.*]]: memref<4x4xf32>)
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.exp ins(%[[A]] : memref<4x4xf32>) outs(%[[OUT]] : memref<4x4xf32>)
// CHECK-NOT:     memref.copy
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.exp ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
