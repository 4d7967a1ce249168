"""Names that Relay's text can hold."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.tvm.names import identifiers


def test_names_that_clash_after_cleaning_stay_apart() -> None:
    assert identifiers(["a.b", "a:b", "a_b", "1x", "µ"]) == ["a_b", "a_b_1", "a_b_2", "v1x", "_"]


@given(st.lists(st.text(max_size=6), max_size=8))
def test_every_list_gives_as_many_different_identifiers(names: list[str]) -> None:
    made = identifiers(names)
    assert len(set(made)) == len(names)
    assert all(name.isidentifier() and name.isascii() for name in made)


@given(st.lists(st.text(max_size=4), max_size=6), st.lists(st.text(max_size=4), max_size=3))
def test_later_names_do_not_change_earlier_ones(first: list[str], more: list[str]) -> None:
    assert identifiers([*first, *more])[: len(first)] == identifiers(first)
