"""What IRDL cannot say of `npu` operations: shapes, element types, memory spaces, and what fits the machine."""

from collections.abc import Callable

from dialects.bindings import Module, Operation, load
from dialects.npu.areas import DRAM, SUMS, Area, Areas, Limits, area_of, limits_of
from workbench.core.errors import CompileError

Check = Callable[[Operation, list[Area], Limits], None]
_PLAIN = frozenset({"memref.reinterpret_cast", "func.return"})


def verify(module: Module) -> None:
    """Check every function of a module. Raises CompileError: one line with the operation, its function, the numbers."""
    limits = limits_of(module)
    for function in module.body.operations:
        if function.operation.name == "func.func" and function.regions[0].blocks:
            name = load("ir").StringAttr(function.attributes["sym_name"]).value
            _verify_function(function, name, limits)


def _verify_function(function: Operation, name: str, limits: Limits) -> None:
    issued: set[int] = set()
    configured, areas = False, Areas()
    scratchpads: set[str] = set()
    for op in function.regions[0].blocks[0].operations:
        op = op.operation
        try:
            if op.name in _CHECKS:
                configured = configured or op.name == "npu.config"
                if op.name in _ON_THE_ARRAY and not configured:
                    raise _no("comes before npu.config, which sets the dataflow")
                operands = areas.of(op)
                for area in operands:
                    _inside(area, limits)
                _CHECKS[op.name](op, operands, limits)
                _one_type(op, scratchpads)
                _fence(op, issued)
            elif op.name not in _PLAIN:
                raise _no("has no place among npu operations; leave it on the host")
        except _Refused as refused:
            raise CompileError(f"{op.name} in @{name} {refused}") from None


class _Refused(Exception):
    """Why an operation is refused."""


def _no(reason: str) -> _Refused:
    return _Refused(reason)


def _inside(area: Area, limits: Limits) -> None:
    """A window must lie within what it is a window of and, on chip, within the machine's memory."""
    if area.offset < 0 or area.end > area.held:
        raise _no(f"reaches elements {area.offset} to {area.end - 1} of a buffer of {area.held}")
    if area.space != DRAM:
        _fits(area, area.end, limits)
        if len(area.sizes) > 1 and area.strides[-1] != 1:
            raise _no(f"takes {area} with a stride of {area.strides[-1]} between columns; on chip that is 1")


def _one_type(op: Operation, scratchpads: set[str]) -> None:
    """The scratchpad's addresses count elements, so a function sees it as elements of one type."""
    if op.name == "npu.memory" and (area := area_of(op.results[0], op)).space == "scratchpad":
        scratchpads.add(area.dtype)
        if len(scratchpads) > 1:
            raise _no(f"sees the scratchpad as {area.dtype} where it is {min(scratchpads - {area.dtype})} already")


def _fits(area: Area, elements: int, limits: Limits) -> None:
    have = limits.bytes_of(area.space)
    if elements * area.item_bytes > have:
        raise _no(
            f"reaches byte {elements * area.item_bytes} of the {area.space}; that of {limits.name} has {have}: "
            "use a smaller tile"
        )


def _fence(op: Operation, issued: set[int]) -> None:
    if op.name == "npu.fence":
        unknown = sorted(set(load("ir").DenseI64ArrayAttr(op.attributes["tags"])) - issued)
        if unknown:
            raise _no(f"waits for tag {unknown[0]}, which no operation before it has")
    elif "tag" in op.attributes:
        issued.add(op.attributes["tag"].value)


def _need(what: str, area: Area, *spaces: str) -> None:
    if area.space not in spaces:
        raise _no(f"takes {what} from {area.space}; it must be in {' or '.join(spaces)}")


def _matrix(what: str, area: Area) -> tuple[int, int]:
    if len(area.sizes) != 2:
        raise _no(f"takes {what} of rank {len(area.sizes)} ({area}); it must be a matrix")
    return area.sizes[0], area.sizes[1]


def _config(op: Operation, areas: list[Area], limits: Limits) -> None:
    """IRDL says it all."""


def _memory(op: Operation, areas: list[Area], limits: Limits) -> None:
    area = area_of(op.results[0], op)
    if area.space == DRAM:
        raise _no("gives memory of DRAM; that is the function's arguments")
    if len(area.sizes) != 1:
        raise _no(f"gives {area}; a memory is flat")
    if area.space == "scratchpad":
        _element(area, limits)
    elif area.dtype not in SUMS.values():
        raise _no(f"gives {area}; the accumulator memory holds int32 or float32")
    _fits(area, area.held, limits)


def _element(area: Area, limits: Limits) -> None:
    if area.dtype not in limits.dtypes:
        raise _no(f"takes {area}; {limits.name} multiplies {', '.join(limits.dtypes)}")


def _dma(op: Operation, areas: list[Area], limits: Limits) -> None:
    outside, chip = areas if op.name == "npu.dma_load" else reversed(areas)
    _need("its DRAM side", outside, DRAM)
    _need("its on-chip side", chip, "scratchpad", "accumulator")
    if outside.count != chip.count:
        raise _no(f"moves {outside.count} elements ({outside}) against {chip.count} ({chip})")
    if outside.dtype != chip.dtype:
        raise _no(f"moves {outside.dtype} against {chip.dtype}; a transfer converts nothing")


