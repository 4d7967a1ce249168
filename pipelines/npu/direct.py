"""A convolution without im2col: rows of the image stay whole on chip, and the array walks the kernel's taps over them.

A pixel is loaded once for all taps, where im2col loads it once for each; in return the array's products are only as
long as a row of the output.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from byoc.systolic.gemm import Conv2d
from byoc.systolic.layout import Layout
from byoc.systolic.machine import Machine
from byoc.systolic.program import Dram
from pipelines.npu.schedule import Schedule, Step
from workbench.core.errors import CompileError


@dataclass(frozen=True)
class Part:
    """Sizes of what is on chip at a time: rows of the output, input channels, output channels."""

    rows: int
    channels: int
    columns: int


@dataclass(frozen=True)
class ImageStep(Step):
    """Rows of one image's output from `row0` on, over the input channels from `c0` on."""

    image: int
    row0: int
    count: int
    c0: int
    c: int


def convolved(work: Conv2d, machine: Machine, name: str) -> str:
    """The function `name` of npu operations, without fences. Raises CompileError when not even one row fits."""
    part = _choose(work, machine)
    return _Images(work, machine, _layout(work, machine, part), list(_steps(work, part)), name).text()


def _layout(work: Conv2d, machine: Machine, part: Part) -> Layout:
    rows = (part.rows - 1) * work.stride[0] + work.kh
    sums = part.rows * work.out[1] * part.columns
    epilogue = work.epilogue
    return Layout(
        a=rows * work.w * part.channels,
        b=work.kh * work.kw * part.channels * part.columns,
        out=sums * epilogue.narrow,
        sums=sums,
        vector=part.columns,
        vectors=epilogue.bias + epilogue.per_column,
        slots=machine.buffers,
    )


def _choose(work: Conv2d, machine: Machine) -> Part:
    """One row and a piece of the array's size, then doubled, the smallest dimension first, while it fits."""

    def fits(part: Part) -> bool:
        return _layout(work, machine, part).fits(machine, work.dtype)

    best = Part(1, min(work.c, machine.rows), min(work.oc, machine.columns))
    if not fits(best):
        need = _layout(work, machine, best)
        raise CompileError(
            f"{work.name}: one row takes {need.scratchpad} elements of scratchpad and {need.accumulator} words of "
            f"accumulator memory; {machine.name} has {machine.scratchpad_elements(work.dtype)} and "
            f"{machine.accumulator_words}; leave out `direct`"
        )
    while True:
        larger = (
            replace(best, rows=min(2 * best.rows, work.out[0])),
            replace(best, channels=min(2 * best.channels, work.c)),
            replace(best, columns=min(2 * best.columns, work.oc)),
        )
        grown = [p for p in larger if p != best and fits(p)]
        if not grown:
            return best
        best = min(grown, key=lambda p: p.rows * p.channels * p.columns)


def _steps(work: Conv2d, part: Part) -> Iterator[ImageStep]:
    """Images, rows, output channels; input channels inmost."""
    (oh, ow), oc = work.out, work.oc
    for image in range(work.n):
        for row0 in range(0, oh, part.rows):
            count = min(part.rows, oh - row0)
            for n0 in range(0, oc, part.columns):
                n = min(part.columns, oc - n0)
                start = (image * oh + row0) * ow
                result = Dram("c", start * oc + n0, (count * ow, n), (oc, 1))
                for c0 in range(0, work.c, part.channels):
                    c = min(part.channels, work.c - c0)
                    keys = (image, row0, c0), (c0, n0), (image, row0, n0)
                    first, last = c0 == 0, c0 + c == work.c
                    yield ImageStep(*keys, count * ow, n0, n, first, last, result, image, row0, count, c0, c)


class _Images(Schedule[ImageStep]):
    """Loads rows of the image, and the kernel's taps one below the other."""

    work: Conv2d

    def fill_a(self, step: ImageStep, slot: int) -> None:
        height, line = self.height(step), self.work.w * self.work.c
        start = (step.image * self.work.h + step.row0 * self.work.stride[0]) * line + step.c0
        window = Dram("a", start, (height, self.work.w, step.c), (line, self.work.c, 1))
        self.writer.emit("dma_load", (self.dram(window), self.pixels(step, slot)))

    def fill_b(self, step: ImageStep, slot: int) -> None:
        taps, oc = self.work.kh * self.work.kw, self.work.oc
        window = Dram("b", step.c0 * oc + step.n0, (taps, step.c, step.n), (self.work.c * oc, oc, 1))
        block = self.layout.b_block(slot, taps * step.c, step.n)
        self.writer.emit("dma_load", (self.dram(window), self.scratchpad(block)))

    def product(self, step: ImageStep, a: int, b: int) -> None:
        work = self.work
        right = self.scratchpad(self.layout.b_block(b, work.kh * work.kw * step.c, step.n))
        attributes = (
            f"accumulate = {'false' if step.first else 'true'}, kernel = array<i64: {work.kh}, {work.kw}>, "
            f"strides = array<i64: {work.stride[0]}, {work.stride[1]}>"
        )
        self.writer.emit("conv2d", (self.image(step, a), right, self.sum_view(step)), attributes)

    def height(self, step: ImageStep) -> int:
        """Rows of the input that the step's rows of the output see."""
        return (step.count - 1) * self.work.stride[0] + self.work.kh

    def image(self, step: ImageStep, slot: int) -> str:
        """The step's part of the image, as [h, w, c]."""
        sizes = self.height(step), self.work.w, step.c
        return self.scratchpad_view(self.layout.a_block(slot, 1, 1).address, sizes, (self.work.w * step.c, step.c, 1))

    def pixels(self, step: ImageStep, slot: int) -> str:
        """The same place as a matrix of pixels by channels, which is what a DMA transfer fills."""
        return self.scratchpad(self.layout.a_block(slot, self.height(step) * self.work.w, step.c))
