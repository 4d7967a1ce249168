"""Importers: torch.export programs and ONNX models to linalg on tensors."""
