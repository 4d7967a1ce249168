"""One piece of work for the array as a function of linalg, in the array's layout: what the npu stage lowers."""

import math

from byoc.systolic.gemm import Conv2d, Work
from byoc.systolic.machine import ACCUMULATOR_DTYPE
from dialects.npu.areas import ELEMENTS


def region_name(work: Work) -> str:
    """`conv2d_1x58x58x64_3x3x64_s1x1_f32_bias_relu`: equal work has one name, other work another."""
    epilogue = work.epilogue
    if isinstance(work, Conv2d):
        image = f"{work.n}x{work.h}x{work.w}x{work.c}_{work.kh}x{work.kw}x{work.oc}"
        parts = ["conv2d", image, f"s{work.stride[0]}x{work.stride[1]}"]
    else:
        batched = work.batch > 1
        sizes = (work.batch, work.m, work.k, work.n)[not batched :]
        parts = ["batch_matmul" if batched else "matmul", "x".join(map(str, sizes))]
    parts.append(ELEMENTS[work.dtype])
    parts += fused_names(work)
    if epilogue.scale is not None or epilogue.zero_point:
        parts.append(f"{_plain(epilogue.scale or 0.0)}_{_plain(epilogue.zero_point)}")
    if epilogue.clip is not None:
        parts.append("_".join(_plain(v) for v in epilogue.clip))
    return "_".join(parts)


def fused_names(work: Work) -> tuple[str, ...]:
    """What is computed on the way out."""
    epilogue = work.epilogue
    rescaled = epilogue.per_column or epilogue.scale is not None
    named = {
        "bias": epilogue.bias,
        "relu": epilogue.relu,
        "requantise": rescaled,
        "clip": epilogue.clip is not None and not rescaled,
        "narrow": epilogue.narrow and not rescaled,
    }
    return tuple(name for name, there in named.items() if there)


def argument_types(work: Work) -> list[tuple[str, str]]:
    """Names and types of what the region is given, in order."""
    element, sums, n = ELEMENTS[work.dtype], ELEMENTS[ACCUMULATOR_DTYPE[work.dtype]], work.matrix.n
    vectors = [("bias", tensor((n,), sums))] * work.epilogue.bias + [
        ("scale", tensor((n,), "f32"))
    ] * work.epilogue.per_column
    return [
        ("a", tensor(operand_shape(work, work.a_shape), element)),
        ("b", tensor(operand_shape(work, work.b_shape), element)),
        *vectors,
    ]


