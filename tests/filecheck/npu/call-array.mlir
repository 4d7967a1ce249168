// STAGES: call-array | loops | llvm
// What the host calls is defined elsewhere, and called with pointers to memref descriptors.

// CHECK:       llvm.call @_mlir_ciface_matmul({{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
// CHECK:       llvm.func @_mlir_ciface_matmul(!llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK-NOT:   llvm.mul
func.func @main(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %c: memref<4x4xf32>) {
  call @matmul(%a, %b, %c) : (memref<4x8xf32>, memref<8x4xf32>, memref<4x4xf32>) -> ()
  return
}
func.func private @matmul(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %c: memref<4x4xf32>) attributes {npu.region} {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
  return
}
