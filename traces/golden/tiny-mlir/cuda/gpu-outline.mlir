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
  gpu.module @kernels {
    gpu.func @fill_matmul(%arg0: memref<2x4xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %cst = arith.constant 0.000000e+00 : f32
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %thread_id_x = gpu.thread_id  x
      %0 = arith.cmpi ult, %thread_id_x, %c8 : index
      scf.if %0 {
        %1 = arith.remui %thread_id_x, %c4 : index
        %2 = arith.divui %thread_id_x, %c4 : index
        memref.store %cst, %arg0[%2, %1] : memref<2x4xf32>
      }
      gpu.return
    }
    gpu.func @matmul_matmul(%arg0: memref<2x4xf32>, %arg1: memref<2x8xf32>, %arg2: memref<8x4xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %thread_id_x = gpu.thread_id  x
      %0 = arith.cmpi ult, %thread_id_x, %c8 : index
      scf.if %0 {
        %1 = arith.remui %thread_id_x, %c4 : index
        %2 = arith.divui %thread_id_x, %c4 : index
        %3 = memref.load %arg0[%2, %1] : memref<2x4xf32>
        %4 = scf.for %arg3 = %c0 to %c8 step %c1 iter_args(%arg4 = %3) -> (f32) {
          %5 = memref.load %arg1[%2, %arg3] : memref<2x8xf32>
          %6 = memref.load %arg2[%arg3, %1] : memref<8x4xf32>
          %7 = arith.mulf %5, %6 : f32
          %8 = arith.addf %arg4, %7 : f32
          scf.yield %8 : f32
        }
        memref.store %4, %arg0[%2, %1] : memref<2x4xf32>
      }
      gpu.return
    }
    gpu.func @add_tanh_tanh(%arg0: memref<2x4xf32>, %arg1: memref<4xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %thread_id_x = gpu.thread_id  x
      %0 = arith.cmpi ult, %thread_id_x, %c8 : index
      scf.if %0 {
        %1 = arith.remui %thread_id_x, %c4 : index
        %2 = arith.divui %thread_id_x, %c4 : index
        %3 = memref.load %arg0[%2, %1] : memref<2x4xf32>
        %4 = memref.load %arg1[%1] : memref<4xf32>
        %5 = arith.addf %3, %4 : f32
        %6 = math.tanh %5 : f32
        memref.store %6, %arg0[%2, %1] : memref<2x4xf32>
      }
      gpu.return
    }
  }
}
