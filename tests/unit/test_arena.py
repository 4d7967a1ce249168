"""The arena: buffers in use at the same time keep apart, and memory is shared when they are not."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.launch.arena import ALIGNMENT, Lifetime, place

LIFETIMES = st.lists(
    st.builds(
        lambda size, first, length: Lifetime(size, first, first + length),
        st.integers(0, 5000),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=40,
)


@given(LIFETIMES)
def test_live_buffers_never_overlap(buffers: list[Lifetime]) -> None:
    offsets, size = place(buffers)
    for i, (a, start) in enumerate(zip(buffers, offsets, strict=True)):
        assert start % ALIGNMENT == 0
        assert start >= 0 and start + a.size <= size
        for b, other in zip(buffers[:i], offsets[:i], strict=True):
            if a.meets(b):
                assert start + a.size <= other or other + b.size <= start


@given(LIFETIMES)
def test_arena_is_between_the_peak_and_the_sum(buffers: list[Lifetime]) -> None:
    _, size = place(buffers)
    padded = [-(-b.size // ALIGNMENT) * ALIGNMENT for b in buffers]
    steps = range(max((b.last for b in buffers), default=0) + 1)
    peak = max(sum(p for b, p in zip(buffers, padded, strict=True) if b.first <= s <= b.last) for s in steps)
    assert peak <= size <= sum(padded)


def test_buffers_that_never_meet_share() -> None:
    offsets, size = place([Lifetime(1000, 0, 1), Lifetime(900, 2, 3), Lifetime(10, 1, 2)])
    assert offsets[0] == offsets[1] == 0
    assert size == 1024 + 256


def test_no_buffers() -> None:
    assert place([]) == ([], 0)
