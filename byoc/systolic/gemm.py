"""The work that is lowered to programs: GEMM, conv2d and what is fused behind them; and how it is cut into tiles."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from byoc.systolic.program import Buffer, Dram, Role
from byoc.systolic.timing import ceil_div
from workbench.core.errors import UsageError


@dataclass(frozen=True)
class Epilogue:
    """What becomes of the sums x, in this order (see `byoc.systolic.program.Activate`).

    bias: x += bias[column], a buffer `bias` of the accumulator's dtype. relu: max(x, 0). scale: x *= scale, one
    float32; per_column: x *= scale[column], a float32 buffer `scale`. Integers that are scaled are rounded half to
    even, and zero_point is added. clip: bounds of the result. narrow: the result is of the element dtype (int8
    saturates) instead of 32 bits.
    """

    bias: bool = False
    relu: bool = False
    scale: float | None = None
    per_column: bool = False
    zero_point: int = 0
    clip: tuple[float, float] | None = None
    narrow: bool = False

    @property
    def plain(self) -> bool:
        """Whether the sums are the result."""
        return self == Epilogue()


class Tile(NamedTuple):
    """Rows m0.. of M, k0.. of K, n0.. of N, of one matrix of the batch."""

    batch: int
    m0: int
    m: int
    k0: int
    k: int
    n0: int
    n: int


class Piece(NamedTuple):
    """A DRAM window that fills rows x columns of a tile from (row, column) on."""

    window: Dram
    row: int
    column: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Gemm:
    """c[batch, m, n] = epilogue(a[batch, m, k] b[batch, k, n]); dtype: of a and b.

    DRAM buffers: `a`, `b` (with `b_transposed` stored as [batch, n, k]), `bias` [n], `scale` [n], and the output `c`.
    """

    m: int
    k: int
    n: int
    dtype: str = "int8"
    batch: int = 1
    b_transposed: bool = False
    epilogue: Epilogue = Epilogue()

    def __post_init__(self) -> None:
        if min(self.m, self.k, self.n, self.batch) < 1:
            raise UsageError(f"{self.name}: sizes of a GEMM are at least 1")

    @property
    def name(self) -> str:
        """Shape and dtype."""
        batch = f"{self.batch}x" if self.batch > 1 else ""
        return f"gemm {batch}{self.m}x{self.k}x{self.n} {self.dtype}"

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.batch * self.m * self.k * self.n

    @property
    def matrix(self) -> "Gemm":
        """The matrix product that is tiled: itself."""
        return self

    @property
    def a_shape(self) -> tuple[int, ...]:
        """Shape of buffer `a`."""
        return (self.batch, self.m, self.k)

    @property
    def b_shape(self) -> tuple[int, ...]:
        """Shape of buffer `b`."""
        return (self.batch, self.n, self.k) if self.b_transposed else (self.batch, self.k, self.n)

    @property
    def c_shape(self) -> tuple[int, ...]:
        """Shape of buffer `c`."""
        return (self.batch, self.m, self.n)

    def a_pieces(self, t: Tile) -> list[Piece]:
        """Where a tile of A lies in DRAM."""
        start = (t.batch * self.m + t.m0) * self.k + t.k0
        return [Piece(Dram("a", start, (t.m, t.k), (self.k, 1)), 0, 0, t.m, t.k)]

    def b_window(self, t: Tile) -> Dram:
        """Where a tile of B lies in DRAM."""
        base = t.batch * self.k * self.n
        if self.b_transposed:
            return Dram("b", base + t.n0 * self.k + t.k0, (t.k, t.n), (1, self.k))
        return Dram("b", base + t.k0 * self.n + t.n0, (t.k, t.n), (self.n, 1))

    def c_window(self, t: Tile) -> Dram:
        """Where a tile of C lies in DRAM."""
        return Dram("c", (t.batch * self.m + t.m0) * self.n + t.n0, (t.m, t.n), (self.n, 1))


@dataclass(frozen=True)
class Conv2d:
    """c[n, oh, ow, oc] = epilogue(conv2d(a[n, h, w, c], b[kh, kw, c, oc])); h, w: of the input already padded.

    DMA descriptors make im2col: the product is of M = n oh ow rows, K = kh kw c, N = oc. A 1x1 of stride 1 is direct.
    """

    n: int
    h: int
    w: int
    c: int
    oc: int
    kh: int
    kw: int
    stride: tuple[int, int] = (1, 1)
    dtype: str = "int8"
    epilogue: Epilogue = Epilogue()

    def __post_init__(self) -> None:
        sizes = (self.n, self.h, self.w, self.c, self.oc, self.kh, self.kw, *self.stride)
        if min(sizes) < 1 or self.kh > self.h or self.kw > self.w:
            raise UsageError(f"{self.name}: sizes are at least 1 and the kernel fits in the padded input")

    @property
    def name(self) -> str:
        """Shape and dtype."""
        return (
            f"conv2d {self.n}x{self.h}x{self.w}x{self.c} by {self.kh}x{self.kw}x{self.oc} "
            f"stride {self.stride[0]}x{self.stride[1]} {self.dtype}"
        )

    @property
    def out(self) -> tuple[int, int]:
        """Rows and columns of the output image."""
        return (self.h - self.kh) // self.stride[0] + 1, (self.w - self.kw) // self.stride[1] + 1

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.matrix.macs

    @property
    def matrix(self) -> Gemm:
        """The matrix product that is tiled."""
        oh, ow = self.out
        return Gemm(self.n * oh * ow, self.kh * self.kw * self.c, self.oc, self.dtype, epilogue=self.epilogue)

    @property
    def direct(self) -> bool:
        """Whether the input image is the matrix itself."""
        return (self.kh, self.kw, self.stride) == (1, 1, (1, 1))

    @property
    def a_shape(self) -> tuple[int, ...]:
        """Shape of buffer `a`."""
        return (self.n, self.h, self.w, self.c)

    @property
    def b_shape(self) -> tuple[int, ...]:
        """Shape of buffer `b`."""
        return (self.kh, self.kw, self.c, self.oc)

    @property
    def c_shape(self) -> tuple[int, ...]:
        """Shape of buffer `c`."""
        return (self.n, *self.out, self.oc)

    def a_pieces(self, t: Tile) -> list[Piece]:
        """im2col of a tile: one window for each run of whole output rows and of whole kernel rows."""
        if self.direct:
            return self.matrix.a_pieces(t)
        (oh, ow), run = self.out, self.kw * self.c
        pieces: list[Piece] = []
        for image, m0, m in _whole(t.m0, t.m, oh * ow):
            for row, column, rows, columns in _rows(m0, m, ow):
                for ki, kj, deep, wide in _rows(t.k0, t.k, run):
                    window = self._window(image, row, column, ki, kj, (rows, columns, deep, wide))
                    at = (image * oh + row) * ow + column - t.m0, ki * run + kj - t.k0
                    pieces.append(Piece(window, *at, rows * columns, deep * wide))
        return pieces

    def _window(self, image: int, row: int, column: int, ki: int, kj: int, sizes: tuple[int, ...]) -> Dram:
        """Output rows and columns from (row, column), kernel rows from ki, elements of a kernel row from kj."""
        line, (down, right) = self.w * self.c, self.stride
        start = (image * self.h + row * down + ki) * line + column * right * self.c + kj
        return Dram("a", start, sizes, (down * line, right * self.c, line, 1))

    def b_window(self, t: Tile) -> Dram:
        """Where a tile of the kernel lies in DRAM."""
        return self.matrix.b_window(t)

    def c_window(self, t: Tile) -> Dram:
        """Where a tile of the output lies in DRAM."""
        return self.matrix.c_window(t)


Work = Gemm | Conv2d


def _whole(start: int, count: int, inner: int) -> list[tuple[int, int, int]]:
    """Cut start .. start + count at multiples of `inner`: (multiple, offset within, length)."""
    out: list[tuple[int, int, int]] = []
    while count > 0:
        outer, offset = divmod(start, inner)
        length = min(inner - offset, count)
        out.append((outer, offset, length))
        start, count = start + length, count - length
    return out


def _rows(start: int, count: int, inner: int) -> list[tuple[int, int, int, int]]:
    """Cut a row-major range into at most three rectangles: (row, column, rows, columns)."""
    row, column = divmod(start, inner)
    head = min(count, inner - column) if column else 0
    out = [(row, column, 1, head)] if head else []
    row, (full, tail) = row + (column > 0), divmod(count - head, inner)
    out += [(row, 0, full, inner)] * (full > 0) + [(row + full, 0, 1, tail)] * (tail > 0)
    return out


@dataclass(frozen=True)
class Tiling:
    """Sizes of the tiles held on chip, and whether rows ("mn") or columns ("nm") of C are the outer loop; K inmost."""

    m: int
    k: int
    n: int
    order: str = "mn"

    def within(self, gemm: Gemm) -> "Tiling":
        """No larger than the product."""
        return replace(self, m=min(self.m, gemm.m), k=min(self.k, gemm.k), n=min(self.n, gemm.n))

    def counts(self, gemm: Gemm) -> tuple[int, int, int]:
        """Tiles along M, K, N."""
        return ceil_div(gemm.m, self.m), ceil_div(gemm.k, self.k), ceil_div(gemm.n, self.n)


def buffers_of(work: Work, sums_dtype: str) -> tuple[Buffer, ...]:
    """DRAM buffers of the program: a, b, then bias and scale when used, then c."""
    epilogue, n = work.epilogue, work.matrix.n
    vectors = [Buffer("bias", (n,), sums_dtype, Role.IN)] * epilogue.bias
    vectors += [Buffer("scale", (n,), "float32", Role.IN)] * epilogue.per_column
    return (
        Buffer("a", work.a_shape, work.dtype, Role.IN),
        Buffer("b", work.b_shape, work.dtype, Role.IN),
        *vectors,
        Buffer("c", work.c_shape, work.dtype if epilogue.narrow else sums_dtype, Role.OUT),
    )
