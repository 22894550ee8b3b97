"""Scales: every value is covered, ticks are round numbers, labels keep their distance."""

import math
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from quincunx.chart.scale import (
    GAP,
    SMALLEST,
    Bands,
    Scale,
    across,
    checked,
    down,
    label_of,
    linear,
    logarithmic,
    marked,
    no_overlap,
    on_paper,
)
from quincunx.errors import DataError

finite = st.floats(min_value=-1e12, max_value=1e12, allow_subnormal=False)
positive = st.floats(min_value=1e-12, max_value=1e12)


def check(scale: Scale, values: list[float]) -> None:
    # Below the smallest drawn value everything is zero.
    assert scale.low <= min(values) + SMALLEST
    assert max(values) <= scale.high + SMALLEST
    assert scale.ticks
    places = [scale.at(tick.value) for tick in scale.ticks]
    first, last = sorted((scale.start, scale.end))
    assert all(first - 1e-6 <= place <= last + 1e-6 for place in places)
    assert len({tick.label for tick in scale.ticks}) == len(scale.ticks)


@given(st.lists(finite, min_size=1, max_size=6), st.booleans())
def test_a_linear_scale_covers_its_values_without_collisions(values: list[float], zero: bool) -> None:
    scale = linear(values, 100, 700, across, zero=zero)
    check(scale, [*values, 0.0] if zero else values)
    assert no_overlap([(scale.at(t.value), across(t.label)) for t in scale.ticks], GAP)
    upright = linear(values, 400, 60, down, zero=zero)
    check(upright, values)
    assert upright.at(upright.low) == 400
    assert upright.at(upright.high) == 60


@given(st.lists(positive, min_size=1, max_size=6))
def test_a_logarithmic_scale_covers_its_values_without_collisions(values: list[float]) -> None:
    scale = logarithmic(values, 100, 700, across)
    check(scale, values)
    assert no_overlap([(scale.at(t.value), across(t.label)) for t in scale.ticks], GAP)


@given(st.lists(positive, min_size=2, max_size=6, unique=True))
def test_logarithmic_positions_grow_with_the_ratio(values: list[float]) -> None:
    scale = logarithmic(values, 0, 500, across)
    a, b = sorted(values)[:2]
    assume(b / a > 1 + 1e-6)
    expected = 500 * math.log(b / a) / math.log(scale.high / scale.low)
    assert scale.at(b) - scale.at(a) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "zero", "labels"),
    [
        ([0, 10], False, ["0", "2", "4", "6", "8", "10"]),
        ([0, 1], False, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([0.97, 1.03], False, ["0.97", "0.98", "0.99", "1.00", "1.01", "1.02", "1.03"]),
        ([0, 25_000_000], False, ["0", "5,000,000", "10,000,000", "15,000,000", "20,000,000", "25,000,000"]),
        ([-11, 504], True, ["0", "100", "200", "300", "400", "500"]),
        ([7], False, ["3", "4", "5", "6", "7", "8", "9", "10", "11"]),
        ([0], False, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([17.08, 12.48], True, ["0", "5", "10", "15"]),
    ],
)
def test_linear_ticks_are_round(values: list[float], zero: bool, labels: list[str]) -> None:
    shown = [tick.label for tick in linear(values, 50, 750, across, zero=zero).ticks]
    assert [label if label != "0" or "." not in labels[0] else "0.0" for label in shown] == labels


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([1, 1000], ["1", "2", "5", "10", "20", "50", "100", "200", "500", "1,000"]),
        ([1.1, 1.2], ["1", "2"]),
        ([10], ["10", "20"]),
        ([0.01, 0.5], ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]),
        ([1e-12, 1e3], ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "0.0001", "0.01", "1", "100"]),
    ],
)
def test_logarithmic_ticks_are_one_two_five_or_powers(values: list[float], labels: list[str]) -> None:
    assert [tick.label for tick in logarithmic(values, 50, 750, across).ticks] == labels