def _preload(op: Operation, areas: list[Area], limits: Limits) -> None:
    _need("its operand", areas[0], "scratchpad")
    _matrix("an operand", areas[0])
    if limits.dataflow == "os":
        raise _no("has nothing to hold: under os the sums stay in the array")


def _operands(a: Area, b: Area, sums: Area, limits: Limits) -> None:
    _need("a", a, "scratchpad")
    _need("b", b, "scratchpad")
    _need("sums", sums, "accumulator")
    _element(a, limits)
    if a.dtype != b.dtype:
        raise _no(f"multiplies {a.dtype} by {b.dtype}; both must be the same")
    if sums.dtype != SUMS[a.dtype]:
        raise _no(f"sums {a.dtype} in {sums.dtype}; the array sums it in {SUMS[a.dtype]}")


def _matmul(op: Operation, areas: list[Area], limits: Limits) -> None:
    a, b, sums = areas
    _operands(a, b, sums, limits)
    (m, k), (k2, n), shape = _matrix("a", a), _matrix("b", b), _matrix("sums", sums)
    if k != k2 or shape != (m, n):
        raise _no(f"multiplies {m}x{k} by {k2}x{n} into {shape[0]}x{shape[1]}")


def _conv2d(op: Operation, areas: list[Area], limits: Limits) -> None:
    image, weights, sums = areas
    _operands(image, weights, sums, limits)
    ir = load("ir")
    kernel, strides = (tuple(ir.DenseI64ArrayAttr(op.attributes[a])) for a in ("kernel", "strides"))
    if len(image.sizes) != 3 or len(kernel) != 2 or len(strides) != 2 or min(*kernel, *strides) < 1:
        raise _no(
            f"takes {image} with kernel {kernel} and strides {strides}; it needs [h, w, c], two sizes, two strides"
        )
    (h, w, c), (k, f), (m, n) = image.sizes, _matrix("weights", weights), _matrix("sums", sums)
    oh, ow = (h - kernel[0]) // strides[0] + 1, (w - kernel[1]) // strides[1] + 1
    if min(oh, ow) < 1:
        raise _no(f"slides a {kernel[0]}x{kernel[1]} kernel over {h}x{w}")
    if k != kernel[0] * kernel[1] * c or (m, n) != (oh * ow, f):
        raise _no(
            f"slides {kernel[0]}x{kernel[1]} over {h}x{w}x{c} into {m}x{n} with {k}x{f} weights; "
            f"these give {oh * ow}x{f} and need {kernel[0] * kernel[1] * c} rows"
        )


def _vector(what: str, area: Area, columns: int, dtype: str) -> None:
    _need(what, area, "accumulator")
    if area.count != columns or area.dtype != dtype:
        raise _no(f"takes {what} of {area}; it must be {columns} {dtype}")


def _out(op: Operation, source: Area, target: Area, limits: Limits) -> int:
    _need("its sums", source, "accumulator")
    _need("its result", target, "scratchpad", "accumulator")
    if _matrix("sums", source) != _matrix("a result", target):
        raise _no(f"makes {target} of {source}")
    if target.space == "scratchpad":
        _element(target, limits)
        if SUMS[target.dtype] != source.dtype:
            raise _no(f"makes {target.dtype} of sums in {source.dtype}")
    elif target.dtype != source.dtype:
        raise _no(f"makes {target.dtype} of {source.dtype} in the accumulator memory")
    _clip(op)
    return source.sizes[1]


def _clip(op: Operation) -> None:
    if "clip" in op.attributes:
        low, high = load("ir").DenseF64ArrayAttr(op.attributes["clip"])
        if not low <= high:
            raise _no(f"clips to {low:g} .. {high:g}, which is empty")


def _activate(op: Operation, areas: list[Area], limits: Limits) -> None:
    columns = _out(op, areas[0], areas[1], limits)
    if len(areas) == 3:
        _vector("a bias", areas[2], columns, areas[0].dtype)


def _requantize(op: Operation, areas: list[Area], limits: Limits) -> None:
    columns = _out(op, areas[0], areas[1], limits)
    if areas[0].dtype != "int32":
        raise _no(f"rounds {areas[0].dtype}; requantising is for int32 sums")
    has_bias, has_scales = list(load("ir").DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[2:]
    if has_bias:
        _vector("a bias", areas[2], columns, "int32")
    if has_scales:
        _vector("scales", areas[-1], columns, "float32")
    if bool(has_scales) == ("scale" in op.attributes):
        raise _no("needs a scale for all columns, or one for each: one of the two")


def _tags(op: Operation, areas: list[Area], limits: Limits) -> None:
    """`_fence` checks the tags."""


_ON_THE_ARRAY = frozenset({"npu.preload", "npu.matmul", "npu.conv2d"})
_CHECKS: dict[str, Check] = {
    "npu.config": _config,
    "npu.memory": _memory,
    "npu.dma_load": _dma,
    "npu.dma_store": _dma,
    "npu.preload": _preload,
    "npu.matmul": _matmul,
    "npu.conv2d": _conv2d,
    "npu.activate": _activate,
    "npu.requantize": _requantize,
    "npu.fence": _tags,
}
