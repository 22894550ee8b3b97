"""Heat maps: the larger the darker, cells where rows and columns say."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.chart import heat
from quincunx.errors import DataError, ParameterError
from tests.chart.reading import check_readable, elements, number, texts


def lightness(colour: str | None) -> float:
    red, green, blue = (int((colour or "")[i : i + 2], 16) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def draw(values: list[list[float | None]], **more: object) -> object:
    rows, columns = [f"row {i}" for i in range(len(values))], [f"column {j}" for j in range(len(values[0]))]
    return heat(values, rows=rows, columns=columns, title="T", unit="people", **more)  # type: ignore[arg-type]


def test_the_larger_the_darker() -> None:
    chart = heat([[0, 10], [20, 30]], rows=["a", "b"], columns=["c", "d"], title="T", unit="people")
    shades = [lightness(each.get("fill")) for each in elements(chart, "rect", "cell")]
    assert shades == sorted(shades, reverse=True)
    assert len(set(shades)) == 4
    steps = [a - b for a, b in pairwise(shades)]
    assert max(steps) - min(steps) < 2


def test_cells_stand_in_rows_and_columns() -> None:
    chart = heat([[1, 2, 3], [4, 5, 6]], rows=["a", "b"], columns=["c", "d", "e"], title="T", unit="people")
    cells = elements(chart, "rect", "cell")
    tops, lefts = [number(each, "y") for each in cells], [number(each, "x") for each in cells]
    assert tops[0] == tops[1] == tops[2] < tops[3] == tops[4] == tops[5]
    assert lefts[:3] == sorted(lefts[:3]) == lefts[3:]
    assert texts(chart, "number") == ["1", "2", "3", "4", "5", "6"]
    assert texts(chart, "x-tick") == ["c", "d", "e"]
    assert texts(chart, "label") == ["a", "b"]


def test_numbers_are_readable_on_their_cells() -> None:
    chart = heat([[i / 20 for i in range(21)]], rows=["a"], columns=[str(i) for i in range(21)], title="T", unit="u")
    cells, inks = elements(chart, "rect", "cell"), elements(chart, "text", "number")
    for cell, ink in zip(cells, inks, strict=True):
        assert abs(lightness(cell.get("fill")) - lightness(ink.get("fill"))) > 85


def test_a_missing_value_is_a_dash_and_white() -> None:
    chart = heat([[1, None], [3, 4]], rows=["a", "b"], columns=["c", "d"], title="T", unit="people")
    assert texts(chart, "number") == ["1", "–", "3", "4"]
    assert elements(chart, "rect", "cell")[1].get("fill") == "#ffffff"


def test_numbers_that_do_not_fit_are_left_out() -> None:
    wide = [[123_456_789.0] * 20, [1.0] * 20]
    chart = heat(wide, rows=["a", "b"], columns=[str(i) for i in range(20)], title="T", unit="people")
    assert texts(chart, "number") == []


def test_equal_values_are_said_in_words() -> None:
    chart = heat([[2, 2]], rows=["a"], columns=["c", "d"], title="T", unit="people")
    assert "people: 2 everywhere" in texts(chart)
    assert "people: 0.250 everywhere" in texts(heat([[0.25]], rows=["a"], columns=["c"], title="T", unit="people"))


@settings(max_examples=40)
@given(
    st.integers(1, 12)
    .flatmap(
        lambda n: st.lists(
            st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=n, max_size=n), min_size=1, max_size=8
        )
    )
    .filter(lambda rows: any(value is not None for row in rows for value in row)),
    st.integers(0, 3),
)
def test_any_table_can_be_read(values: list[list[float | None]], decimals: int) -> None:
    check_readable(draw(values, decimals=decimals, x="kind", note="A note."))  # type: ignore[arg-type]


def test_the_key_says_which_darkness_is_which_number() -> None:
    chart = heat([[0, 500, 1000]], rows=["a"], columns=["c", "d", "e"], title="T", unit="people")
    ticks = {
        float((each.text or "").replace(",", "")): number(each, "x") for each in elements(chart, "text", "key-tick")
    }
    assert ticks.keys() >= {0, 1000}
    bar = [each for each in elements(chart, "rect") if each.get("height") == "12"]
    assert number(bar[0], "x") == pytest.approx(ticks[0], abs=0.02)
    assert [lightness(each.get("fill")) for each in bar] == sorted(
        (lightness(e.get("fill")) for e in bar), reverse=True
    )
    cells = elements(chart, "rect", "cell")
    assert (cells[0].get("fill"), cells[2].get("fill")) == (bar[0].get("fill"), bar[-1].get("fill"))
    assert texts(chart, "key-title") == ["people"]


@pytest.mark.parametrize(("rows", "columns", "what"), [([], ["c"], "rows"), (["a"], [], "columns")])
def test_nothing_to_draw_is_an_error(rows: list[str], columns: list[str], what: str) -> None:
    with pytest.raises(DataError, match=f"no {what} to draw"):
        heat([[] for _ in rows], rows=rows, columns=columns, title="T", unit="people")
    with pytest.raises(DataError, match="no values to draw"):
        heat([[None]], rows=["a"], columns=["c"], title="T", unit="people")


@pytest.mark.parametrize("bad", [math.nan, math.inf, "x"])
def test_values_that_are_no_numbers_are_refused(bad: float) -> None:
    with pytest.raises(DataError, match="finite"):
        heat([[bad]], rows=["a"], columns=["c"], title="T", unit="people")


def test_doubtful_tables_are_refused() -> None:
    with pytest.raises(DataError, match="shape"):
        heat([[1, 2], [3]], rows=["a", "b"], columns=["c", "d"], title="T", unit="people")
    with pytest.raises(DataError, match="at most 60"):
        heat([[1]] * 61, rows=[str(i) for i in range(61)], columns=["c"], title="T", unit="people")
    with pytest.raises(DataError, match="labels fit"):
        heat([[1] * 40], rows=["a"], columns=[str(i) for i in range(40)], title="T", unit="people")
    with pytest.raises(ParameterError, match="expected a text"):
        heat([[1]], rows=["a"], columns=["c"], title="T", unit="")
