"""Buffers to affine loops to the LLVM dialect to LLVM IR to host assembly."""

import platform
from dataclasses import dataclass
from typing import Any, ClassVar

from dialects.bindings import Module, Operation, inside, load, public_functions, walk
from pipelines.mlir.passes import PassRunner
from pipelines.mlir.stage import MlirStage
from workbench.core.artefact import Artefact
from workbench.core.kinds import IRKind
from workbench.core.stage import Context, Stage
from workbench.core.target import Target
from workbench.core.tools import LLC, MLIR_TRANSLATE, OPT

TO_LLVM = (
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,"
    # Calls of the C library take vectors apart, hence vectors once more. Arith before arith-expand: that makes compares
    # of maximumf, and LLVM does not vectorize a reduction over those.
    "convert-math-to-libm,convert-vector-to-llvm,convert-arith-to-llvm,arith-expand,finalize-memref-to-llvm,"
    "convert-arith-to-llvm,convert-index-to-llvm,convert-openmp-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
    "convert-ub-to-llvm,reconcile-unrealized-casts"
)


@dataclass(frozen=True)
class Loops(MlirStage):
    """Every linalg operation as a nest of affine loops, as one would write it by hand."""

    name: ClassVar[str] = "loops"
    consumes: ClassVar[IRKind] = IRKind.BUFFERS
    produces: ClassVar[IRKind] = IRKind.LOOPS

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        passes.run("func.func(convert-linalg-to-affine-loops,affine-scalrep)")


@dataclass(frozen=True)
class ToLlvm(MlirStage):
    """Loops to the LLVM dialect, with a C interface for the entry function."""

    name: ClassVar[str] = "llvm"
    consumes: ClassVar[IRKind] = IRKind.LOOPS
    produces: ClassVar[IRKind] = IRKind.LLVM

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        passes.rewrite("emit-c-interface", emit_c_interface)
        passes.rewrite("near-zero", near_zero)
        passes.run(TO_LLVM)


def near_zero(module: Module) -> None:
    """log1p and expm1 of single numbers as the C library's: convert-math-to-llvm makes them log(1 + x), exp(x) - 1."""
    ir, called = load("ir"), dict[str, Any]()

    def call(op: Operation) -> None:
        op = op.operation
        element = op.results[0].type if op.name in ("math.log1p", "math.expm1") else None
        if not isinstance(element, ir.F32Type | ir.F64Type):
            return
        name = op.name.removeprefix("math.") + ("f" if isinstance(element, ir.F32Type) else "")
        called[name] = element
        with ir.InsertionPoint(op), op.location:
            callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
            new = ir.Operation.create("func.call", [element], list(op.operands[:1]), callee)
        op.results[0].replace_all_uses_with(new.result)
        op.erase()

    walk(module, call)
    for name, kind in called.items():
        with inside(module), ir.InsertionPoint(module.body):
            load("dialects.func").FuncOp(name, ([kind], [kind]), visibility="private")


def emit_c_interface(module: Module) -> None:
    """Mark public functions so that they can be called with pointers to memref descriptors."""
    ir = load("ir")
    for function in public_functions(module):
        function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()


@dataclass(frozen=True)
class Translate(Stage):
    """The LLVM dialect as LLVM IR, not yet optimised."""

    name: ClassVar[str] = "llvm-ir"
    consumes: ClassVar[IRKind] = IRKind.LLVM
    produces: ClassVar[IRKind] = IRKind.LLVM_IR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        out = MLIR_TRANSLATE.run(["--mlir-to-llvmir"], (ir.located or ir.text).encode())
        return ir.derive(self.produces, out.decode())


def machine_options(target: Target) -> list[str]:
    """opt's and llc's options for the host. Without a triple opt knows no vector width."""
    return [f"-mtriple={platform.machine()}-unknown-linux-gnu", f"-mcpu={target.cpu}"]


@dataclass(frozen=True)
class Optimize(Stage):
    """LLVM's own optimiser."""

    level: int = 3

    name: ClassVar[str] = "llvm-opt"
    consumes: ClassVar[IRKind] = IRKind.LLVM_IR
    produces: ClassVar[IRKind] = IRKind.LLVM_IR

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        arguments = [f"-passes=default<O{self.level}>", *machine_options(ctx.target), "-S"]
        return ir.derive(self.produces, OPT.run(arguments, ir.text.encode()).decode())


@dataclass(frozen=True)
class Assemble(Stage):
    """Host assembly, position independent so that it can be loaded anywhere."""

    name: ClassVar[str] = "asm"
    consumes: ClassVar[IRKind] = IRKind.LLVM_IR
    produces: ClassVar[IRKind] = IRKind.ASM

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        arguments = ["-O3", *machine_options(ctx.target), "-relocation-model=pic", "-o", "-"]
        return ir.derive(self.produces, LLC.run(arguments, ir.text.encode()).decode())