def operand_shape(work: Work, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape as linalg has it: a single matrix without its batch of one."""
    return shape if isinstance(work, Conv2d) or work.batch > 1 else shape[1:]


def result_type(work: Work) -> str:
    """Type of what the region gives."""
    return tensor(operand_shape(work, work.c_shape), ELEMENTS[_result_dtype(work)])


def region_text(work: Work) -> str:
    """The region as a private function: the product of linalg, then the epilogue as one elementwise operation."""
    sums = ELEMENTS[ACCUMULATOR_DTYPE[work.dtype]]
    summed = tensor(operand_shape(work, work.c_shape), sums)
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in argument_types(work))
    operands = ", ".join(kind for _, kind in argument_types(work)[:2])
    lines = [
        f"func.func private @{region_name(work)}({arguments}) -> {result_type(work)} attributes {{npu.region}} {{",
        f"  %zero = arith.constant {_number(0.0, sums)}",
        f"  %empty = tensor.empty() : {summed}",
        f"  %start = linalg.fill ins(%zero : {sums}) outs(%empty : {summed}) -> {summed}",
        f"  %sums = {_product(work)} ins(%a, %b : {operands}) outs(%start : {summed}) -> {summed}",
        *([] if work.epilogue.plain else _epilogue(work, summed)),
        f"  return %{'sums' if work.epilogue.plain else 'result'} : {result_type(work)}",
        "}",
    ]
    return "\n".join(lines)


def tensor(shape: tuple[int, ...], element: str) -> str:
    """`tensor<4x8xf32>`."""
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


def _result_dtype(work: Work) -> str:
    return work.dtype if work.epilogue.narrow else ACCUMULATOR_DTYPE[work.dtype]


def _product(work: Work) -> str:
    if not isinstance(work, Conv2d):
        return "linalg.batch_matmul" if work.batch > 1 else "linalg.matmul"
    down, right = work.stride
    strides = f"dense<{down}>" if down == right else f"dense<[{down}, {right}]>"
    return f"linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : vector<2xi64>, strides = {strides} : vector<2xi64>}}"


def _epilogue(work: Work, summed: str) -> list[str]:
    rank = 4 if isinstance(work, Conv2d) else 3 if work.batch > 1 else 2
    dims = ", ".join(f"d{i}" for i in range(rank))
    same, column = f"affine_map<({dims}) -> ({dims})>", f"affine_map<({dims}) -> (d{rank - 1})>"
    vectors = argument_types(work)[2:]
    maps = ", ".join([same, *[column] * len(vectors), same])
    names = "".join(f", %{name}" for name, _ in vectors)
    types = "".join(f", {kind}" for _, kind in vectors)
    elements = "".join(f", %{name}_in: {kind.rpartition('x')[2][:-1]}" for name, kind in vectors)
    sums, out = ELEMENTS[ACCUMULATOR_DTYPE[work.dtype]], ELEMENTS[_result_dtype(work)]
    parallel = ", ".join(['"parallel"'] * rank)
    return [
        f"  %out = tensor.empty() : {result_type(work)}",
        f"  %result = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{parallel}]}}"
        f" ins(%sums{names} : {summed}{types}) outs(%out : {result_type(work)}) {{",
        f"  ^bb0(%x: {sums}{elements}, %old: {out}):",
        *_body(work, sums, out),
        f"  }} -> {result_type(work)}",
    ]


class _Body:
    """Lines of a payload, each on the value that the one before gave."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.value = "%x"

    def add(self, op: str, kind: str, other: str = "", number: float | None = None) -> None:
        """`op` on the current value, with a second operand, or with a number as one."""
        name = f"%v{len(self.lines)}"
        if number is not None:
            self.lines.append(f"    {name}c = arith.constant {_number(number, kind)}")
            other = f"{name}c"
        self.lines.append(f"    {name} = {op} {self.value}{f', {other}' if other else ''} : {kind}")
        self.value = name


def _body(work: Work, sums: str, out: str) -> list[str]:
    """The epilogue in the order of `Activate`."""
    epilogue, body = work.epilogue, _Body()
    whole, rescaled = sums == "i32", epilogue.per_column or epilogue.scale is not None
    kind = sums
    if epilogue.bias:
        body.add("arith.addi" if whole else "arith.addf", kind, "%bias_in")
    if epilogue.relu:
        body.add("arith.maxsi" if whole else "arith.maximumf", kind, number=0)
    if rescaled:
        if whole:
            kind = "f32"
            body.add("arith.sitofp", "i32 to f32")
        body.add("arith.mulf", kind, "%scale_in" if epilogue.per_column else "", epilogue.scale)
        if whole:
            body.add("math.roundeven", kind)
        if epilogue.zero_point:
            body.add("arith.addf", kind, number=epilogue.zero_point)
    low, high = epilogue.clip or (-math.inf, math.inf)
    # A relu of what is clipped at 0 says so already; one of integers comes before they are rescaled.
    if low > -math.inf and (rescaled or not epilogue.relu or low != 0):
        body.add("arith.maximumf", kind, number=low)
    if high < math.inf:
        body.add("arith.minimumf", kind, number=high)
    if out != kind:
        body.add("arith.fptosi" if whole else "arith.truncf", f"{kind} to {out}")
    return [*body.lines, f"    linalg.yield {body.value} : {out}"]


def _number(value: float, kind: str) -> str:
    """An MLIR constant of `kind` (i32, f32)."""
    if kind.startswith("i"):
        return f"{int(value)} : {kind}"
    return f"{value:.1f} : {kind}" if float(value).is_integer() and abs(value) < 1e9 else f"{value:.17e} : {kind}"


def _plain(value: float) -> str:
    """A number as part of a name."""
    return repr(float(value)).removesuffix(".0").replace("-", "m").replace(".", "p").replace("+", "")
