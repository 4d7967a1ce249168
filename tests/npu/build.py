"""npu functions made from work for the array, in this process."""

from dataclasses import replace

from byoc.systolic.gemm import Conv2d, Epilogue, Gemm, Tiling, Work
from byoc.systolic.layout import Layout
from byoc.systolic.lower import gemm_program
from byoc.systolic.machine import Machine
from byoc.systolic.program import Program, Role
from dialects.bindings import Module, Operation, inside
from dialects.npu.dialect import parse_npu
from dialects.npu.interpret import interpret
from dialects.npu.verify import verify
from pipelines.npu import lowering
from pipelines.npu.direct import convolved
from pipelines.npu.tile import tiled
from workbench.core.arrays import Arrays

NAME = "work"


def fusible(epilogue: Epilogue, dtype: str) -> Epilogue:
    """The nearest epilogue that the route makes: floats are not rescaled, integers are clipped as they are narrowed."""
    if dtype != "int8":
        return replace(epilogue, scale=None, per_column=False, narrow=epilogue.narrow and dtype != "float32")
    if epilogue.scale is None and not epilogue.per_column:
        return Epilogue(epilogue.bias, epilogue.relu)
    return replace(epilogue, clip=epilogue.clip or (-128.0, 127.0), narrow=True)


def plain(work: Work) -> Work:
    """The work with what the route never makes taken out."""
    work = replace(work, epilogue=fusible(work.epilogue, work.dtype))
    return replace(work, b_transposed=False) if isinstance(work, Gemm) else work


def npu_module(work: Work, machine: Machine, tiling: Tiling | None = None, direct: bool = False) -> Module:
    """A verified module of one function, with fences."""
    if direct and isinstance(work, Conv2d):
        text = convolved(work, machine, NAME)
    else:
        text = tiled(work, machine, (tiling or lowering.tiling_of(machine, work)).within(work.matrix), NAME)
    module = parse_npu(f"module attributes {{npu.machine = {lowering.limits(machine).attribute()}}} {{\n{text}\n}}")
    with inside(module):
        lowering.fence(module, machine)
        verify(module)
    return module


def program_of(module: Module, machine: Machine) -> Program:
    """The instructions of the module's one function."""
    with inside(module):
        (program,) = lowering.programs(module, machine)
    return program


def interpreted(module: Module, machine: Machine, given: Arrays) -> Arrays:
    """What the dialect's interpreter makes of the module's one function."""
    function: Operation = module.body.operations[0]
    with inside(module):
        return interpret(function, lowering.limits(machine), given)


def reference_program(work: Work, machine: Machine, tiling: Tiling | None) -> Program:
    """The program that the other compiler's code generator makes of the same tiles."""
    return gemm_program(machine, work, tiling)


def shaped(given: Arrays, program: Program) -> Arrays:
    """The program's inputs, in the shapes that its buffers have."""
    return {b.name: given[b.name].reshape(b.shape) for b in program.buffers if b.role is Role.IN}


def fits(machine: Machine, work: Work) -> bool:
    """Whether single elements fit the machine's memories."""
    return Layout.of(machine, work, Tiling(1, 1, 1)).fits(machine, work.dtype)
