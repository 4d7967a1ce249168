"""Cuts a model in two: products the array can compute become calls of regions, the rest stays on the host."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from byoc.report import describe
from byoc.systolic.gemm import Tiling, Work
from byoc.systolic.layout import Layout
from byoc.systolic.machine import Machine
from byoc.systolic.search import choose_tiling
from dialects.bindings import Module, Operation, load, parse, public_functions, walk
from pipelines.mlir.tiled.edit import create, ir
from pipelines.npu.products import Product, is_product, multiplies, read_product
from pipelines.npu.region import fused_names, region_name, region_text, result_type
from workbench.core.errors import CompileError
from workbench.core.offload import LeftBehind, Offload, Region

_MOVES = ("linalg.fill", "linalg.broadcast", "linalg.transpose", "linalg.copy", "linalg.yield", "linalg.index")
_TO_NHWC, _TO_NCHW, _TO_HWCF = (0, 2, 3, 1), (0, 3, 1, 2), (2, 3, 1, 0)


def split(module: Module, machine: Machine) -> Offload:
    """Rewrite the module in place; says what went where. A product that stays has the reason as `npu.host`."""
    found: list[Product] = []
    left: list[LeftBehind] = []
    for function in public_functions(module):
        products = _operations(function, is_product)
        for op in products:
            got = _supported(op, machine)
            if isinstance(got, str):
                op.attributes["npu.host"] = ir.StringAttr.get(got)
                left.append(LeftBehind(_node(op), op.name, multiplies(op), got))
            else:
                found.append(got)
        covered = [op for product in found for op in product.covered]
        left += _without_product(function, [*covered, *products])
    regions = tuple(_region(product) for product in found)
    replaced: dict[Any, Any] = {}
    for product in found:
        replaced[product.result] = _call(product, replaced)
    for op in reversed([op for product in found for op in product.covered]):
        op.erase()
    _define(module, found)
    return Offload(describe(machine), regions, tuple(left))


def _supported(op: Operation, machine: Machine) -> Product | str:
    """The product, unless its tiles do not fit the machine's memories."""
    got = read_product(op, machine)
    if isinstance(got, Product):
        try:
            tiling_of(machine, got.work)
        except CompileError as error:
            return str(error)
    return got


def tiling_of(machine: Machine, work: Work) -> Tiling:
    """The machine's tile sizes, or the best ones. Raises CompileError, with the numbers, when they do not fit."""
    tiling = choose_tiling(machine, work).within(work.matrix)
    Layout.of(machine, work, tiling).require(machine, work, tiling)
    return tiling


def _operations(function: Operation, wanted: Callable[[Operation], bool]) -> list[Operation]:
    found: list[Operation] = []
    walk(function, lambda op: found.append(op.operation) if wanted(op.operation) else None)
    return found


def _without_product(function: Operation, known: Sequence[Operation]) -> list[LeftBehind]:
    """Operations of linalg that compute something and multiply nothing the array could."""

    def wanted(op: Operation) -> bool:
        return op.name.startswith("linalg.") and op.name not in _MOVES and op not in known

    rest = _operations(function, wanted)
    return [LeftBehind(_node(op), op.name, 0, _kind(op)) for op in rest]


def _kind(op: Operation) -> str:
    if "pooling" in op.name:
        return "it pools; the array multiplies matrices"
    if op.name == "linalg.generic" and "reduction" in str(op.attributes["iterator_types"]):
        return "it folds without multiplying; the array multiplies matrices"
    return "it is elementwise, and not the end of a product that it could be fused with"


def _node(op: Operation) -> str:
    from pipelines.mlir.cuda.naming import source

    return source(op.location)


def _region(product: Product) -> Region:
    work = product.work
    gemm, kind = work.matrix, region_name(work).partition("_")[0]
    kind = {"batch": "batch_matmul", "matmul": "dense"}.get(kind, kind)
    node = _node(product.anchor)
    return Region(region_name(work), node, kind, fused_names(work), work.dtype, gemm.batch, gemm.m, gemm.k, gemm.n, {})


def _define(module: Module, products: Sequence[Product]) -> None:
    """Add one function for each different piece of work."""
    works = {region_name(p.work): p.work for p in products}
    regions = parse("\n".join(region_text(work) for work in works.values()), near=module)
    with ir.InsertionPoint(module.body):
        for function in list(regions.body.operations):
            ir.InsertionPoint.current.insert(function.operation.detach_from_parent())


def _call(product: Product, replaced: Mapping[Any, Any]) -> Any:
    """Put a call where the product ends, its operands in the array's layout, and let readers use what it gives.

    `replaced` has what took the place of the results of earlier products; the operations themselves are still there.
    """
    last, fused = product.covered[-1], product.fused
    with ir.InsertionPoint(last), product.anchor.location:
        a, b = replaced.get(product.a, product.a), replaced.get(product.b, product.b)
        if product.layout == "nchw":
            a, b = _transposed(a, _TO_NHWC), _transposed(b, _TO_HWCF)
        scale = _times(fused.scale, fused.factor) if fused.scale is not None and fused.factor != 1 else fused.scale
        operands = [v for v in (a, b, fused.bias, scale) if v is not None]
        callee = ir.FlatSymbolRefAttr.get(region_name(product.work))
        result = create("func.call", operands, ir.Type.parse(result_type(product.work)), callee=callee)
        if product.layout == "nchw":
            result = _transposed(result, _TO_NCHW)
        if fused.wide:
            result = _elementwise(result, ir.IntegerType.get_signless(64), _extended)
    product.result.replace_all_uses_with(result)
    return result


def _transposed(value: Any, order: Sequence[int]) -> Any:
    old = value.type
    kind = ir.RankedTensorType.get([old.shape[i] for i in order], old.element_type)
    into = create("tensor.empty", [], kind)
    return load("dialects.linalg").transpose(value, outs=[into], permutation=list(order)).results[0]


def _extended(x: Any, kind: Any) -> Any:
    return create("arith.extsi", [x], kind)


def _times(vector: Any, factor: float) -> Any:
    """A vector times a number."""

    def times(x: Any, kind: Any) -> Any:
        number = create("arith.constant", [], kind, value=ir.FloatAttr.get(kind, factor))
        return create("arith.mulf", [x, number], kind)

    return _elementwise(vector, vector.type.element_type, times)


def _elementwise(value: Any, element: Any, body: Callable[[Any, Any], Any]) -> Any:
    """linalg.generic over one tensor; `body` makes the new element from the old one and the new type."""
    shape = value.type.shape
    kind, same = ir.RankedTensorType.get(shape, element), ir.AffineMapAttr.get(ir.AffineMap.get_identity(len(shape)))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    op = ir.Operation.create(
        "linalg.generic",
        operands=[value, create("tensor.empty", [], kind)],
        results=[kind],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([same, same]),
            "iterator_types": ir.ArrayAttr.get([parallel] * len(shape)),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
        },
        regions=1,
    )
    block = op.regions[0].blocks.append(value.type.element_type, element)
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[body(block.arguments[0], element)])
    return op.results[0]
