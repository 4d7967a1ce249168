// STAGES: npu
// ACCEL: lab4
// REFUSED: linalg.matmul in region @f: it multiplies float64; lab4 multiplies int8, float16, bfloat16, float32
func.func private @f(%a: tensor<4x4xf64>, %b: tensor<4x4xf64>) -> tensor<4x4xf64> attributes {npu.region} {
  %zero = arith.constant dense<0.0> : tensor<4x4xf64>
  %m = linalg.matmul ins(%a, %b : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zero : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %m : tensor<4x4xf64>
}
