// STAGES: fences
// ACCEL: lab4
// REFUSED: arith.constant in @f has no place among npu operations; leave it on the host
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "ws", dtypes = ["int8", "float32"],
    name = "lab4", scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<8x8xf32>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "ws"} : () -> ()
  %n = arith.constant 1 : i32
  return
}
}
