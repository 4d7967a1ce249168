// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.dma_load in @f moves 64 elements (8x8 float32 in DRAM) against 32 (4x8 float32 in scratchpad)
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %s = "npu.memory"() : () -> memref<1024xf32, #npu.scratchpad>
  %a = memref.reinterpret_cast %s to offset: [0], sizes: [4, 8], strides: [8, 1]
    : memref<1024xf32, #npu.scratchpad> to memref<4x8xf32, strided<[8, 1]>, #npu.scratchpad>
  "npu.dma_load"(%x, %a) {tag = 0 : i64} : (memref<8x8xf32>, memref<4x8xf32, strided<[8, 1]>, #npu.scratchpad>) -> ()
  return
}
}
