module {
  memref.global "private" constant @__constant_4xf32 : memref<4xf32> = dense<[-0.566317499, 0.373114645, -0.89199531, -1.50910771]> {alignment = 64 : i64}
  func.func @main(%arg0: memref<2x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<2x4xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = memref.get_global @__constant_4xf32 : memref<4xf32>
    affine.for %arg3 = 0 to 2 {
      affine.for %arg4 = 0 to 4 {
        affine.store %cst, %arg2[%arg3, %arg4] : memref<2x4xf32>
      }
    }
    affine.for %arg3 = 0 to 2 {
      affine.for %arg4 = 0 to 4 {
        affine.for %arg5 = 0 to 8 {
          %1 = affine.load %arg0[%arg3, %arg5] : memref<2x8xf32>
          %2 = affine.load %arg1[%arg5, %arg4] : memref<8x4xf32>
          %3 = affine.load %arg2[%arg3, %arg4] : memref<2x4xf32>
          %4 = arith.mulf %1, %2 : f32
          %5 = arith.addf %3, %4 : f32
          affine.store %5, %arg2[%arg3, %arg4] : memref<2x4xf32>
        }
      }
    }
    affine.for %arg3 = 0 to 2 {
      affine.for %arg4 = 0 to 4 {
        %1 = affine.load %arg2[%arg3, %arg4] : memref<2x4xf32>
        %2 = affine.load %0[%arg4] : memref<4xf32>
        %3 = arith.addf %1, %2 : f32
        %4 = math.tanh %3 : f32
        affine.store %4, %arg2[%arg3, %arg4] : memref<2x4xf32>
      }
    }
    return
  }
}
