// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.dma_store in @f moves float32 against int32; a transfer converts nothing
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %c = "npu.memory"() : () -> memref<512xi32, #npu.accumulator>
  %r = memref.reinterpret_cast %c to offset: [0], sizes: [8, 8], strides: [8, 1]
    : memref<512xi32, #npu.accumulator> to memref<8x8xi32, strided<[8, 1]>, #npu.accumulator>
  "npu.dma_store"(%r, %x) {tag = 0 : i64} : (memref<8x8xi32, strided<[8, 1]>, #npu.accumulator>, memref<8x8xf32>) -> ()
  return
}
}
