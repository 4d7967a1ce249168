// STAGES: llvm
// log1p and expm1 keep their digits near zero: they are calls of the C library.

// CHECK-LABEL: llvm.func @main
// CHECK:         llvm.call @log1pf
// CHECK:         llvm.call @expm1
// CHECK:       llvm.func @log1pf(f32) -> f32
// CHECK:       llvm.func @expm1(f64) -> f64
func.func @main(%a: memref<f32>, %b: memref<f64>) {
  %x = memref.load %a[] : memref<f32>
  %y = math.log1p %x : f32
  memref.store %y, %a[] : memref<f32>
  %u = memref.load %b[] : memref<f64>
  %v = math.expm1 %u : f64
  memref.store %v, %b[] : memref<f64>
  return
}
