// STAGES: offload
// ACCEL: lab4
// A convolution with its bias and relu is one region, in the array's layout; the layouts change on the host.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: tensor<1x3x6x6xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK:         %[[A:.*]] = linalg.transpose ins(%[[X]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         %[[K:.*]] = linalg.transpose ins(%[[W]] : {{.*}} permutation = [2, 3, 1, 0]
// CHECK:         %[[C:.*]] = call @conv2d_1x6x6x3_3x3x4_s1x1_f32_bias_relu(%[[A]], %[[K]], %[[B]])
// CHECK:         %[[R:.*]] = linalg.transpose ins(%[[C]] : {{.*}} permutation = [0, 3, 1, 2]
// CHECK:         return %[[R]]
// CHECK:       func.func private @conv2d_1x6x6x3_3x3x4_s1x1_f32_bias_relu
// CHECK-SAME:    attributes {npu.region}
// CHECK:         linalg.conv_2d_nhwc_hwcf
// CHECK:         arith.addf
// CHECK:         arith.maximumf
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @main(%x: tensor<1x3x6x6xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %i = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<1x4x4x4xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%x, %w : tensor<1x3x6x6xf32>, tensor<4x3x3x3xf32>) outs(%i : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x4x4x4xf32>) outs(%e : tensor<1x4x4x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %g = arith.cmpf ugt, %p, %zero : f32
    %s = arith.select %g, %p, %zero : f32
    linalg.yield %s : f32
  } -> tensor<1x4x4x4xf32>
  return %r : tensor<1x4x4x4xf32>
}
