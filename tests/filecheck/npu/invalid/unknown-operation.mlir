// STAGES: fences
// ACCEL: lab4
// REFUSED: unregistered operation 'npu.transpose' found in dialect ('npu')
func.func @f() {
  "npu.transpose"() : () -> ()
  return
}
