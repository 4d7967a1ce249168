"""The npu route: linalg to tiled `npu` operations, to the instruction stream of a simulated systolic array."""
