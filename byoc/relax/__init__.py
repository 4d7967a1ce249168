"""From Relax to the array: TVM 0.27's way to bring a code generator, for products of matrices."""
