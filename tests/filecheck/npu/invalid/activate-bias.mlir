// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.activate in @f takes a bias of 1x3 float32 in accumulator; it must be 4 float32
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %c = "npu.memory"() : () -> memref<512xf32, #npu.accumulator>
  %r = memref.reinterpret_cast %c to offset: [0], sizes: [4, 4], strides: [4, 1]
    : memref<512xf32, #npu.accumulator> to memref<4x4xf32, strided<[4, 1]>, #npu.accumulator>
  %v = memref.reinterpret_cast %c to offset: [32], sizes: [1, 3], strides: [3, 1]
    : memref<512xf32, #npu.accumulator> to memref<1x3xf32, strided<[3, 1], offset: 32>, #npu.accumulator>
  "npu.activate"(%r, %r, %v) {relu = false, operandSegmentSizes = array<i32: 1, 1, 1>, tag = 0 : i64} : (memref<4x4xf32, strided<[4, 1]>, #npu.accumulator>, memref<4x4xf32, strided<[4, 1]>, #npu.accumulator>, memref<1x3xf32, strided<[3, 1], offset: 32>, #npu.accumulator>) -> ()
  return
}
}
