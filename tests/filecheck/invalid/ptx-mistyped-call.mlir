// STAGES: ptx
// TARGET: cuda:sm_90a
// A libdevice function declared with other types than it has: ptxas would accept the call.
// REFUSED: the kernels call __nv_powif with other types than it has
module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
    llvm.func @__nv_powif(f32, i64) -> f32
    llvm.func @square(%p: !llvm.ptr, %n: i64) attributes {gpu.kernel, nvvm.kernel} {
      %x = llvm.load %p : !llvm.ptr -> f32
      %y = llvm.call @__nv_powif(%x, %n) : (f32, i64) -> f32
      llvm.store %y, %p : f32, !llvm.ptr
      llvm.return
    }
  }
}
