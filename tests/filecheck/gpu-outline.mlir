// STAGES: gpu-map | gpu-outline
// Two layers of one shape share a kernel, named after what its places in the model have in common.

// CHECK-LABEL: func.func @main
// CHECK:         %[[H:.*]] = memref.alloc
// CHECK:         gpu.launch_func @kernels::@matmul_layer1 {{.*}}args(%arg0 : {{.*}}, %arg1 : {{.*}}, %[[H]] :
// CHECK:         gpu.launch_func @kernels::@matmul_layer1 {{.*}}args(%[[H]] : {{.*}}, %arg1 : {{.*}}, %arg2 :
// CHECK:       gpu.module @kernels
// CHECK:         gpu.func @matmul_layer1
// CHECK-NOT:     gpu.func
func.func @main(%x: memref<4x4xf32>, %w: memref<4x4xf32>, %o: memref<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %h = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%zero : f32) outs(%h : memref<4x4xf32>)
  linalg.matmul ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) loc("layer1.0.fc")
  linalg.fill ins(%zero : f32) outs(%o : memref<4x4xf32>)
  linalg.matmul ins(%h, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%o : memref<4x4xf32>) loc("layer1.1.fc")
  return
}
