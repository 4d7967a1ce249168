// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.preload in @f has nothing to hold: under os the sums stay in the array
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "os", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "os"} : () -> ()
  %s = "npu.memory"() : () -> memref<1024xf32, #npu.scratchpad>
  %b = memref.reinterpret_cast %s to offset: [32], sizes: [4, 4], strides: [4, 1]
    : memref<1024xf32, #npu.scratchpad> to memref<4x4xf32, strided<[4, 1], offset: 32>, #npu.scratchpad>
  "npu.preload"(%b) : (memref<4x4xf32, strided<[4, 1], offset: 32>, #npu.scratchpad>) -> ()
  return
}
}
