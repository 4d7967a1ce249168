module attributes {gpu.container_module} {
  memref.global "private" constant @__constant_4xf32 : memref<4xf32> = dense<[-0.566317499, 0.373114645, -0.89199531, -1.50910771]> {alignment = 64 : i64}
  func.func @main(%arg0: memref<2x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<2x4xf32>) {
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %c1 = arith.constant 1 : index
    %0 = memref.get_global @__constant_4xf32 : memref<4xf32>
    gpu.launch_func  @kernels::@fill_matmul blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<2x4xf32>)
    gpu.launch_func  @kernels::@matmul_matmul blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg2 : memref<2x4xf32>, %arg0 : memref<2x8xf32>, %arg1 : memref<8x4xf32>)
    gpu.launch_func  @kernels::@add_tanh_tanh blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<2x4xf32>, %0 : memref<4xf32>)
    return
  }
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
    llvm.func @fill_matmul(%arg0: !llvm.ptr) attributes {gpu.kernel, gpu.known_block_size = array<i32: 256, 1, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>, nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>} {
      %0 = llvm.mlir.constant(8 : index) : i32
      %1 = llvm.mlir.constant(0.000000e+00 : f32) : f32
      %2 = llvm.mlir.constant(4 : index) : i32
      %3 = nvvm.read.ptx.sreg.tid.x range <i32, 0, 256> : i32
      %4 = llvm.icmp "ult" %3, %0 : i32
      llvm.cond_br %4, ^bb1, ^bb2
    ^bb1:  // pred: ^bb0
      %5 = llvm.urem %3, %2 : i32
      %6 = llvm.udiv %3, %2 : i32
      %7 = llvm.mul %6, %2 overflow<nsw, nuw> : i32
      %8 = llvm.add %7, %5 overflow<nsw, nuw> : i32
      %9 = llvm.getelementptr inbounds|nuw %arg0[%8] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %1, %9 : f32, !llvm.ptr
      llvm.br ^bb2
    ^bb2:  // 2 preds: ^bb0, ^bb1
      llvm.return
    }
    llvm.func @matmul_matmul(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr) attributes {gpu.kernel, gpu.known_block_size = array<i32: 128, 1, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>, nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
      %0 = llvm.mlir.constant(1 : index) : i32
      %1 = llvm.mlir.constant(4 : index) : i32
      %2 = llvm.mlir.constant(8 : index) : i32
      %3 = llvm.mlir.constant(0 : index) : i32
      %4 = nvvm.read.ptx.sreg.tid.x range <i32, 0, 128> : i32
      %5 = llvm.icmp "ult" %4, %2 : i32
      llvm.cond_br %5, ^bb1, ^bb5
    ^bb1:  // pred: ^bb0
      %6 = llvm.urem %4, %1 : i32
      %7 = llvm.udiv %4, %1 : i32
      %8 = llvm.mul %7, %1 overflow<nsw, nuw> : i32
      %9 = llvm.add %8, %6 overflow<nsw, nuw> : i32
      %10 = llvm.getelementptr inbounds|nuw %arg0[%9] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %11 = llvm.load %10 : !llvm.ptr -> f32
      llvm.br ^bb2(%3, %11 : i32, f32)
    ^bb2(%12: i32, %13: f32):  // 2 preds: ^bb1, ^bb3
      %14 = llvm.icmp "slt" %12, %2 : i32
      llvm.cond_br %14, ^bb3, ^bb4
    ^bb3:  // pred: ^bb2
      %15 = llvm.mul %7, %2 overflow<nsw, nuw> : i32
      %16 = llvm.add %15, %12 overflow<nsw, nuw> : i32
      %17 = llvm.getelementptr inbounds|nuw %arg1[%16] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %18 = llvm.load %17 : !llvm.ptr -> f32
      %19 = llvm.mul %12, %1 overflow<nsw, nuw> : i32
      %20 = llvm.add %19, %6 overflow<nsw, nuw> : i32
      %21 = llvm.getelementptr inbounds|nuw %arg2[%20] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %22 = llvm.load %21 : !llvm.ptr -> f32
      %23 = llvm.fmul %18, %22 : f32
      %24 = llvm.fadd %13, %23 : f32
      %25 = llvm.add %12, %0 : i32
      llvm.br ^bb2(%25, %24 : i32, f32)
    ^bb4:  // pred: ^bb2
      llvm.store %13, %10 : f32, !llvm.ptr
      llvm.br ^bb5
    ^bb5:  // 2 preds: ^bb0, ^bb4
      llvm.return
    }
    llvm.func @__nv_tanhf(f32) -> f32
    llvm.func @add_tanh_tanh(%arg0: !llvm.ptr, %arg1: !llvm.ptr) attributes {gpu.kernel, gpu.known_block_size = array<i32: 256, 1, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>, nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>} {
      %0 = llvm.mlir.constant(8 : index) : i32
      %1 = llvm.mlir.constant(4 : index) : i32
      %2 = nvvm.read.ptx.sreg.tid.x range <i32, 0, 256> : i32
      %3 = llvm.icmp "ult" %2, %0 : i32
      llvm.cond_br %3, ^bb1, ^bb2
    ^bb1:  // pred: ^bb0
      %4 = llvm.urem %2, %1 : i32
      %5 = llvm.udiv %2, %1 : i32
      %6 = llvm.mul %5, %1 overflow<nsw, nuw> : i32
      %7 = llvm.add %6, %4 overflow<nsw, nuw> : i32
      %8 = llvm.getelementptr inbounds|nuw %arg0[%7] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %9 = llvm.load %8 : !llvm.ptr -> f32
      %10 = llvm.getelementptr inbounds|nuw %arg1[%4] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %11 = llvm.load %10 : !llvm.ptr -> f32
      %12 = llvm.fadd %9, %11 : f32
      %13 = llvm.call @__nv_tanhf(%12) : (f32) -> f32
      llvm.store %13, %8 : f32, !llvm.ptr
      llvm.br ^bb2
    ^bb2:  // 2 preds: ^bb0, ^bb1
      llvm.return
    }
  }
}
