// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.matmul in @f multiplies 4x8 by 4x4 into 4x4
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %s = "npu.memory"() : () -> memref<1024xf32, #npu.scratchpad>
  %c = "npu.memory"() : () -> memref<512xf32, #npu.accumulator>
  %a = memref.reinterpret_cast %s to offset: [0], sizes: [4, 8], strides: [8, 1]
    : memref<1024xf32, #npu.scratchpad> to memref<4x8xf32, strided<[8, 1]>, #npu.scratchpad>
  %b = memref.reinterpret_cast %s to offset: [32], sizes: [4, 4], strides: [4, 1]
    : memref<1024xf32, #npu.scratchpad> to memref<4x4xf32, strided<[4, 1], offset: 32>, #npu.scratchpad>
  %r = memref.reinterpret_cast %c to offset: [0], sizes: [4, 4], strides: [4, 1]
    : memref<512xf32, #npu.accumulator> to memref<4x4xf32, strided<[4, 1]>, #npu.accumulator>
  "npu.matmul"(%a, %b, %r) {accumulate = false, tag = 0 : i64} : (memref<4x8xf32, strided<[8, 1]>, #npu.scratchpad>, memref<4x4xf32, strided<[4, 1], offset: 32>, #npu.scratchpad>, memref<4x4xf32, strided<[4, 1]>, #npu.accumulator>) -> ()
  return
}
}
