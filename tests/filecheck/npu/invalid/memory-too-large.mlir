// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.memory in @f reaches byte 8192 of the scratchpad; that of lab4 has 4096: use a smaller tile
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %s = "npu.memory"() : () -> memref<2048xf32, #npu.scratchpad>
  return
}
}
