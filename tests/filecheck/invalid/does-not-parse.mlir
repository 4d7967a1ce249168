// STAGES: fuse
// REFUSED: the IR does not parse
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.expo ins(%a : tensor<4xf32>)
  return %r : tensor<4xf32>
}
