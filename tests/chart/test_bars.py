"""Bars: lengths in proportion, intervals where the data say, nothing collides."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.chart import Bar, bars
from quincunx.errors import DataError, ParameterError
from tests.chart.reading import check_readable, elements, number, texts


def test_lengths_are_in_proportion_and_begin_at_zero() -> None:
    chart = bars([Bar(label="a", value=10), Bar(label="b", value=40), Bar(label="c", value=0)], title="T", x="people")
    drawn = elements(chart, "rect", "bar")
    lengths = [number(each, "width") for each in drawn]
    assert lengths[1] == pytest.approx(4 * lengths[0], abs=0.05)
    assert lengths[2] == 0
    (zero,) = elements(chart, "line", "zero")
    assert {number(each, "x") for each in drawn} == {number(zero, "x1")}


def test_negative_bars_end_at_zero() -> None:
    chart = bars([Bar(label="up", value=3), Bar(label="down", value=-3)], title="T", x="change")
    up, down = elements(chart, "rect", "bar")
    (zero,) = elements(chart, "line", "zero")
    assert number(up, "x") == pytest.approx(number(zero, "x1"), abs=0.02)
    assert number(down, "x") + number(down, "width") == pytest.approx(number(zero, "x1"), abs=0.02)
    assert "−3" in texts(chart, "value")


def test_an_interval_stands_where_the_data_say() -> None:
    chart = bars([Bar(label="a", value=50, low=40, high=70), Bar(label="b", value=100)], title="T", x="people")
    (interval,) = elements(chart, "path", "interval")
    path = interval.get("d", "")
    low, high = float(path.split()[0][1:]), float(path.split("H")[1].split("M")[0])
    first, second = elements(chart, "rect", "bar")
    zero, unit = number(first, "x"), number(second, "width") / 100
    assert low == pytest.approx(zero + 40 * unit, abs=0.02)
    assert high == pytest.approx(zero + 70 * unit, abs=0.02)


def test_series_stand_side_by_side_and_in_the_legend() -> None:
    data = [Bar(label=label, series=series, value=1) for label in ("a", "b") for series in ("before", "after")]
    chart = bars(data, title="T", x="people")
    tops = [number(each, "y") for each in elements(chart, "rect", "bar")]
    assert len(set(tops)) == 4
    assert tops == sorted(tops)
    assert len({each.get("fill") for each in elements(chart, "rect", "bar")}) == 2
    assert texts(chart, "legend") == ["before", "after"]
    assert texts(chart, "label") == ["a", "b"]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1200, 7], ["1,200", "7"]),
        ([19.36, 6.2425], ["19.4", "6.2"]),
        ([0.125, 0.5], ["0.125", "0.500"]),
        ([123.4, 5.5], ["123", "6"]),
    ],
)
def test_numbers_have_as_many_decimals_as_they_need(values: list[float], shown: list[str]) -> None:
    chart = bars([Bar(label=str(i), value=v) for i, v in enumerate(values)], title="T", x="x")
    assert texts(chart, "value") == shown


def test_a_text_may_replace_the_number() -> None:
    assert texts(bars([Bar(label="a", value=1.5, text="1.50 ± 0.2")], title="T", x="x"), "value") == ["1.50 ± 0.2"]


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=30).filter(str.strip), st.floats(-1e9, 1e9), st.floats(0, 1e6)),
        min_size=1,
        max_size=8,
        unique_by=lambda each: each[0],
    ),
    st.text(min_size=1, max_size=200).filter(str.strip),
)
def test_any_bars_can_be_read(rows: list[tuple[str, float, float]], title: str) -> None:
    data = [Bar(label=label, value=value, low=value - error, high=value + error) for label, value, error in rows]
    check_readable(bars(data, title=title, x="people", note="A note that is long enough to be broken. " * 4))


@pytest.mark.parametrize("kind", [int, float, Fraction, Decimal, np.int64, np.float64])
def test_every_kind_of_number_is_drawn_alike(kind: type) -> None:
    plain = bars([Bar(label="a", value=4, low=2, high=8)], title="T", x="people")
    other = bars([Bar(label="a", value=kind(4), low=kind(2), high=kind(8))], title="T", x="people")
    assert other.svg == plain.svg


def test_bars_keep_the_order_in_which_they_are_given() -> None:
    labels = ["z", "a", "m"]
    chart = bars([Bar(label=label, value=i) for i, label in enumerate(labels)], title="T", x="people")
    assert texts(chart, "label") == labels
    tops = [number(each, "y") for each in elements(chart, "text", "label")]
    assert tops == sorted(tops)


def test_reach_covers_the_interval() -> None:
    assert Bar(label="a", value=5).reach == (5.0, 5.0)
    assert Bar(label="a", value=5, low=-1, high=5).reach == (-1.0, 5.0)


def test_a_long_label_is_shortened() -> None:
    chart = bars([Bar(label="very long " * 20, value=1)], title="T", x="x")
    assert texts(chart, "label")[0].endswith("…")
    check_readable(chart)


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(DataError, match="no bars to draw"):
        bars([], title="T", x="x")


@pytest.mark.parametrize("bad", [math.nan, math.inf, "x", None])
def test_values_that_are_no_numbers_are_refused(bad: object) -> None:
    with pytest.raises(DataError, match="finite"):
        Bar(label="a", value=bad)  # type: ignore[arg-type]


def test_broken_intervals_are_refused() -> None:
    with pytest.raises(DataError, match="two ends"):
        Bar(label="a", value=1, low=0)
    with pytest.raises(DataError, match="low ≤ value ≤ high"):
        Bar(label="a", value=5, low=6, high=7)


def test_doubtful_bars_are_refused() -> None:
    with pytest.raises(DataError, match="same label"):
        bars([Bar(label="a", value=1), Bar(label="a", value=2)], title="T", x="x")
    with pytest.raises(DataError, match="at most 60"):
        bars([Bar(label=str(i), value=1) for i in range(61)], title="T", x="x")
    with pytest.raises(DataError, match="told apart"):
        bars([Bar(label="a", series=str(i), value=1) for i in range(7)], title="T", x="x")


@pytest.mark.parametrize(("title", "x"), [("", "x"), ("T", " "), (None, "x")])
def test_titles_are_required(title: str, x: str) -> None:
    with pytest.raises(ParameterError, match="expected a text"):
        bars([Bar(label="a", value=1)], title=title, x=x)
    with pytest.raises(ParameterError, match="Bar"):
        Bar(label="", value=1)
