"""ONNX models to the torch dialect."""
