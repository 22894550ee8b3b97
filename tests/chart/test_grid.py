"""Tables of words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.chart import grid
from quincunx.errors import DataError
from tests.chart.reading import check_readable, elements, texts


def test_words_stand_under_their_headings() -> None:
    chart = grid([["one", "two"], ["three", "four"]], rows=["a", "b"], columns=["c", "d"], title="T")
    assert texts(chart, "cell") == ["c", "d", "a", "one", "two", "b", "three", "four"]
    place = {each.text: each.get("x") for each in elements(chart, "text", "cell")}
    assert place["c"] == place["one"] == place["three"]
    assert place["d"] == place["two"] == place["four"]
    check_readable(chart)


@settings(max_examples=40)
@given(st.lists(st.lists(st.text(max_size=80), min_size=3, max_size=3), min_size=1, max_size=5))
def test_any_words_can_be_read(cells: list[list[str]]) -> None:
    chart = grid(cells, rows=[f"row {i}" for i in range(len(cells))], columns=["c", "d", "e"], title="T", note="N.")
    check_readable(chart)


def test_long_cells_are_wrapped_and_keep_every_word() -> None:
    words = "the datasets that agree on the number of people in each state and on the number of housing units"
    chart = grid([[words]], rows=["a"], columns=["scope"], title="T")
    assert " ".join(texts(chart, "cell")[2:]) == words


def test_columns_grow_with_their_words() -> None:
    chart = grid([["a", "zero-concentrated " * 9, "b"]], rows=["r"], columns=["c", "d", "e"], title="T")
    assert not any("…" in text for text in texts(chart))
    check_readable(chart)
    even = grid([["unbreakable" * 9, "unbreakable" * 9]], rows=["r"], columns=["c", "d"], title="T")
    assert any("…" in text for text in texts(even))
    check_readable(even)


def test_doubtful_tables_are_refused() -> None:
    with pytest.raises(DataError, match="no rows"):
        grid([], rows=[], columns=["c"], title="T")
    with pytest.raises(DataError, match="no columns"):
        grid([[]], rows=["a"], columns=[], title="T")
    with pytest.raises(DataError, match="shape"):
        grid([["x"]], rows=["a"], columns=["c", "d"], title="T")
    with pytest.raises(DataError, match="too many"):
        grid([["unbreakable_word"] * 9], rows=["a"], columns=["c"] * 9, title="T")
