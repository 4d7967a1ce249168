module attributes {gpu.container_module} {
  memref.global "private" constant @__constant_4xf32 : memref<4xf32> = dense<[-0.566317499, 0.373114645, -0.89199531, -1.50910771]> {alignment = 64 : i64}
  func.func @main(%arg0: memref<2x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<2x4xf32>) {
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    %0 = memref.get_global @__constant_4xf32 : memref<4xf32>
    gpu.launch_func  @kernels::@matmul_add_tanh_matmul blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<2x8xf32>, %arg1 : memref<8x4xf32>, %0 : memref<4xf32>, %arg2 : memref<2x4xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @matmul_add_tanh_matmul(%arg0: memref<2x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<4xf32>, %arg3: memref<2x4xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %cst = arith.constant 0.000000e+00 : f32
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %thread_id_x = gpu.thread_id  x
      %0 = arith.cmpi ult, %thread_id_x, %c8 : index
      scf.if %0 {
        %1 = arith.remui %thread_id_x, %c4 : index
        %2 = arith.divui %thread_id_x, %c4 : index
        %3 = scf.for %arg4 = %c0 to %c8 step %c1 iter_args(%arg5 = %cst) -> (f32) {
          %7 = memref.load %arg0[%2, %arg4] : memref<2x8xf32>
          %8 = memref.load %arg1[%arg4, %1] : memref<8x4xf32>
          %9 = arith.mulf %7, %8 : f32
          %10 = arith.addf %arg5, %9 : f32
          scf.yield %10 : f32
        }
        %4 = memref.load %arg2[%1] : memref<4xf32>
        %5 = arith.addf %3, %4 : f32
        %6 = math.tanh %5 : f32
        memref.store %6, %arg3[%2, %1] : memref<2x4xf32>
      }
      gpu.return
    }
  }
}
