// STAGES: offload
// ACCEL: lab4
// int8 that the model widens to int32 and sums in int64 is int8 to the array; a division by 2**-5 goes into the scales.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[A:.*]]: tensor<4x8xi8>, %[[B:.*]]: tensor<8x4xi8>, %[[S:.*]]: tensor<4xf32>)
// CHECK:         %[[T:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<4xf32>)
// CHECK:           arith.constant 3.200000e+01 : f32
// CHECK:         %[[R:.*]] = call @matmul_4x8x4_i8_requantise_m128_127(%[[A]], %[[B]], %[[T]])
// CHECK-SAME:      (tensor<4x8xi8>, tensor<8x4xi8>, tensor<4xf32>) -> tensor<4x4xi8>
// CHECK:         return %[[R]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @main(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %s: tensor<4xf32>) -> tensor<4x4xi8> {
  %zero = arith.constant dense<0> : tensor<4x4xi64>
  %step = arith.constant 0.03125 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %ea = tensor.empty() : tensor<4x8xi32>
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xi8>) outs(%ea : tensor<4x8xi32>) {
  ^bb0(%p: i8, %q: i32):
    %r = arith.extsi %p : i8 to i32
    linalg.yield %r : i32
  } -> tensor<4x8xi32>
  %eb = tensor.empty() : tensor<8x4xi32>
  %wb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<8x4xi8>) outs(%eb : tensor<8x4xi32>) {
  ^bb0(%p: i8, %q: i32):
    %r = arith.extsi %p : i8 to i32
    linalg.yield %r : i32
  } -> tensor<8x4xi32>
  %m = linalg.matmul ins(%wa, %wb : tensor<4x8xi32>, tensor<8x4xi32>) outs(%zero : tensor<4x4xi64>) -> tensor<4x4xi64>
  %e = tensor.empty() : tensor<4x4xi8>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %s : tensor<4x4xi64>, tensor<4xf32>) outs(%e : tensor<4x4xi8>) {
  ^bb0(%x: i64, %y: f32, %z: i8):
    %0 = arith.trunci %x : i64 to i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %1, %y : f32
    %3 = arith.divf %2, %step : f32
    %4 = math.roundeven %3 : f32
    %5 = arith.maximumf %4, %low : f32
    %6 = arith.minimumf %5, %high : f32
    %7 = arith.fptosi %6 : f32 to i8
    linalg.yield %7 : i8
  } -> tensor<4x4xi8>
  return %r : tensor<4x4xi8>
}
