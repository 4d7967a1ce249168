// STAGES: llvm | llvm-ir
// The entry function gets a C interface that takes pointers to memref descriptors.

// CHECK-LABEL: define void @main(
// CHECK:         fadd float
// CHECK-LABEL: define void @_mlir_ciface_main(ptr %{{.*}}, ptr %{{.*}})
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    %x = affine.load %a[%i] : memref<4xf32>
    %y = arith.addf %x, %x : f32
    affine.store %y, %b[%i] : memref<4xf32>
  }
  return
}
