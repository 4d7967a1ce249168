// STAGES: bufferize
// A value returned twice has two buffers: the second result is a copy of the first.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[A:.*]]: memref<4xf32>, %[[OUT0:.*]]: memref<4xf32>, %[[OUT1:.*]]: memref<4xf32>)
// CHECK:         linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[OUT0]] : memref<4xf32>)
// CHECK:         memref.copy %[[OUT0]], %[[OUT1]]
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r, %r : tensor<4xf32>, tensor<4xf32>
}
