"""Access to MLIR and the project's own dialects. `bindings` is the one door to `mlir.ir`."""
