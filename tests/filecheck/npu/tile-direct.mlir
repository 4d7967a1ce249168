// STAGES: npu{direct=true}
// ACCEL: gemmini16
// The image is loaded once, as pixels by channels, and read as [h, w, c] by one conv2d.

// CHECK-LABEL: func.func @conv
// CHECK:         "npu.dma_load"({{.*}}) {tag = 0 : i64} : ({{.*}}, memref<36x3xi8, strided<[3, 1]>, #npu.scratchpad>)
// CHECK:         "npu.conv2d"({{.*}}) {accumulate = false, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>
// CHECK-SAME:      (memref<6x6x3xi8, strided<[18, 3, 1]>, #npu.scratchpad>, memref<27x4xi8
// CHECK-SAME:      memref<16x4xi32
// CHECK-NOT:     "npu.conv2d"
// CHECK:         return
func.func private @conv(%a: tensor<1x6x6x3xi8>, %b: tensor<3x3x3x4xi8>) -> tensor<1x4x4x4xi32> attributes {npu.region} {
  %zero = arith.constant dense<0> : tensor<1x4x4x4xi32>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%a, %b : tensor<1x6x6x3xi8>, tensor<3x3x3x4xi8>) outs(%zero : tensor<1x4x4x4xi32>) -> tensor<1x4x4x4xi32>
  return %c : tensor<1x4x4x4xi32>
}
