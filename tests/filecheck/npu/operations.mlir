// STAGES: fences
// ACCEL: lab4
// Every operation reads back as it was printed; fences come where one waits for another, and nowhere else.

// CHECK:      module attributes {npu.machine = {
// CHECK:      func.func @all
// CHECK:        "npu.config"() {dataflow = "ws"} : () -> ()
// CHECK:        %[[S:.*]] = "npu.memory"() : () -> memref<4096xi8, #npu.scratchpad>
// CHECK:        %[[A:.*]] = "npu.memory"() : () -> memref<512xi32, #npu.accumulator>
// CHECK:        %[[F:.*]] = "npu.memory"() : () -> memref<512xf32, #npu.accumulator>
// CHECK:        "npu.dma_load"({{.*}}) {tag = 0 : i64}
// CHECK:        "npu.dma_load"({{.*}}) {tag = 1 : i64}
// CHECK:        "npu.dma_load"({{.*}}) {tag = 2 : i64}
// CHECK:        "npu.dma_load"({{.*}}) {tag = 3 : i64}
// CHECK-NEXT:   "npu.fence"() {tags = array<i64: 1>} : () -> ()
// CHECK-NEXT:   "npu.preload"
// CHECK-NEXT:   "npu.matmul"({{.*}}) {accumulate = false, tag = 4 : i64}
// CHECK-NEXT:   "npu.conv2d"({{.*}}) {accumulate = true, kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, tag = 5 : i64}
// CHECK-NEXT:   "npu.fence"() {tags = array<i64: 2, 5>} : () -> ()
// CHECK-NEXT:   "npu.activate"({{.*}}) {clip = array<f64: 0xFFF0000000000000, 6.000000e+00>, operandSegmentSizes = array<i32: 1, 1, 1>, relu = true, tag = 6 : i64}
// CHECK-NEXT:   "npu.fence"() {tags = array<i64: 3>} : () -> ()
// CHECK-NEXT:   "npu.requantize"({{.*}}) {operandSegmentSizes = array<i32: 1, 1, 0, 1>, relu = false, tag = 7 : i64, zero_point = 3 : i64}
// CHECK-NEXT:   "npu.fence"() {tags = array<i64: 7>} : () -> ()
// CHECK-NEXT:   "npu.dma_store"({{.*}}) {tag = 8 : i64}
// CHECK-NEXT:   return
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
