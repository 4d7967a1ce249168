"""nvvm and ptx: device code to the LLVM/NVVM dialect and on to PTX text, by upstream passes."""

import re
from pathlib import Path
from typing import Any

from dialects.bindings import Module, load, run_pipeline, walk
from pipelines.mlir.cuda.chips import Chip
from pipelines.mlir.cuda.outline import gpu_modules
from workbench.core.errors import CompileError

ir = load("ir")

_INT32_ELEMENTS = 2**31


def nvvm_pipeline(chip: Chip, module: Module, opt: int = 3) -> str:
    """Pass pipeline from gpu.func to llvm.func for `chip`.

    Indices are 32 bits wide where every buffer has fewer than 2^31 elements: 64-bit division is the dearest thing a
    naive kernel does. convert-math-to-llvm follows convert-gpu-to-nvvm, which maps what it can to libdevice first.
    """
    width = 32 if _largest(module) < _INT32_ELEMENTS else 64
    return (
        f"nvvm-attach-target{{chip={chip.name} features={chip.features} O={opt}}},"
        "gpu.module(lower-affine,expand-strided-metadata,lower-affine,canonicalize,cse,convert-scf-to-cf,"
        f"convert-gpu-to-nvvm{{use-bare-ptr-memref-call-conv=true index-bitwidth={width}}},"
        "convert-math-to-llvm,convert-arith-to-llvm,canonicalize,cse,reconcile-unrealized-casts)"
    )


def narrow_exponents(module: Module) -> None:
    """Give every math.fpowi an i32 exponent, as libdevice's `__nv_powi` takes.

    convert-gpu-to-nvvm calls it with whatever integer it meets: with an i64 the call goes through, and gives garbage.
    """
    arith = load("dialects.arith")
    i32 = ir.IntegerType.get_signless(32)

    def narrow(op: Any) -> None:
        inner = op.operation
        if inner.name == "math.fpowi" and ir.IntegerType(inner.operands[1].type).width > 32:
            with ir.InsertionPoint(op), inner.location:
                inner.operands[1] = arith.TruncIOp(i32, inner.operands[1]).result

    walk(module, narrow)


def mistyped_call(ptx: str) -> str | None:
    """Name of a function that PTX calls with other types than it is defined with, if any.

    LLVM writes such a call as an indirect one with a prototype of its own, and ptxas accepts it.
    """
    for function in re.split(r"^}", ptx, flags=re.MULTILINE):
        for call in re.finditer(r"\bcall(?:\.uni)?\s+(?:\([^)]*\), )?(%rd\d+),", function):
            target = re.search(rf"mov\.b64\s+{call[1]}, (\w+);", function)
            if target is not None:
                return target[1]
    return None


def unlowered(module: Module) -> str | None:
    """Name and place of a device operation that has no NVVM form, if any is left."""
    for device in gpu_modules(module):
        found = _first_foreign(device)
        if found is not None:
            return f"{found.name} at {found.location}"
    return None


def to_ptx(module: Module, chip: Chip, toolkit: Path | None) -> str:
    """PTX of the one gpu.module, which becomes a gpu.binary in place. `toolkit` holds nvvm/libdevice.

    A model that computes nothing has no kernels, and gets PTX without any.
    """
    if not gpu_modules(module):
        return f".version {chip.ptx / 10:.1f}\n.target {chip.name}\n.address_size 64\n"
    where = f" toolkit={toolkit}" if toolkit else ""
    run_pipeline(module, f"builtin.module(gpu-module-to-binary{{format=isa{where}}})")
    return ptx_of(module)


def ptx_of(module: Module) -> str:
    """PTX text inside the module's gpu.binary."""

    texts: list[str] = []
    for op in module.body.operations:
        if op.operation.name == "gpu.binary":
            objects = ir.ArrayAttr(op.operation.attributes["objects"])
            texts.append(bytes(load("dialects.gpu").ObjectAttr(objects[0]).object).rstrip(b"\0").decode())
    if len(texts) != 1:
        raise CompileError(f"expected one module of device code, found {len(texts)}; run gpu-outline first")
    return texts[0]


def uses_libdevice(module: Module) -> list[str]:
    """Names of libdevice functions that the device code calls."""
    text = " ".join(op.get_asm(enable_debug_info=False) for op in gpu_modules(module))
    return sorted(set(re.findall(r"@(__nv_\w+)", text)))


def _first_foreign(op: Any) -> Any:
    for region in op.operation.regions:
        for block in region.blocks:
            for nested in block.operations:
                inner = nested.operation
                if not inner.name.startswith(("llvm.", "nvvm.", "gpu.module_end")):
                    return inner
                found = _first_foreign(inner)
                if found is not None:
                    return found
    return None


def _largest(module: Module) -> int:
    """Most elements of any buffer that a kernel is given."""
    most = 0
    for device in gpu_modules(module):
        for op in device.regions[0].blocks[0].operations:
            for argument in op.operation.regions[0].blocks[0].arguments if op.operation.regions else []:
                if isinstance(argument.type, ir.MemRefType):
                    kind = ir.MemRefType(argument.type)
                    strides, offset = kind.get_strides_and_offset()
                    reach = sum(s * max(n - 1, 0) for s, n in zip(strides, kind.shape, strict=True))
                    most = max(most, offset + reach + 1)
    return most
