// STAGES: fences
// ACCEL: lab4
// IRDL wants memory, not a number.
// REFUSED: npu.preload: 
// REFUSED: expected base type 'builtin.memref'
func.func @f(%x: f32) {
  "npu.preload"(%x) : (f32) -> ()
  return
}
