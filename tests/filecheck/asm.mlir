// STAGES: llvm | llvm-ir | llvm-opt | asm
// TARGET: cpu:x86-64-v3
// Eight floats at a time on a machine with AVX2.

// CHECK: vaddps {{.*}}%ymm
func.func @main(%a: memref<64xf32>, %b: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %x = affine.load %a[%i] : memref<64xf32>
    %y = arith.addf %x, %x : f32
    affine.store %y, %b[%i] : memref<64xf32>
  }
  return
}
