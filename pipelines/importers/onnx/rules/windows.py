"""Pools and transposed convolutions with attributes that the conversion does not take."""

import math

from pipelines.importers.onnx.graph import Value
from pipelines.importers.onnx.rewrite import Rewrite


def lp_pool(r: Rewrite) -> list[Value]:
    """(sum over the window of |x|^p)^(1/p): an average of the powers over an input padded with zeros."""
    p, kernel = r.options.get("p", 2), r.options["kernel_shape"]
    strides = r.options.get("strides", [1] * len(kernel))
    dilations = r.options.get("dilations", [1] * len(kernel))
    sizes, result = r.shape()[2:], r.result_shape()[2:]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    needed = [(o - 1) * s + k for o, s, k in zip(result, strides, reach, strict=True)]
    before = _before(r, sizes, needed)
    after = [max(0, n - size - b) for n, size, b in zip(needed, sizes, before, strict=True)]
    powers = r.op("Pow", r.op("Abs", r.input(0)), r.const(p, r.dtype()))
    padded = r.op("Pad", powers, r.ints(0, 0, *before, 0, 0, *after))
    options = {"kernel_shape": kernel, "strides": strides} | ({"dilations": dilations} if max(dilations) > 1 else {})
    mean = r.op("AveragePool", padded, **options)
    total = r.op("Mul", mean, r.const(math.prod(kernel), r.dtype()))
    return [r.op("Pow", total, r.const(1 / p, r.dtype()))]


def _before(r: Rewrite, sizes: tuple[int, ...], needed: list[int]) -> list[int]:
    """Zeros before each spatial dimension."""
    auto = r.options.get("auto_pad", "NOTSET")
    spare = [max(0, n - size) for n, size in zip(needed, sizes, strict=True)]
    if auto == "SAME_UPPER":
        return [s // 2 for s in spare]
    if auto == "SAME_LOWER":
        return [s - s // 2 for s in spare]
    return r.options.get("pads", [0] * 2 * len(sizes))[: len(sizes)]


def conv_transpose(r: Rewrite) -> list[Value] | None:
    """One transposed convolution a group; pads that differ at the two ends are cut off afterwards."""
    groups, rank = r.options.get("group", 1), len(r.shape()) - 2
    pads = r.options.get("pads", [0] * 2 * rank)
    placed = r.options.get("auto_pad", "NOTSET") != "NOTSET" or "output_shape" in r.options
    if placed or pads[:rank] != pads[rank:]:
        return _placed_afterwards(r)
    if groups == 1:
        return None
    options = {k: v for k, v in r.options.items() if k != "group"}
    inputs = r.ops("Split", r.input(0), results=groups, axis=1, num_outputs=groups)
    weights = r.ops("Split", r.input(1), results=groups, axis=0, num_outputs=groups)
    biases = r.ops("Split", r.input(2), results=groups, axis=0, num_outputs=groups) if r.input(2) else []
    operands = zip(inputs, weights, *([biases] if biases else []), strict=True)
    return [r.op("Concat", *(r.op("ConvTranspose", *each, **options) for each in operands), axis=1)]


def _placed_afterwards(r: Rewrite) -> list[Value]:
    """The whole transposed convolution without its bias, cut or filled up with zeros to the result's size."""
    sizes, kernel, result = r.shape()[2:], r.shape(1)[2:], r.result_shape()[2:]
    rank = len(sizes)
    strides, dilations = (r.options.get(name, [1] * rank) for name in ("strides", "dilations"))
    full = [strides[d] * (sizes[d] - 1) + (kernel[d] - 1) * dilations[d] + 1 for d in range(rank)]
    begins = _begins(r, [f - n for f, n in zip(full, result, strict=True)])
    dropped = ("auto_pad", "output_shape", "output_padding", "pads")
    options = {k: v for k, v in r.options.items() if k not in dropped}
    whole = r.op("ConvTranspose", r.input(0), r.input(1), **options)
    ends = [begins[d] + result[d] - full[d] for d in range(rank)]
    placed = r.op("Pad", whole, r.ints(0, 0, *(-b for b in begins), 0, 0, *ends))
    if r.input(2):
        placed = r.op("Add", placed, r.op("Reshape", r.input(2), r.ints(1, -1, *[1] * rank)))
    return [placed]


def _begins(r: Rewrite, surplus: list[int]) -> list[int]:
    """How much to cut off before each dimension; ONNX gives the odd one to the end for SAME_UPPER."""
    auto = r.options.get("auto_pad", "NOTSET")
    if auto == "NOTSET" and "output_shape" not in r.options:
        return r.options["pads"][: len(surplus)]
    if auto == "VALID":
        return [0] * len(surplus)
    totals = [max(0, s + e) for s, e in zip(surplus, r.options.get("output_padding", [0] * len(surplus)), strict=True)]
    return [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in totals]
