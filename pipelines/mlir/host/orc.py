"""Loads an object file into this process with LLVM's ORC, through LLVM's C interface.

What runs is exactly the object assembled from the trace's assembly: nothing is optimised again.
"""

import ctypes
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from workbench.core.errors import CompileError, ToolMissing
from workbench.core.tools import package_folder

_LIBRARIES = ("libmlir_c_runner_utils.so", "libmlir_float16_utils.so")


class _Symbol(ctypes.Structure):
    """LLVMOrcCSymbolMapPair: an interned name, an address, and flags (two bytes; 1 is exported)."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("address", ctypes.c_uint64),
        ("generic_flags", ctypes.c_uint8),
        ("target_flags", ctypes.c_uint8),
    )


class LoadedObject:
    """An object file linked into the process; lives as long as this value.

    `symbols` are functions that it calls and that this process has at an address, by name.
    """

    def __init__(
        self, data: bytes, libraries: tuple[Path, ...] = (), symbols: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self._llvm = llvm = _llvm()
        for library in (*_runtime(), *libraries):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        self._jit = ctypes.c_void_p()
        _check(llvm, llvm.LLVMOrcCreateLLJIT(ctypes.byref(self._jit), None))
        dylib = ctypes.c_void_p(llvm.LLVMOrcLLJITGetMainJITDylib(self._jit))
        generator = ctypes.c_void_p()
        prefix = ctypes.c_char(llvm.LLVMOrcLLJITGetGlobalPrefix(self._jit))
        _check(
            llvm,
            llvm.LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(ctypes.byref(generator), prefix, None, None),
        )
        llvm.LLVMOrcJITDylibAddGenerator(dylib, generator)
        if symbols:
            intern = llvm.LLVMOrcLLJITMangleAndIntern
            pairs = [_Symbol(intern(self._jit, name.encode()), address, 1, 0) for name, address in symbols.items()]
            unit = ctypes.c_void_p(llvm.LLVMOrcAbsoluteSymbols((_Symbol * len(pairs))(*pairs), len(pairs)))
            _check(llvm, llvm.LLVMOrcJITDylibDefine(dylib, unit))
        buffer = llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"object")
        _check(llvm, llvm.LLVMOrcLLJITAddObjectFile(self._jit, dylib, ctypes.c_void_p(buffer)))

    def address(self, symbol: str) -> int:
        """Address of a function; raises CompileError naming symbols that are defined nowhere."""
        out = ctypes.c_uint64()
        _check(self._llvm, self._llvm.LLVMOrcLLJITLookup(self._jit, ctypes.byref(out), symbol.encode()))
        return out.value


def _llvm() -> ctypes.CDLL:
    folder = package_folder("llvm")
    if folder is None:
        raise ToolMissing("libLLVM is not on this machine; run: pip install -e '.[mlir]' (in the checkout)")
    llvm = ctypes.CDLL(str(folder / "lib" / "libLLVM.so"))
    pointer = ctypes.c_void_p
    for name, arguments, result in (
        ("LLVMOrcCreateLLJIT", [pointer, pointer], pointer),
        ("LLVMOrcLLJITGetMainJITDylib", [pointer], pointer),
        ("LLVMOrcLLJITGetGlobalPrefix", [pointer], ctypes.c_char),
        ("LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess", [pointer, ctypes.c_char, pointer, pointer], pointer),
        ("LLVMOrcJITDylibAddGenerator", [pointer, pointer], None),
        ("LLVMOrcLLJITMangleAndIntern", [pointer, ctypes.c_char_p], pointer),
        ("LLVMOrcAbsoluteSymbols", [pointer, ctypes.c_size_t], pointer),
        ("LLVMOrcJITDylibDefine", [pointer, pointer], pointer),
        ("LLVMCreateMemoryBufferWithMemoryRangeCopy", [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p], pointer),
        ("LLVMOrcLLJITAddObjectFile", [pointer, pointer, pointer], pointer),
        ("LLVMOrcLLJITLookup", [pointer, pointer, ctypes.c_char_p], pointer),
        ("LLVMGetErrorMessage", [pointer], pointer),
    ):
        function = getattr(llvm, name)
        function.argtypes, function.restype = arguments, result
    for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter"):
        for arch in ("X86", "AArch64"):
            initialise = getattr(llvm, f"LLVMInitialize{arch}{part}", None)
            if initialise is not None:
                initialise()
    return llvm


def _runtime() -> list[Path]:
    folder = package_folder("mlir")
    found = [folder / "lib" / name for name in _LIBRARIES] if folder else []
    return [path for path in found if path.exists()]


def _check(llvm: ctypes.CDLL, error: int | None) -> None:
    if error:
        message = ctypes.string_at(llvm.LLVMGetErrorMessage(error)).decode(errors="replace")
        raise CompileError(f"the object does not load: {message}")
