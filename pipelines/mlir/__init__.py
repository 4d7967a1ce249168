"""The MLIR route: linalg to loops, LLVM and the host; linalg to GPU kernels, PTX and SASS."""
