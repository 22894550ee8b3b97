"""What is left when parts of a list are left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quincunx.audit.shrink.parts import without_parts


@given(st.integers(0, 60))
def test_parts_are_shorter_and_reach_single_items(count: int) -> None:
    items = tuple(range(count))
    found = list(without_parts(items))
    assert all(len(rest) < count and set(rest) <= set(items) for rest in found)
    assert (() in found) == (count > 0)
    if 1 < count <= 24:
        assert all(tuple(each for each in items if each != gone) in found for gone in items)
