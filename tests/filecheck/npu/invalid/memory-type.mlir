// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.memory in @f takes 512 float64 in scratchpad; lab4 multiplies int8, float32
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %s = "npu.memory"() : () -> memref<512xf64, #npu.scratchpad>
  return
}
}
