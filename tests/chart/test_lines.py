"""Lines: points where the data say, series that can be told apart without colour."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.chart import Axis, Chart, Line, lines
from quincunx.errors import DataError, ParameterError
from tests.chart.reading import check_readable, elements, number, texts


def places(chart: Chart) -> list[list[tuple[float, float]]]:
    drawn = [each.get("points", "") for each in elements(chart, "polyline", "line")]
    return [[(float(pair.split(",")[0]), float(pair.split(",")[1])) for pair in each.split()] for each in drawn]


def tick_places(chart: Chart, role: str, key: str) -> dict[float, float]:
    return {float((each.text or "").replace(",", "")): number(each, key) for each in elements(chart, "text", role)}


def test_points_stand_where_the_ticks_say() -> None:
    chart = lines([Line(label="a", points=[(0, 0), (5, 20), (10, 40)])], title="T", x="x", y="y")
    (drawn,) = places(chart)
    across, up = tick_places(chart, "x-tick", "x"), tick_places(chart, "y-tick", "y")
    assert drawn[0][0] == pytest.approx(across[0], abs=0.02)
    assert drawn[2][0] == pytest.approx(across[10], abs=0.02)
    # Labels stand five pixels below their tick's line, so that they look centred on it.
    assert drawn[1][1] == pytest.approx(up[20] - 5, abs=0.02)
    assert drawn[2][1] == pytest.approx(up[40] - 5, abs=0.02)


def test_logarithmic_axes_make_powers_straight() -> None:
    axis = {"x": Axis(title="x", scale="log"), "y": Axis(title="y", scale="log")}
    chart = lines([Line(label="a", points=[(x, x**2) for x in (1, 10, 100, 1000)])], title="T", **axis)
    (drawn,) = places(chart)
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(drawn)]
    assert all(step == pytest.approx(steps[0], abs=0.03) for step in steps)


def test_series_differ_in_dash_and_marker_not_only_in_colour() -> None:
    chart = lines([Line(label=f"s{i}", points=[(0, i), (1, i)]) for i in range(6)], title="T", x="x", y="y")
    drawn = elements(chart, "polyline", "line")
    assert len({each.get("stroke-dasharray") for each in drawn}) == 6
    assert len({each.get("stroke") for each in drawn}) == 6
    assert texts(chart, "legend") == [f"s{i}" for i in range(6)]
    shapes = {each.get("points", "").count(" ") for each in elements(chart, "polygon", "mark")}
    assert len(shapes) >= 3
    assert elements(chart, "circle", "mark")


def test_a_curve_that_was_computed_has_no_marks_and_is_told_apart_by_its_dash() -> None:
    series = [Line(label=f"s{i}", points=[(0, i), (1, i)], marks=i == 2) for i in range(3)]
    chart = lines(series, title="T", x="x", y="y")
    # Two points of the marked series, and its key in the legend.
    assert len(elements(chart, "circle", "mark")) + len(elements(chart, "polygon", "mark")) == 3
    assert len({each.get("stroke-dasharray") for each in elements(chart, "polyline", "line")}) == 3
    check_readable(chart)


def test_few_points_are_all_marked_and_many_are_not() -> None:
    few = lines([Line(label="a", points=[(i, i) for i in range(12)])], title="T", x="x", y="y")
    many = lines([Line(label="a", points=[(i, i) for i in range(500)])], title="T", x="x", y="y")
    # One mark more stands in the legend.
    assert len(elements(few, "circle", "mark")) == 13
    assert 5 <= len(elements(many, "circle", "mark")) <= 8
    assert len(places(many)[0]) == 500


def test_named_ticks_are_shown() -> None:
    axis = Axis(title="swap rate", scale="log", ticks={1 / 99: "1 %", 1.0: "50 %", 99.0: "99 %"})
    chart = lines([Line(label="a", points=[(0.01, 3), (100, 5)])], title="T", x=axis, y="ε")
    assert texts(chart, "x-tick") == ["1 %", "50 %", "99 %"]


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), min_size=1, max_size=20),
        min_size=1,
        max_size=6,
    )
)
def test_any_lines_can_be_read(data: list[list[tuple[float, float]]]) -> None:
    series = [Line(label=f"the series numbered {i} of several", points=points) for i, points in enumerate(data)]
    chart = lines(series, title="A title of some length " * 5, x="x", y="y", note="A note. " * 40)
    check_readable(chart)
    for drawn in places(chart):
        assert all(0 <= x <= chart.width and 0 <= y <= chart.height for x, y in drawn)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(1e-30, 1e30), st.floats(1e-30, 1e30)), min_size=1, max_size=9))
def test_any_logarithmic_lines_can_be_read(points: list[tuple[float, float]]) -> None:
    axis = {"x": Axis(title="x", scale="log"), "y": Axis(title="y", scale="log")}
    check_readable(lines([Line(label="a", points=points)], title="T", **axis))


@pytest.mark.parametrize("size", [1e-99, 1e-20, 1e20, 1e99])
def test_enormous_and_tiny_numbers_can_be_drawn(size: float) -> None:
    for scale in ("linear", "log"):
        axis = {"x": Axis(title="x", scale=scale), "y": Axis(title="y", scale=scale)}
        chart = lines([Line(label="a", points=[(size, 2 * size), (3 * size, 5 * size)])], title="T", **axis)
        check_readable(chart)
        assert any("×10" in text or text.startswith("10") for text in texts(chart, "y-tick"))


def test_titles_and_notes_are_shown() -> None:
    chart = lines(
        [Line(label="a", points=[(0, 1), (2, 3)])], title="A finding", x="years", y="people", note="A source."
    )
    assert (texts(chart, "title"), texts(chart, "x-title")) == (["A finding"], ["years"])
    assert (texts(chart, "y-title"), texts(chart, "note")) == (["people"], ["A source."])


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(DataError, match="no lines to draw"):
        lines([], title="T", x="x", y="y")
    with pytest.raises(DataError, match="no points to draw"):
        Line(label="a", points=[])


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "x"])
def test_points_that_are_no_numbers_are_refused(bad: object) -> None:
    with pytest.raises(DataError, match="finite"):
        Line(label="a", points=[(0, 1), (1, bad)])


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(DataError, match="pairs"):
        Line(label="a", points=[(1, 2, 3)])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="unknown scale"):
        Axis(title="x", scale="cubic")
    with pytest.raises(ParameterError, match="expected a text"):
        Axis(title="")
    with pytest.raises(DataError, match="logarithmic"):
        lines([Line(label="a", points=[(0, 1)])], title="T", x=Axis(title="x", scale="log"), y="y")
    with pytest.raises(DataError, match="told apart"):
        lines([Line(label=str(i), points=[(0, 1)]) for i in range(7)], title="T", x="x", y="y")
    with pytest.raises(DataError, match="finite"):
        lines([Line(label="a", points=[(0, 1)])], title="T", x=Axis(title="x", ticks={math.nan: "n"}), y="y")
