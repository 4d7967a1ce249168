"""The levels of IR a model passes through."""

from enum import StrEnum


class IRKind(StrEnum):
    """One level of IR. The value is the level's name in traces and on the command line."""

    SOURCE = "source"
    ONNX = "onnx"
    FX = "fx"
    TORCH = "torch"
    LINALG = "linalg"
    TILED = "tiled"
    BUFFERS = "buffers"
    LOOPS = "loops"
    LLVM = "llvm"
    LLVM_IR = "llvm-ir"
    ASM = "asm"
    GPU = "gpu"
    NVVM = "nvvm"
    PTX = "ptx"
    SASS = "sass"
    RELAY = "relay"
    RELAX = "relax"
    RELAX_VM = "relax-vm"
    TIR = "tir"
    CUDA = "cuda"
    PLAN = "launch-plan"
    NPU = "npu"
    PROGRAM = "program"
    RESULT = "result"

    @property
    def extension(self) -> str:
        """File name extension of a stage of this kind, without the dot."""
        return _EXTENSION.get(self, "mlir")

    @property
    def is_device(self) -> bool:
        """Whether it is code for a GPU, or how to launch it."""
        return self in _DEVICE

    @property
    def is_mlir(self) -> bool:
        """Whether the text is MLIR assembly."""
        return self.extension == "mlir"


_DEVICE = frozenset({IRKind.GPU, IRKind.CUDA, IRKind.NVVM, IRKind.PTX, IRKind.SASS, IRKind.PLAN})

_EXTENSION = {
    IRKind.SOURCE: "json",
    IRKind.ONNX: "onnx.txt",
    IRKind.FX: "py.txt",
    IRKind.LLVM_IR: "ll",
    IRKind.ASM: "s",
    IRKind.PTX: "ptx",
    IRKind.SASS: "sass",
    IRKind.RELAY: "relay",
    IRKind.RELAX: "relax",
    IRKind.RELAX_VM: "relax",
    IRKind.TIR: "tir",
    IRKind.CUDA: "cu",
    IRKind.PLAN: "json",
    IRKind.PROGRAM: "systolic",
    IRKind.RESULT: "txt",
}
