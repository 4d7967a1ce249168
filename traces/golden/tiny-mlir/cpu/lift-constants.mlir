#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<2x8xf32>, %weight: tensor<8x4xf32>) -> tensor<2x4xf32> {
    %matmul = arith.constant 0.000000e+00 : f32
    %add = arith.constant dense<[-0.566317499, 0.373114645, -0.89199531, -1.50910771]> : tensor<4xf32>
    %matmul_0 = tensor.empty() : tensor<2x4xf32>
    %matmul_1 = linalg.fill ins(%matmul : f32) outs(%matmul_0 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %matmul_2 = linalg.matmul ins(%arg0, %weight : tensor<2x8xf32>, tensor<8x4xf32>) outs(%matmul_1 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %add_3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%matmul_2, %add : tensor<2x4xf32>, tensor<4xf32>) outs(%matmul_0 : tensor<2x4xf32>) {
    ^bb0(%matmul_4: f32, %add_5: f32, %add_6: f32):
      %add_7 = arith.addf %matmul_4, %add_5 : f32
      linalg.yield %add_7 : f32
    } -> tensor<2x4xf32>
    %tanh = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%add_3 : tensor<2x4xf32>) outs(%matmul_0 : tensor<2x4xf32>) {
    ^bb0(%add_4: f32, %tanh_5: f32):
      %tanh_6 = math.tanh %add_4 : f32
      linalg.yield %tanh_6 : f32
    } -> tensor<2x4xf32>
    return %tanh : tensor<2x4xf32>
  }
}
