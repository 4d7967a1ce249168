"""CUDA source to PTX by NVRTC, NVIDIA's compiler as a library. No GPU is needed."""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.core.errors import CompileError, ToolMissing
from workbench.core.tools import package_folder


def compile_to_ptx(source: str, chip: str) -> str:
    """PTX of CUDA source for a chip ("sm_90a"); raises CompileError with the compiler's first error."""
    folder = package_folder("nvidia.cu13")
    if folder is None or not (folder / "lib" / "libnvrtc.so.13").is_file():
        raise ToolMissing("NVRTC is not in the relax toolchain; run: workbench toolchain install relax")
    nvrtc = _library(folder / "lib")
    include = folder / "include"
    options = [
        f"--gpu-architecture={chip.replace('sm_', 'compute_')}",
        "--std=c++17",
        f"--include-path={include}",
        f"--include-path={include / 'cccl'}",
    ]
    return _compile(nvrtc, source, options)


def _library(folder: Path) -> Any:
    # NVRTC opens its built-in functions by name, from the loader's path alone, unless they are loaded already.
    for builtins in folder.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins))
    return ctypes.CDLL(str(folder / "libnvrtc.so.13"))


def _compile(nvrtc: Any, source: str, options: Sequence[str]) -> str:
    program = ctypes.c_void_p()
    _check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"model.cu", 0, None, None))
    try:
        arguments = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        if nvrtc.nvrtcCompileProgram(program, len(options), arguments):
            log = _text(nvrtc, program, "ProgramLog")
            errors = [line for line in log.splitlines() if "error" in line] or log.splitlines() or ["no message"]
            raise CompileError(f"NVRTC refuses the CUDA source: {errors[0]}")
        return _text(nvrtc, program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(nvrtc: Any, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode()


def _check(nvrtc: Any, code: int) -> None:
    if code:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise CompileError(f"NVRTC failed: {nvrtc.nvrtcGetErrorString(code).decode()}")
