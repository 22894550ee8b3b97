"""Mosaics: cells where rows and columns say, shades in order, panels side by side."""

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.chart import Chart, Panel, mosaic
from quincunx.chart.mosaic import MOST_CELLS, MOST_PANELS
from quincunx.errors import DataError, ParameterError
from tests.chart.reading import check_readable, elements, number, texts

RUN = re.compile(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z")


def lightness(colour: str | None) -> float:
    red, green, blue = (int((colour or "")[i : i + 2], 16) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def drawn(chart: Chart, rows: int, columns: int) -> list[list[str]]:
    """The colour of every cell of a picture with one panel, read back from its paths."""
    found = [["paper"] * columns for _ in range(rows)]
    for path in elements(chart, "path", "cells"):
        for x, y, length, back in RUN.findall(path.get("d", "")):
            assert length == back
            for column in range(int(x), int(x) + int(length)):
                assert found[int(y)][column] == "paper"
                found[int(y)][column] = path.get("fill", "")
    return found


@settings(max_examples=60)
@given(
    st.integers(1, 9).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=9)
    )
)
def test_every_cell_is_where_it_should_be(cells: list[list[int]]) -> None:
    chart = mosaic([Panel(label="a", cells=cells)], title="T")
    read = drawn(chart, len(cells), len(cells[0]))
    assert [[int(colour != "paper") for colour in row] for row in read] == cells
    check_readable(chart)


def test_the_larger_the_darker() -> None:
    chart = mosaic([Panel(label="a", cells=[[i / 15 for i in range(16)]])], title="T")
    (row,) = drawn(chart, 1, 16)
    shades = [255.0 if colour == "paper" else lightness(colour) for colour in row]
    assert shades == sorted(shades, reverse=True)
    assert len(set(shades)) == 16
    steps = [a - b for a, b in pairwise(shades)]
    assert max(steps) - min(steps) < 2


def test_panels_stand_side_by_side_with_square_cells() -> None:
    panels = [Panel(label=f"panel {i}", cells=[[0, 1], [1, 0], [1, 1]]) for i in range(5)]
    chart = mosaic(panels, title="T", across=2)
    frames = elements(chart, "rect", "panel")
    assert len(frames) == 5
    lefts, tops = [number(each, "x") for each in frames], [number(each, "y") for each in frames]
    assert lefts[0] == lefts[2] == lefts[4] < lefts[1] == lefts[3]
    assert tops[0] == tops[1] < tops[2] == tops[3] < tops[4]
    for each in frames:
        assert number(each, "width") / 2 == pytest.approx(number(each, "height") / 3, abs=0.01)
        assert number(each, "x") + number(each, "width") <= chart.width
        assert number(each, "y") + number(each, "height") <= chart.height
    assert texts(chart, "label") == [f"panel {i}" for i in range(5)]
    check_readable(chart)


def test_long_labels_are_broken_and_notes_stand_below() -> None:
    panels = [Panel(label="as the neighbours of every cell say, taken together, at ε = 1", cells=[[1]])] * 4
    chart = mosaic(panels, title="A title that is long enough to need a second line of its own", across=4, note="Note.")
    check_readable(chart)
    assert texts(chart, "note") == ["Note."]
    assert len(texts(chart, "label")) > 4


def test_one_panel_is_not_larger_than_the_paper() -> None:
    tall = mosaic([Panel(label="a", cells=[[1]] * 60)], title="T")
    assert tall.height < 700
    wide = mosaic([Panel(label="a", cells=[[1] * 200])], title="T")
    (panel,) = elements(wide, "rect", "panel")
    assert number(panel, "x") + number(panel, "width") <= 800 - 18 + 0.01


def test_an_empty_picture_is_paper() -> None:
    chart = mosaic([Panel(label="nothing", cells=[[0, 0], [0, 0]])], title="T")
    assert elements(chart, "path") == []
    assert len(elements(chart, "rect", "panel")) == 1


def test_it_says_what_it_shows_and_stays_small() -> None:
    cells = [[(i * j) % 2 for i in range(100)] for j in range(100)]
    chart = mosaic([Panel(label="many", cells=cells)], title="T")
    assert "many: 100 rows of 100 cells" in chart.svg
    assert len(chart.svg) < 60_000
    assert chart.svg == mosaic([Panel(label="many", cells=cells)], title="T").svg


@pytest.mark.parametrize("bad", [math.nan, math.inf, "x", None, -0.1, 1.5])
def test_cells_that_are_no_shares_are_refused(bad: object) -> None:
    with pytest.raises(DataError, match=r"finite|from 0 to 1"):
        Panel(label="a", cells=[[bad]])


def test_doubtful_panels_are_refused() -> None:
    with pytest.raises(DataError, match="different lengths"):
        Panel(label="a", cells=[[0, 1], [1]])
    with pytest.raises(DataError, match="no rows to draw"):
        Panel(label="a", cells=[])
    with pytest.raises(DataError, match="no cells to draw"):
        Panel(label="a", cells=[[]])
    with pytest.raises(DataError, match=f"at most {MOST_CELLS:,}"):
        Panel(label="a", cells=[[0] * 201] * 100)
    with pytest.raises(ParameterError, match="expected a text"):
        Panel(label=" ", cells=[[0]])


def test_doubtful_mosaics_are_refused() -> None:
    panel = Panel(label="a", cells=[[1]])
    with pytest.raises(DataError, match="no panels to draw"):
        mosaic([], title="T")
    with pytest.raises(DataError, match=f"at most {MOST_PANELS}"):
        mosaic([panel] * (MOST_PANELS + 1), title="T")
    with pytest.raises(ParameterError, match="expected a text"):
        mosaic([panel], title="")
    for across in (0, 5, 1.5, True, "2"):
        with pytest.raises(ParameterError, match="across"):
            mosaic([panel], title="T", across=across)  # type: ignore[arg-type]
