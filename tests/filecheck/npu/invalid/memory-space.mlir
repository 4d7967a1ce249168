// STAGES: fences
// ACCEL: lab4
// REFUSED: is in memory space 7 : i64; known: #npu.scratchpad, #npu.accumulator
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %s = "npu.memory"() : () -> memref<16xf32, 7>
  return
}
}
