"""The `npu` dialect: what a systolic array with a scratchpad is told to do, one operation an instruction or nearly.

DRAM is what a function is given: memrefs without a memory space. The array's two memories are the flat memrefs that
`npu.memory` gives, in `#npu.scratchpad` and `#npu.accumulator`; every tile is a `memref.reinterpret_cast` of one of
the three, so that a type says where a tile lies: its offset, sizes and strides.
"""
