// STAGES: offload
// ACCEL: lab4
// What the array cannot do stays where it is, with the reason.

// CHECK-LABEL: func.func @main
// CHECK-NOT:     call
// CHECK:         linalg.conv_2d_nchw_fchw {{.*}}npu.host = "it is dilated by 2x2; the array has windows without gaps"
// CHECK:         linalg.conv_2d_ngchw_gfchw {{.*}}npu.host = "it is grouped; the array computes convolutions of all channels"
// CHECK:         linalg.depthwise_conv_2d_nchw_chw {{.*}}npu.host = "it is depthwise:
// CHECK:         linalg.matmul {npu.host = "it multiplies float64; lab4 multiplies int8, float16, bfloat16, float32"}
// CHECK:         linalg.matmul {npu.host = "its sizes are not static: tensor<?x8xf32>"}
// CHECK:         linalg.matmul {{.*}}npu.host = "an operand is transposed or broadcast in place; transpose it before the product"
// CHECK:         linalg.matmul {npu.host = "it adds to a tensor that is neither zero nor a bias; add it after the product"}
// CHECK:         linalg.vecmat {npu.host = "no pattern of the array is a vecmat; it has matmul, batch_matmul, conv_2d"}
// CHECK:         return
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %gx: tensor<1x2x3x8x8xf32>, %gw: tensor<2x4x3x3x3xf32>,
    %dw: tensor<3x3x3xf32>, %a: tensor<4x8xf64>, %b: tensor<8x4xf64>, %da: tensor<?x8xf32>, %f: tensor<8x4xf32>,
    %t: tensor<4x8xf32>, %s: tensor<4x4xf32>, %do: tensor<?x4xf32>, %v: tensor<8xf32>)
    -> (tensor<1x4x4x4xf32>, tensor<1x2x4x6x6xf32>, tensor<1x3x6x6xf32>, tensor<4x4xf64>, tensor<?x4xf32>,
        tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<1x4x4x4xf32>
  %zerog = arith.constant dense<0.0> : tensor<1x2x4x6x6xf32>
  %zerod = arith.constant dense<0.0> : tensor<1x3x6x6xf32>
  %zero64 = arith.constant dense<0.0> : tensor<4x4xf64>
  %zerom = arith.constant dense<0.0> : tensor<4x4xf32>
  %zerov = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) outs(%zero : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %1 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%gx, %gw : tensor<1x2x3x8x8xf32>, tensor<2x4x3x3x3xf32>) outs(%zerog : tensor<1x2x4x6x6xf32>)
    -> tensor<1x2x4x6x6xf32>
  %2 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%x, %dw : tensor<1x3x8x8xf32>, tensor<3x3x3xf32>) outs(%zerod : tensor<1x3x6x6xf32>) -> tensor<1x3x6x6xf32>
  %3 = linalg.matmul ins(%a, %b : tensor<4x8xf64>, tensor<8x4xf64>) outs(%zero64 : tensor<4x4xf64>) -> tensor<4x4xf64>
  %4 = linalg.matmul ins(%da, %f : tensor<?x8xf32>, tensor<8x4xf32>) outs(%do : tensor<?x4xf32>) -> tensor<?x4xf32>
  %5 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>]
    ins(%t, %t : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zerom : tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = linalg.matmul ins(%t, %f : tensor<4x8xf32>, tensor<8x4xf32>) outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = linalg.vecmat ins(%v, %f : tensor<8xf32>, tensor<8x4xf32>) outs(%zerov : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1x4x4x4xf32>, tensor<1x2x4x6x6xf32>, tensor<1x3x6x6xf32>,
    tensor<4x4xf64>, tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}
