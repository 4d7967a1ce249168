// STAGES: fences | program
// ACCEL: lab4
// One instruction an operation; a conv2d is a preload and a product for each tap and row.

// CHECK:      program "all" int8
// CHECK-NEXT: buffer a in int8[4x8]
// CHECK-NEXT: buffer b in int8[8x4]
// CHECK-NEXT: buffer bias in int32[4]
// CHECK-NEXT: buffer scale in float32[4]
// CHECK-NEXT: buffer c out int8[4x4]
// CHECK-NEXT: 0: config ws
// CHECK-NEXT: 1: load a[0: 4x8/8x1] -> sp[0: 4x8]
// CHECK-NEXT: 2: load b[0: 8x4/4x1] -> sp[32: 8x4] #1
// CHECK-NEXT: 3: load bias[0: 4/1] -> acc[16: 1x4] #2
// CHECK-NEXT: 4: load scale[0: 4/1] -> acc[20: 1x4] #3
// CHECK-NEXT: 5: fence #1
// CHECK-NEXT: 6: preload sp[32: 8x4]
// CHECK-NEXT: 7: matmul sp[0: 4x8] sp[32: 8x4] -> acc[0: 4x4] #4
// CHECK-NEXT: 8: preload sp[32: 8x4]
// CHECK-NEXT: 9: matmul sp[0: 2x8] sp[32: 8x4] -> acc[0: 2x4] accumulate #5
// CHECK-NEXT: 10: preload sp[32: 8x4]
// CHECK-NEXT: 11: matmul sp[16: 2x8] sp[32: 8x4] -> acc[8: 2x4] accumulate #5
// CHECK-NEXT: 12: fence #2 #5
// CHECK-NEXT: 13: activate acc[0: 4x4] -> acc[0: 4x4] bias=acc[16] relu clip=-inf:6.0 #6
// CHECK-NEXT: 14: fence #3
// CHECK-NEXT: 15: activate acc[0: 4x4] -> sp[64: 4x4] scales=acc[20] zero=3 #7
// CHECK-NEXT: 16: fence #7
// CHECK-NEXT: 17: store sp[64: 4x4] -> c[0: 4x4/4x1] #8
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"], name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @all(%a: memref<4x8xi8>, %b: memref<8x4xi8>, %bias: memref<4xi32>, %scale: memref<4xf32>, %c: memref<4x4xi8>)
    attributes {npu.buffers = ["a", "b", "bias", "scale", "c"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %s = "npu.memory"() : () -> memref<4096xi8, #npu.scratchpad>
  %acc = "npu.memory"() : () -> memref<512xi32, #npu.accumulator>
  %words = "npu.memory"() : () -> memref<512xf32, #npu.accumulator>
  %sa = memref.reinterpret_cast %s to offset: [0], sizes: [4, 8], strides: [8, 1]
    : memref<4096xi8, #npu.scratchpad> to memref<4x8xi8, strided<[8, 1]>, #npu.scratchpad>
  %sb = memref.reinterpret_cast %s to offset: [32], sizes: [8, 4], strides: [4, 1]
    : memref<4096xi8, #npu.scratchpad> to memref<8x4xi8, strided<[4, 1], offset: 32>, #npu.scratchpad>
  %si = memref.reinterpret_cast %s to offset: [0], sizes: [2, 2, 8], strides: [16, 8, 1]
    : memref<4096xi8, #npu.scratchpad> to memref<2x2x8xi8, strided<[16, 8, 1]>, #npu.scratchpad>
  %so = memref.reinterpret_cast %s to offset: [64], sizes: [4, 4], strides: [4, 1]
    : memref<4096xi8, #npu.scratchpad> to memref<4x4xi8, strided<[4, 1], offset: 64>, #npu.scratchpad>
  %sums = memref.reinterpret_cast %acc to offset: [0], sizes: [4, 4], strides: [4, 1]
    : memref<512xi32, #npu.accumulator> to memref<4x4xi32, strided<[4, 1]>, #npu.accumulator>
  %row = memref.reinterpret_cast %acc to offset: [16], sizes: [1, 4], strides: [4, 1]
    : memref<512xi32, #npu.accumulator> to memref<1x4xi32, strided<[4, 1], offset: 16>, #npu.accumulator>
  %factors = memref.reinterpret_cast %words to offset: [20], sizes: [1, 4], strides: [4, 1]
    : memref<512xf32, #npu.accumulator> to memref<1x4xf32, strided<[4, 1], offset: 20>, #npu.accumulator>
  "npu.dma_load"(%a, %sa) {tag = 0 : i64} : (memref<4x8xi8>, memref<4x8xi8, strided<[8, 1]>, #npu.scratchpad>) -> ()
  "npu.dma_load"(%b, %sb) {tag = 1 : i64}
    : (memref<8x4xi8>, memref<8x4xi8, strided<[4, 1], offset: 32>, #npu.scratchpad>) -> ()
  "npu.dma_load"(%bias, %row) {tag = 2 : i64}
    : (memref<4xi32>, memref<1x4xi32, strided<[4, 1], offset: 16>, #npu.accumulator>) -> ()
  "npu.dma_load"(%scale, %factors) {tag = 3 : i64}
    : (memref<4xf32>, memref<1x4xf32, strided<[4, 1], offset: 20>, #npu.accumulator>) -> ()
  "npu.preload"(%sb) : (memref<8x4xi8, strided<[4, 1], offset: 32>, #npu.scratchpad>) -> ()
  "npu.matmul"(%sa, %sb, %sums) {accumulate = false, tag = 4 : i64}
    : (memref<4x8xi8, strided<[8, 1]>, #npu.scratchpad>, memref<8x4xi8, strided<[4, 1], offset: 32>, #npu.scratchpad>,
       memref<4x4xi32, strided<[4, 1]>, #npu.accumulator>) -> ()
  "npu.conv2d"(%si, %sb, %sums)
    {accumulate = true, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, tag = 5 : i64}
    : (memref<2x2x8xi8, strided<[16, 8, 1]>, #npu.scratchpad>,
       memref<8x4xi8, strided<[4, 1], offset: 32>, #npu.scratchpad>,
       memref<4x4xi32, strided<[4, 1]>, #npu.accumulator>) -> ()
  "npu.activate"(%sums, %sums, %row)
    {clip = array<f64: 0xFFF0000000000000, 6.0>, operandSegmentSizes = array<i32: 1, 1, 1>, relu = true, tag = 6 : i64}
    : (memref<4x4xi32, strided<[4, 1]>, #npu.accumulator>, memref<4x4xi32, strided<[4, 1]>, #npu.accumulator>,
       memref<1x4xi32, strided<[4, 1], offset: 16>, #npu.accumulator>) -> ()
  "npu.requantize"(%sums, %so, %factors)
    {operandSegmentSizes = array<i32: 1, 1, 0, 1>, relu = false, tag = 7 : i64, zero_point = 3 : i64}
    : (memref<4x4xi32, strided<[4, 1]>, #npu.accumulator>,
       memref<4x4xi8, strided<[4, 1], offset: 64>, #npu.scratchpad>,
       memref<1x4xf32, strided<[4, 1], offset: 20>, #npu.accumulator>) -> ()
  "npu.dma_store"(%so, %c) {tag = 8 : i64}
    : (memref<4x4xi8, strided<[4, 1], offset: 64>, #npu.scratchpad>, memref<4x4xi8>) -> ()
  return
}
}
