// STAGES: gpu-map
// REFUSED: scf.while
// REFUSED: a launch plan has no control flow
func.func @main(%x: memref<i1>, %o: memref<4xf32>) {
  scf.while : () -> () {
    %go = memref.load %x[] : memref<i1>
    scf.condition(%go)
  } do {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%o : memref<4xf32>)
    scf.yield
  }
  return
}
