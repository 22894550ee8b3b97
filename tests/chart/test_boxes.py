"""Box plots: quartiles as defined, drawn where the data say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.chart import Box, boxes
from quincunx.errors import DataError, ParameterError
from tests.chart.reading import check_readable, elements, number, texts

samples = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


@given(samples, st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]))
def test_quantiles_are_those_of_numpy(values: list[float], level: float) -> None:
    expected = float(np.quantile(values, level))
    assert Box(label="a", values=values).quantile(level) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(samples)
def test_whiskers_and_outliers_hold_every_value(values: list[float]) -> None:
    box = Box(label="a", values=values)
    low, high = box.whiskers
    assert low <= box.quantile(0.25) <= box.quantile(0.75) <= high
    inside = [value for value in values if low <= value <= high]
    assert sorted([*inside, *box.outliers]) == sorted(values)
    reach = 1.5 * (box.quantile(0.75) - box.quantile(0.25))
    assert all(value < box.quantile(0.25) - reach or value > box.quantile(0.75) + reach for value in box.outliers)


def test_the_box_stands_where_the_data_say() -> None:
    # Quartiles 1, 2, 3 of 0..4; the whiskers reach 0 and 4; 20 is an outlier of the second box.
    chart = boxes(
        [Box(label="a", values=range(5)), Box(label="b", values=[*range(5), 20])], title="T", x="x", y="y", zero=True
    )
    first, second = elements(chart, "rect", "box")
    ticks = {float(each.text or "nan"): number(each, "y") - 5 for each in elements(chart, "text", "y-tick")}
    unit = (ticks[0.0] - ticks[20.0]) / 20
    assert number(first, "y") == pytest.approx(ticks[0.0] - 3 * unit, abs=0.02)
    assert number(first, "height") == pytest.approx(2 * unit, abs=0.02)
    medians = elements(chart, "line", "median")
    assert number(medians[0], "y1") == pytest.approx(ticks[0.0] - 2 * unit, abs=0.02)
    (outlier,) = elements(chart, "circle", "outlier")
    assert number(outlier, "cy") == pytest.approx(ticks[20.0], abs=0.02)
    assert number(outlier, "cx") == pytest.approx(number(second, "x") + number(second, "width") / 2, abs=0.02)
    assert texts(chart, "x-tick") == ["a", "b"]


def test_zero_is_on_the_axis_when_asked() -> None:
    data = [Box(label="a", values=[50, 51, 52])]
    assert "0" in texts(boxes(data, title="T", x="x", y="y", zero=True), "y-tick")
    assert "0" not in texts(boxes(data, title="T", x="x", y="y"), "y-tick")


@given(st.lists(st.tuples(st.text(min_size=1, max_size=25).filter(str.strip), samples), min_size=1, max_size=20,
                unique_by=lambda each: each[0]))  # fmt: skip
def test_any_boxes_can_be_read(data: list[tuple[str, list[float]]]) -> None:
    check_readable(boxes([Box(label=label, values=v) for label, v in data], title="T", x="kind", y="error", note="N. "))


def test_long_labels_are_slanted_and_short_ones_are_not() -> None:
    slanted = boxes([Box(label=f"unbreakable_{i:06}", values=[i]) for i in range(15)], title="T", x="x", y="y")
    level = boxes([Box(label=f"{i}", values=[i]) for i in range(15)], title="T", x="x", y="y")
    assert all(each.get("transform") for each in elements(slanted, "text", "x-tick"))
    assert not any(each.get("transform") for each in elements(level, "text", "x-tick"))


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(DataError, match="no boxes to draw"):
        boxes([], title="T", x="x", y="y")
    with pytest.raises(DataError, match="no values to draw"):
        Box(label="a", values=[])


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "x"])
def test_values_that_are_no_numbers_are_refused(bad: object) -> None:
    with pytest.raises(DataError, match="finite"):
        Box(label="a", values=[1, bad])


def test_doubtful_boxes_are_refused() -> None:
    with pytest.raises(DataError, match="same label"):
        boxes([Box(label="a", values=[1]), Box(label="a", values=[2])], title="T", x="x", y="y")
    with pytest.raises(DataError, match="labels fit"):
        boxes([Box(label=str(i), values=[1]) for i in range(60)], title="T", x="x", y="y")
    with pytest.raises(ParameterError, match="expected a text"):
        boxes([Box(label="a", values=[1])], title="T", x="", y="y")
    with pytest.raises(ParameterError, match="expected a text"):
        boxes([Box(label="a", values=[1])], title="T", x="x", y="")
