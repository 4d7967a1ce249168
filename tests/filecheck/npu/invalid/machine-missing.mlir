// STAGES: fences
// ACCEL: lab4
// REFUSED: the module has no npu.machine attribute
func.func @f() {
  return
}
