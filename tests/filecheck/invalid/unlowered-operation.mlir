// STAGES: llvm | llvm-ir
// An operation that no pass of the host leg lowers is named, not passed on.
// REFUSED: gpu.thread_id
func.func @main(%a: memref<4xf32>) {
  %i = gpu.thread_id x
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %a[%i] : memref<4xf32>
  return
}
