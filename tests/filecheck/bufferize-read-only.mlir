// STAGES: bufferize
// The caller's tensor is not updated in place, although nothing in the function reads it afterwards.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: memref<16xf32>, %[[S:.*]]: memref<3xf32>, %[[OUT:.*]]: memref<16xf32>)
// CHECK:         memref.copy %[[X]], %[[OUT]]
// CHECK:         %[[V:.*]] = memref.subview %[[OUT]][2] [3] [1]
// CHECK:         memref.copy %[[S]], %[[V]]
func.func @main(%x: tensor<16xf32>, %s: tensor<3xf32>) -> tensor<16xf32> {
  %r = tensor.insert_slice %s into %x[2] [3] [1] : tensor<3xf32> into tensor<16xf32>
  return %r : tensor<16xf32>
}
