// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.dma_store in @f reaches elements 60 to 67 of a buffer of 64
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %c = "npu.memory"() : () -> memref<512xf32, #npu.accumulator>
  %r = memref.reinterpret_cast %c to offset: [0], sizes: [1, 8], strides: [8, 1]
    : memref<512xf32, #npu.accumulator> to memref<1x8xf32, strided<[8, 1]>, #npu.accumulator>
  %w = memref.reinterpret_cast %x to offset: [60], sizes: [1, 8], strides: [8, 1]
    : memref<8x8xf32> to memref<1x8xf32, strided<[8, 1], offset: 60>>
  "npu.dma_store"(%r, %w) {tag = 0 : i64} : (memref<1x8xf32, strided<[8, 1]>, #npu.accumulator>, memref<1x8xf32, strided<[8, 1], offset: 60>>) -> ()
  return
}
}
