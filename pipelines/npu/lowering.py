"""Whole modules: regions of linalg, their npu functions, their programs, and the host that calls them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from byoc.systolic.gemm import Conv2d, Work
from byoc.systolic.machine import Machine
from byoc.systolic.program import Program
from dialects.bindings import Module, Operation, load, parse, walk
from dialects.npu.areas import Limits, limits_of
from dialects.npu.verify import verify
from pipelines.mlir.tiled.edit import ir
from pipelines.npu.direct import convolved
from pipelines.npu.fences import insert_fences
from pipelines.npu.instructions import Translator
from pipelines.npu.offload import tiling_of
from pipelines.npu.products import Product, is_product, read_product
from pipelines.npu.tile import tiled
from workbench.core.errors import CompileError

REGION = "npu.region"


def limits(machine: Machine) -> Limits:
    """What the dialect knows of a machine."""
    return Limits(
        machine.name, str(machine.dataflow), machine.scratchpad_bytes, machine.accumulator_bytes, machine.dtypes
    )


def regions(module: Module, machine: Machine) -> dict[str, Work]:
    """The work of every region, by its function's name.

    Raises CompileError for a region that does anything but one product that the machine can compute.
    """
    found: dict[str, Work] = {}
    for function in _functions(module):
        if REGION in function.attributes:
            name = ir.StringAttr(function.attributes["sym_name"]).value
            found[name] = _work(function, name, machine)
    return found


def _work(function: Operation, name: str, machine: Machine) -> Work:
    ops: list[Operation] = []
    walk(function, lambda op: ops.append(op.operation) if op.operation.name.startswith("linalg.") else None)
    products = [op for op in ops if is_product(op)]
    if len(products) != 1:
        raise CompileError(f"region @{name} has {len(products)} products; a region is one")
    product = read_product(products[0], machine)
    if not isinstance(product, Product):
        raise CompileError(f"{products[0].name} in region @{name}: {product}")
    returned = list(function.regions[0].blocks[0].operations)[-1].operands
    if list(returned) != [product.result]:
        raise CompileError(f"region @{name} does more than its product and what the array can do with the sums")
    given = [v for v in (product.a, product.b, product.fused.bias, product.fused.scale) if v is not None]
    if given != list(function.regions[0].blocks[0].arguments) or product.layout == "nchw":
        raise CompileError(f"region @{name} must take its operands in order and its images as nhwc")
    return product.work


def tile(module: Module, works: Mapping[str, Work], machine: Machine, direct: bool) -> None:
    """Fill an empty module that knows `npu` with one function for each region."""
    module.operation.attributes["npu.machine"] = ir.Attribute.parse(limits(machine).attribute())
    texts: list[str] = []
    for name, work in works.items():
        if direct and isinstance(work, Conv2d) and not work.direct:
            texts.append(convolved(work, machine, name))
        else:
            texts.append(tiled(work, machine, tiling_of(machine, work), name))
    made = parse("\n".join(texts), near=module)
    with ir.InsertionPoint(module.body):
        for function in list(made.body.operations):
            ir.InsertionPoint.current.insert(function.operation.detach_from_parent())


def fence(module: Module, machine: Machine) -> None:
    """Insert fences in every function."""
    for function in _functions(module):
        insert_fences(function, machine)


def programs(module: Module, machine: Machine) -> list[Program]:
    """One instruction stream for each function. Raises CompileError for what the dialect's verifier refuses.

    The module must be for this machine: addresses were chosen for its memories, preloads for its dataflow.
    """
    verify(module)
    made = limits_of(module)
    if made.dataflow != machine.dataflow or any(made.bytes_of(s) > limits(machine).bytes_of(s) for s in made.spaces):
        raise CompileError(f"the npu module was made for {made}; the accelerator is {limits(machine)}")
    return [_program(function, machine) for function in _functions(module)]


def _program(function: Operation, machine: Machine) -> Program:
    translator = Translator(function, machine)
    code = [i for op in translator.block.operations for i in translator.instructions(op)]
    return replace(translator.header(), instructions=tuple(code))


def declare_regions(module: Module) -> None:
    """Regions lose their bodies: what the host calls is defined elsewhere."""
    func = load("dialects.func")
    for function in _functions(module):
        if REGION not in function.attributes:
            continue
        name, kind = ir.StringAttr(function.attributes["sym_name"]).value, function.attributes["function_type"].value
        function.erase()
        with ir.InsertionPoint(module.body), ir.Location.unknown():
            declared = func.FuncOp(name, kind, visibility="private")
        declared.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()


def _functions(module: Module) -> list[Any]:
    """Functions with a body."""
    return [op.operation for op in module.body.operations if op.operation.name == "func.func" and op.regions[0].blocks]
