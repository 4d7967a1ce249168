// STAGES: gpu-map | gpu-outline | nvvm
// TARGET: cuda:sm_80
// Bare pointers, 32-bit indices, and the static offset of a view added inside the kernel.

// CHECK:       gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">]
// CHECK:         llvm.func @copy(%{{.*}}: !llvm.ptr, %[[TO:.*]]: !llvm.ptr)
// CHECK-SAME:      nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>
// CHECK:           llvm.getelementptr %[[TO]][9] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NOT:       i64
func.func @main(%x: memref<4x6xf32>, %o: memref<6x8xf32>) {
  %v = memref.subview %o[1, 1] [4, 6] [1, 1] : memref<6x8xf32> to memref<4x6xf32, strided<[8, 1], offset: 9>>
  linalg.copy ins(%x : memref<4x6xf32>) outs(%v : memref<4x6xf32, strided<[8, 1], offset: 9>>)
  return
}
