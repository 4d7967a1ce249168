// STAGES: fences
// ACCEL: lab4
// IRDL names the attribute that is none of ws, os, is.
// REFUSED: npu.config:
// REFUSED: '"rs"' does not satisfy the constraint
func.func @f() {
  "npu.config"() {dataflow = "rs"} : () -> ()
  return
}
