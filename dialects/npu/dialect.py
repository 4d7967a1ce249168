"""The operations and memory spaces of `npu`, in IRDL, and parsing text that has them.

| operation | meaning |
|---|---|
| config | the dataflow of the products that follow: ws, os or is |
| memory | all of the scratchpad or of the accumulator memory, flat |
| dma_load | to <- from, elements in row-major order; from DRAM |
| dma_store | to <- from, elements in row-major order; to DRAM |
| preload | the stationary operand of the next product starts to shift into the array |
| matmul | sums[m, n] (+)= a[m, k] b[k, n] |
| conv2d | sums[oh ow, f] (+)= the convolution of input[h, w, c] with weights[kh kw c, f], no padding |
| activate | to[m, n] <- from + bias, max with 0, clip |
| requantize | to[m, n] <- round((from + bias, max with 0) scale) + zero_point, clip: integers again |
| fence | nothing more starts before every operation with one of these tags has ended; no tags: all |
"""

import re
from typing import Any

from dialects.bindings import Module, load, parse
from workbench.core.errors import CompileError

SCRATCHPAD = "#npu.scratchpad"
ACCUMULATOR = "#npu.accumulator"

DEFINITION = """
irdl.dialect @npu {
  irdl.attribute @scratchpad {}
  irdl.attribute @accumulator {}
  irdl.operation @config {
    %ws = irdl.is "ws"
    %os = irdl.is "os"
    %is = irdl.is "is"
    %dataflow = irdl.any_of(%ws, %os, %is)
    irdl.attributes {"dataflow" = %dataflow}
  }
  irdl.operation @memory {
    %memory = irdl.base "!builtin.memref"
    irdl.results(memory: %memory)
  }
  irdl.operation @dma_load {
    %from = irdl.base "!builtin.memref"
    %to = irdl.base "!builtin.memref"
    %tag = irdl.base "#builtin.integer"
    irdl.attributes {"tag" = %tag}
    irdl.operands(from: %from, to: %to)
  }
  irdl.operation @dma_store {
    %from = irdl.base "!builtin.memref"
    %to = irdl.base "!builtin.memref"
    %tag = irdl.base "#builtin.integer"
    irdl.attributes {"tag" = %tag}
    irdl.operands(from: %from, to: %to)
  }
  irdl.operation @preload {
    %operand = irdl.base "!builtin.memref"
    irdl.operands(operand: %operand)
  }
  irdl.operation @matmul {
    %a = irdl.base "!builtin.memref"
    %b = irdl.base "!builtin.memref"
    %sums = irdl.base "!builtin.memref"
    %yes = irdl.is true
    %no = irdl.is false
    %accumulate = irdl.any_of(%yes, %no)
    %tag = irdl.base "#builtin.integer"
    irdl.attributes {"accumulate" = %accumulate, "tag" = %tag}
    irdl.operands(a: %a, b: %b, sums: %sums)
  }
  irdl.operation @conv2d {
    %input = irdl.base "!builtin.memref"
    %weights = irdl.base "!builtin.memref"
    %sums = irdl.base "!builtin.memref"
    %yes = irdl.is true
    %no = irdl.is false
    %accumulate = irdl.any_of(%yes, %no)
    %kernel = irdl.base "#builtin.dense_array"
    %strides = irdl.base "#builtin.dense_array"
    %tag = irdl.base "#builtin.integer"
    irdl.attributes {"accumulate" = %accumulate, "kernel" = %kernel, "strides" = %strides, "tag" = %tag}
    irdl.operands(input: %input, weights: %weights, sums: %sums)
  }
  irdl.operation @activate {
    %from = irdl.base "!builtin.memref"
    %to = irdl.base "!builtin.memref"
    %bias = irdl.base "!builtin.memref"
    %yes = irdl.is true
    %no = irdl.is false
    %relu = irdl.any_of(%yes, %no)
    %tag = irdl.base "#builtin.integer"
    irdl.attributes {"relu" = %relu, "tag" = %tag}
    irdl.operands(from: %from, to: %to, bias: optional %bias)
  }
  irdl.operation @requantize {
    %from = irdl.base "!builtin.memref"
    %to = irdl.base "!builtin.memref"
    %bias = irdl.base "!builtin.memref"
    %scales = irdl.base "!builtin.memref"
    %yes = irdl.is true
    %no = irdl.is false
    %relu = irdl.any_of(%yes, %no)
    %zero_point = irdl.base "#builtin.integer"
    %tag = irdl.base "#builtin.integer"
    irdl.attributes {"relu" = %relu, "zero_point" = %zero_point, "tag" = %tag}
    irdl.operands(from: %from, to: %to, bias: optional %bias, scales: optional %scales)
  }
  irdl.operation @fence {
    %tags = irdl.base "#builtin.dense_array"
    irdl.attributes {"tags" = %tags}
  }
}
"""

_NAMED = re.compile(r'see current operation: (?:%\w+(?::\d+)? = )?"(npu\.\w+)"')


def new_module() -> Module:
    """An empty module in a fresh context that knows `npu`."""
    # MLIR looks for a Python module of each dialect whose operations it hands out: `npu` is in `dialects`.
    load("_mlir_libs._mlir").globals.append_dialect_search_prefix("dialects")
    module = parse("module {}")
    with module.operation.context, load("ir").Location.unknown():
        load("dialects.irdl").load_dialects(parse(DEFINITION, near=module))
    return module


def parse_npu(text: str) -> Module:
    """Parse a module that may have `npu` operations. Raises CompileError with MLIR's line, the operation named."""
    ir, context = load("ir"), new_module().operation.context
    try:
        return ir.Module.parse(text, context=context)
    except ir.MLIRError as error:
        raise CompileError(f"the IR does not parse: {_explain(error)}") from None


def _explain(error: Any) -> str:
    """MLIR's first line, led by the operation that its note shows."""
    said = next((line for line in str(error).splitlines() if "error:" in line), str(error))
    named = _NAMED.search(str(error))
    line = said.partition("error:")[2].strip() or said
    return f"{named[1]}: {line}" if named and named[1] not in line else line
