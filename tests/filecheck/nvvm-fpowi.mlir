// STAGES: nvvm | ptx
// TARGET: cuda:sm_90a
// libdevice's powi takes an i32 exponent. Called with an i64 it links through a prototype of its own and gives garbage.

// CHECK-LABEL: .entry square(
// CHECK-NOT:     .callprototype
// CHECK:         mul.rn.f32
// CHECK-NOT:     .callprototype
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @square(%a: memref<64xf32>) kernel {
      %two = arith.constant 2 : i64
      %i = gpu.thread_id x
      %x = memref.load %a[%i] : memref<64xf32>
      %y = math.fpowi %x, %two : f32, i64
      memref.store %y, %a[%i] : memref<64xf32>
      gpu.return
    }
  }
}
