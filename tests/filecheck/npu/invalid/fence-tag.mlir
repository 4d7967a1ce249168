// STAGES: fences
// ACCEL: lab4
// REFUSED: npu.fence in @f waits for tag 3, which no operation before it has
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  "npu.fence"() {tags = array<i64: 3>} : () -> ()
  return
}
}
