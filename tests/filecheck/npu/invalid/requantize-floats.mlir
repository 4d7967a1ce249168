// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.requantize in @f rounds float32; requantising is for int32 sums
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %c = "npu.memory"() : () -> memref<512xf32, #npu.accumulator>
  %r = memref.reinterpret_cast %c to offset: [0], sizes: [4, 4], strides: [4, 1]
    : memref<512xf32, #npu.accumulator> to memref<4x4xf32, strided<[4, 1]>, #npu.accumulator>
  "npu.requantize"(%r, %r) {scale = 0.5 : f64, zero_point = 0 : i64, relu = false, operandSegmentSizes = array<i32: 1, 1, 0, 0>, tag = 0 : i64} : (memref<4x4xf32, strided<[4, 1]>, #npu.accumulator>, memref<4x4xf32, strided<[4, 1]>, #npu.accumulator>) -> ()
  return
}
}
