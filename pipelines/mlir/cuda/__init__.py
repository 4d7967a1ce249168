"""The CUDA leg of the mlir route: bufferized linalg to kernels, PTX, SASS and a launch plan, without a GPU."""
