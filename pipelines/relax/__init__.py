"""The Relax route: torch.export or ONNX to Relax to TIR to LLVM IR, and to CUDA source, by TVM 0.27."""
