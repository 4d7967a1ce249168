// STAGES: npu | fences
// ACCEL: lab4
// Two slots for each operand: the loads of the second step stand before the product of the first, behind no fence.

// CHECK-LABEL: func.func @matmul
// CHECK-SAME:    attributes {npu.buffers = ["a", "b", "c"], npu.results = 1 : i64}
// CHECK:         "npu.config"() {dataflow = "ws"}
// CHECK:         "npu.dma_load"({{.*}}tag = 0
// CHECK:         "npu.dma_load"({{.*}}tag = 1
// CHECK-NOT:     "npu.fence"
// CHECK:         "npu.dma_load"({{.*}}tag = 2
// CHECK-NOT:     "npu.fence"
// CHECK:         "npu.dma_load"({{.*}}tag = 3
// CHECK-NOT:     "npu.dma_load"
// CHECK:         "npu.fence"() {tags = array<i64: 1>}
// CHECK:         "npu.preload"
// CHECK:         "npu.matmul"{{.*}}accumulate = false, tag = 4
// CHECK:         "npu.fence"() {tags = array<i64: 4>}
// CHECK:         "npu.dma_load"{{.*}}tag = 5
// CHECK:         "npu.dma_store"
// CHECK:         return
func.func private @matmul(%a: tensor<8x64xf32>, %b: tensor<64x64xf32>) -> tensor<8x64xf32> attributes {npu.region} {
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %m : tensor<8x64xf32>
}
