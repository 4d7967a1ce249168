// STAGES: fences | program
// ACCEL: lab4
// REFUSED: the npu module was made for lab4 (os, 4096 and 2048 bytes); the accelerator is lab4 (ws, 4096 and 2048 bytes)
module attributes {npu.machine = {accumulator_bytes = 2048 : i64, dataflow = "os", dtypes = ["int8"], name = "lab4",
    scratchpad_bytes = 4096 : i64}} {
func.func @f(%x: memref<4xi8>) attributes {npu.buffers = ["x"], npu.results = 1 : i64} {
  "npu.config"() {dataflow = "os"} : () -> ()
  %s = "npu.memory"() : () -> memref<4096xi8, #npu.scratchpad>
  return
}
}