@given(st.lists(finite, min_size=1, max_size=6), st.floats(0, 300))
def test_labels_stand_on_the_paper(values: list[float], start: float) -> None:
    scale = on_paper(lambda a, b: linear(values, a, b, across), start, 795, (4, 796))
    for tick in scale.ticks:
        place, half = scale.at(tick.value), across(tick.label) / 2
        assert place - half >= 4 - 0.01
        assert place + half <= 796 + 0.01


def test_a_short_axis_keeps_an_end() -> None:
    scale = linear([0, 1e8], 0, 60, across)
    assert len(scale.ticks) == 1
    assert logarithmic([1e-9, 1e9], 0, 30, across).ticks


@pytest.mark.parametrize(
    ("value", "decimals", "label"),
    [
        (0, 2, "0"), (1234567, 0, "1,234,567"), (-0.25, 2, "−0.25"), (3e9, 0, "3×10⁹"), (1e9, 0, "10⁹"),
        (-2.5e-7, 8, "−2.5×10⁻⁷"), (0.0001, 4, "0.0001"), (1e-5, 5, "10⁻⁵"), (999_999_999, 0, "999,999,999"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_people_write_them(value: float, decimals: int, label: str) -> None:
    assert label_of(value, decimals) == label


def test_named_ticks_stand_where_they_are_named() -> None:
    scale = marked([0.01, 90], 0, 400, {0.1: "a", 10.0: "b"}, across, log=True)
    assert [(tick.value, tick.label) for tick in scale.ticks] == [(0.1, "a"), (10.0, "b")]
    assert scale.low == 0.01
    assert scale.high == 90
    with pytest.raises(DataError, match="collide"):
        marked([0, 1], 0, 400, {0.5: "a long label", 0.51: "another one"}, across, log=False)


@given(st.lists(finite, min_size=2, max_size=6))
def test_no_axis_is_mostly_empty(values: list[float]) -> None:
    scale = linear(values, 0, 600, across)
    low, high = min(values), max(values)
    assume(high - low > 1e-6 * max(1.0, abs(low), abs(high)))
    assert (high - low) / (scale.high - scale.low) >= 0.5


@given(st.lists(finite, min_size=1, max_size=6))
def test_linear_ticks_are_evenly_spaced(values: list[float]) -> None:
    ticks = [tick.value for tick in linear(values, 0, 600, across).ticks]
    steps = [b - a for a, b in pairwise(ticks)]
    assert all(step == pytest.approx(steps[0], rel=1e-6) for step in steps)


@given(positive)
def test_labels_say_what_they_stand_for(value: float) -> None:
    text = label_of(value, 6)
    mantissa, _, power = text.replace(",", "").partition("×10")
    if text[:2] == "10" and text[2:3] in set("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"):
        mantissa, power = "1", text[2:]
    exponent = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))) if power else 0
    assert float(mantissa) * 10.0**exponent == pytest.approx(value, rel=0.01, abs=1e-6)


def test_bands_share_the_room() -> None:
    bands = Bands(count=4, start=100, end=500)
    assert bands.breadth == 100
    assert [bands.middle(i) for i in range(4)] == [150, 250, 350, 450]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "x", 1e101, 10**400])
def test_what_cannot_be_drawn_is_refused(bad: object) -> None:
    with pytest.raises(DataError, match="finite numbers") as caught:
        checked([1, bad], "bar 'a'")
    assert caught.value.where == "bar 'a'"
    # A value may be private: the message names its kind only.
    assert "1e+101" not in str(caught.value)


@pytest.mark.parametrize("values", [[0, 1], [-1, 5]])
def test_a_logarithmic_axis_refuses_zero(values: list[float]) -> None:
    with pytest.raises(DataError, match="logarithmic"):
        logarithmic(values, 0, 100, across)
    with pytest.raises(DataError, match="logarithmic"):
        marked(values, 0, 100, {1.0: "1"}, across, log=True)
