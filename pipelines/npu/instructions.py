"""`npu` operations to the array's instructions: one each; a conv2d is one product for each of its rows and taps."""

from typing import Any

from byoc.systolic.machine import Dataflow, Machine
from byoc.systolic.program import (
    Activate,
    Block,
    Buffer,
    Config,
    DmaLoad,
    DmaStore,
    Dram,
    Fence,
    Instruction,
    Matmul,
    Memory,
    Preload,
    Program,
    Role,
)
from dialects.bindings import Operation
from dialects.npu.areas import DTYPES, Area, Areas, area_of
from pipelines.mlir.tiled.edit import ir
from workbench.core.errors import CompileError

_MEMORY = {"scratchpad": Memory.SCRATCHPAD, "accumulator": Memory.ACCUMULATOR}


class Translator:
    """Translates the operations of one npu function."""

    def __init__(self, function: Operation, machine: Machine) -> None:
        self.function, self.machine = function, machine
        self.block = function.regions[0].blocks[0]
        self.areas = Areas()
        self.names: dict[Any, str] = dict(zip(self.block.arguments, self._buffer_names(), strict=True))

    def _buffer_names(self) -> list[str]:
        if "npu.buffers" not in self.function.attributes:
            raise CompileError(f"@{self.name} has no npu.buffers attribute: it names the function's arguments")
        names = [n.value for n in self.function.attributes["npu.buffers"]]
        if len(names) != len(list(self.block.arguments)):
            raise CompileError(
                f"@{self.name} has {len(list(self.block.arguments))} arguments and {len(names)} npu.buffers"
            )
        return names

    @property
    def name(self) -> str:
        """The function's."""
        return ir.StringAttr(self.function.attributes["sym_name"]).value

    def header(self) -> Program:
        """The program without its instructions."""
        first_result = len(self.names) - self.function.attributes["npu.results"].value
        buffers = [
            Buffer(
                name, tuple(a.type.shape), DTYPES[str(a.type.element_type)], Role.IN if i < first_result else Role.OUT
            )
            for i, (a, name) in enumerate(self.names.items())
        ]
        return Program(self.name, self._dtype(), tuple(buffers), ())

    def _dtype(self) -> str:
        """Element dtype of the scratchpad; raises CompileError when the function uses none, or two."""
        memories = [area_of(op.results[0], op) for op in self.block.operations if op.operation.name == "npu.memory"]
        dtypes = sorted({m.dtype for m in memories if m.space == "scratchpad"})
        if len(dtypes) != 1:
            raise CompileError(
                f"@{self.name} uses the scratchpad as {' and '.join(dtypes) or 'nothing'}; it holds one type"
            )
        return dtypes[0]

    def instructions(self, op: Operation) -> list[Instruction]:
        """What an operation becomes; nothing for views."""
        op = op.operation
        areas = self.areas.of(op) if op.name.startswith("npu.") else []
        tag = op.attributes["tag"].value if "tag" in op.attributes else 0
        match op.name:
            case "npu.config":
                return [Config(Dataflow(op.attributes["dataflow"].value))]
            case "npu.fence":
                return [Fence(tuple(ir.DenseI64ArrayAttr(op.attributes["tags"])))]
            case "npu.dma_load":
                return [DmaLoad(self._dram(areas[0]), _MEMORY[areas[1].space], _block(areas[1]), tag)]
            case "npu.dma_store":
                return [DmaStore(_MEMORY[areas[0].space], _block(areas[0]), self._dram(areas[1]), tag)]
            case "npu.preload":
                return [Preload(_block(areas[0]))]
            case "npu.matmul":
                a, b, sums = (_block(area) for area in areas)
                return [Matmul(a, b, sums, op.attributes["accumulate"].value, tag)]
            case "npu.conv2d":
                return self._convolution(op, areas, tag)
            case "npu.activate" | "npu.requantize":
                return [_activate(op, areas, tag)]
            case _:
                return []

    def _dram(self, area: Area) -> Dram:
        return Dram(self.names[area.base], area.offset, area.sizes, area.strides)

    def _convolution(self, op: Operation, areas: list[Area], tag: int) -> list[Instruction]:
        """One product for each tap and row of the output: its pixels lie a stride apart, its channels side by side."""
        image, weights, sums = areas
        (kh, kw), (down, right) = (list(ir.DenseI64ArrayAttr(op.attributes[a])) for a in ("kernel", "strides"))
        (h, w, c), (row, column, _) = image.sizes, image.strides
        oh, ow = (h - kh) // down + 1, (w - kw) // right + 1
        whole, columns, out = _block(weights), weights.sizes[1], _block(sums)
        code: list[Instruction] = []
        for tap in range(kh * kw):
            i, j = divmod(tap, kw)
            b = Block(whole.address + tap * c * whole.stride, c, columns, whole.stride)
            for y in range(oh):
                a = Block(image.offset + (y * down + i) * row + j * column, ow, c, right * column)
                if self.machine.dataflow is not Dataflow.OS:
                    code.append(Preload(b if self.machine.dataflow is Dataflow.WS else a))
                target = Block(out.address + y * ow * out.stride, ow, columns, out.stride)
                code.append(Matmul(a, b, target, op.attributes["accumulate"].value or tap > 0, tag))
        return code


def _block(area: Area) -> Block:
    rows, columns = area.sizes if len(area.sizes) == 2 else (1, area.count)
    return Block(area.offset, rows, columns, area.strides[0] if len(area.sizes) == 2 else area.count)


def _activate(op: Operation, areas: list[Area], tag: int) -> Activate:
    sums, target, *vectors = areas
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    biased, scaled = segments[2], op.name == "npu.requantize" and segments[3]
    clip = list(ir.DenseF64ArrayAttr(op.attributes["clip"])) if "clip" in op.attributes else []
    return Activate(
        _block(sums),
        _MEMORY[target.space],
        _block(target),
        bias=vectors[0].offset if biased else None,
        relu=op.attributes["relu"].value,
        scale=op.attributes["scale"].value if "scale" in op.attributes else None,
        scales=vectors[-1].offset if scaled else None,
        zero_point=op.attributes["zero_point"].value if "zero_point" in op.attributes else 0,
        clip=(clip[0], clip[1]) if clip else None,
        tag=tag,
    )
