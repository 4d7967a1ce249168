// STAGES: nvvm
// REFUSED: math.ipowi
// REFUSED: has no NVVM lowering
gpu.module @kernels {
  gpu.func @f(%m: memref<2xi32>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %m[%i] : memref<2xi32>
    %p = math.ipowi %v, %v : i32
    memref.store %p, %m[%i] : memref<2xi32>
    gpu.return
  }
}
