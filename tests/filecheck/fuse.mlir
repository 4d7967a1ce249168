// STAGES: fuse
// Two elementwise operations become one; the matmul stays apart.

// CHECK-LABEL: func.func @main
// CHECK:         linalg.generic {{.*}}"parallel", "parallel", "reduction"]
// CHECK:         linalg.generic {{.*}}["parallel", "parallel"]
// CHECK:           arith.addf
// CHECK-NEXT:      arith.maximumf
// CHECK-NOT:     linalg.generic
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = linalg.add ins(%m, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.map { arith.maximumf } ins(%s, %f : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>)
  return %r : tensor<4x4xf32>
}
