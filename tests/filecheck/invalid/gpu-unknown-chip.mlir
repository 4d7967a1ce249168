// STAGES: gpu-map
// TARGET: cuda:sm_99
// REFUSED: sm_99
// REFUSED: sm_90a
func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) {
  linalg.copy ins(%x : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}
