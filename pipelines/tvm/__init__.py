"""The TVM route: ONNX to Relay to TIR to LLVM IR to host code, run by TVM's graph executor."""
