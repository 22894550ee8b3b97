"""Intensities: what a person types, one number or one per universe, and exact comparison."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.errors import ParameterError, SpecificationError
from quincunx.numbers import Ball, Log, ball, float_above, precision
from quincunx.spec import intensity
from quincunx.spec.intensity import PerUniverse
from quincunx.spec.order import at_most, largest, multiple, rounded_up


class TestReading:
    @pytest.mark.parametrize(
        ("typed", "meant"),
        [
            (1, Fraction(1)),
            (0.1, Fraction(1, 10)),
            ("0.1", Fraction(1, 10)),
            ("1/3", Fraction(1, 3)),
            (Decimal("2.50"), Fraction(5, 2)),
            (Fraction(7, 8), Fraction(7, 8)),
            (Log(3), Log(3)),
            ("ln(3)", Log(3)),
            (" ln(3/2) ", Log("3/2")),
        ],
    )
    def test_a_number_means_what_was_typed(self, typed, meant):
        assert intensity.read(typed) == meant
        assert type(intensity.read(typed)) is type(meant)

    @pytest.mark.parametrize("typed", ["one", math.inf, math.nan, None, [1], True, "ln(x)", "ln(-3)", "ln(0)", "ln 3"])
    def test_what_is_no_number_is_refused(self, typed):
        with pytest.raises(ParameterError):
            intensity.read(typed)

    def test_one_per_universe(self):
        value = intensity.read({"b": 1, "a": "1/2"})
        assert value.values == (("a", Fraction(1, 2)), ("b", Fraction(1)))
        assert value.names == {"a", "b"}
        assert list(value) == [Fraction(1, 2), Fraction(1)]
        assert value == PerUniverse({"a": 0.5, "b": 1})
        assert intensity.read(value) is value

    def test_lookup(self):
        assert intensity.entries(PerUniverse({"a": 1, "b": 2})) == (1, 2)
        assert intensity.entries(Log(2)) == (Log(2),)

    def test_map_keeps_the_universes(self):
        assert PerUniverse({"a": 1, "b": 2}).map(lambda value: value * 2) == PerUniverse({"a": 2, "b": 4})

    @pytest.mark.parametrize("values", [{}, (), (("a", 1), ("a", 2))])
    def test_every_universe_once(self, values):
        with pytest.raises(SpecificationError, match="Name every universe once"):
            PerUniverse(values)

    def test_universes_are_texts(self):
        with pytest.raises(SpecificationError, match="expected a universe; got int"):
            PerUniverse({3: 1})

    def test_a_bad_number_names_its_universe(self):
        with pytest.raises(ParameterError, match="intensity\\['a'\\]"):
            PerUniverse({"a": "much"})

    @pytest.mark.parametrize("value", [Fraction(1, 3), Log("7/2"), PerUniverse({"x": 1, "y": Log(2)})])
    def test_json_and_repr_give_it_back(self, value):
        assert intensity.read(intensity.to_json(value)) == value
        assert eval(repr(value), {"Fraction": Fraction, "Log": Log, "PerUniverse": PerUniverse}) == value


POSITIVE = st.fractions(min_value="1/50", max_value=50, max_denominator=50)


class TestOrder:
    @pytest.mark.parametrize(
        ("value", "bound", "times", "expected"),
        [
            (Fraction(1), Fraction(1), 1, True),
            (Fraction(1), Fraction(1, 2), 2, True),
            (Fraction(1), Fraction(1, 3), 2, False),
            (Log(3), Log(3), 1, True),
            (Log(4), Log(3), 1, False),
            (Log(4), Log(2), 2, True),
            (Log(2), Log(4), "1/2", True),
            (Log(8), Log(4), "3/2", True),
            (Log("8000000000000001/1000000000000000"), Log(4), "3/2", False),
            (Log("7999999999999999/1000000000000000"), Log(4), "3/2", True),
            (Log(8), Log(4), "10000000000000000001/6666666666666666667", True),
            (Log(8), Log(4), "10000000000000000000/6666666666666666667", False),
            (Log("4/9"), Log("2/3"), 2, True),
            (Log("2/3"), Log("4/9"), "1/2", True),
            (Log(3), Fraction("1.0986"), 1, False),
            (Log(3), Fraction("1.0987"), 1, True),
            (Fraction("1.0986"), Log(3), 1, True),
            (Fraction("1.0987"), Log(3), 1, False),
            (Log(1), Fraction(0), 1, True),
            (Fraction(0), Log(1), 1, True),
            (Log(1), Log(1), 5, True),
            (Log("1/2"), Fraction(0), 1, True),
            (Fraction(0), Log("1/2"), 1, False),
            (Log(2), Log(1), 3, False),
        ],
    )
    def test_table(self, value, bound, times, expected):
        assert at_most(value, bound, Fraction(times)) is expected

    def test_a_difference_in_the_hundredth_digit_is_seen(self):
        with precision(1000):
            near = ball(Log(3))
            digits = Fraction(int((near * 10**100).floor().unique_fmpz()), 10**100)
        assert at_most(Log(3), digits) is False
        assert at_most(Log(3), digits + Fraction(1, 10**100)) is True

    @settings(derandomize=True, max_examples=120)
    @given(POSITIVE, st.integers(1, 6), st.integers(1, 6))
    def test_equal_powers_are_equal(self, base, p, q):
        # ln t^p = (p/q)·ln t^q
        one, two, times = Log(base**p), Log(base**q), Fraction(p, q)
        assert at_most(one, two, times) is True
        assert at_most(two, one, 1 / times) is True

    @settings(derandomize=True, max_examples=120)
    @given(POSITIVE, POSITIVE, POSITIVE)
    def test_agrees_with_floats_where_they_are_sure(self, one, two, times):
        left, right = math.log(one), float(times) * math.log(two)
        if abs(left - right) > 1e-9:
            assert at_most(Log(one), Log(two), times) is (left < right)
        if abs(left - float(times)) > 1e-9:
            assert at_most(Log(one), times) is (left < float(times))

    def test_balls_may_leave_it_open(self):
        wide = Ball(1, 0.25)
        assert at_most(wide, Fraction(2)) is True
        assert at_most(wide, Fraction(1, 2)) is False
        assert at_most(wide, Fraction(1)) is None
        assert at_most(wide, Fraction(1), Fraction(2)) is True
        assert at_most(Ball.pos_inf(), Fraction(10**9)) is False

    def test_largest(self):
        assert largest([Fraction(1), Log(3), Fraction("1.0986")]) == Log(3)
        assert largest([Fraction(1), Log(3), Fraction("1.0987")]) == Fraction("1.0987")

    def test_scaled(self):
        assert multiple(Fraction(1, 2), Fraction(3)) == Fraction(3, 2)
        assert multiple(Log(3), Fraction(2)) == Log(9)
        half = multiple(Log(3), Fraction(1, 2))
        assert half.contains(0) is False
        assert abs(float(half.mid()) - math.log(3) / 2) < 1e-15
        assert isinstance(multiple(Log(3), Fraction(10**6)), Ball)

    def test_rounded_up_is_never_below(self):
        assert rounded_up(Log(3)) == Log(3)
        assert rounded_up(Fraction(1, 3)) == Fraction(1, 3)
        with precision(256):
            root = Ball(2).sqrt()
        up = rounded_up(root)
        assert up >= Fraction(float_above(root))
        assert up**2 > 2
        assert up - Fraction(math.sqrt(2)) < Fraction(1, 10**11)
        assert rounded_up(Ball.pos_inf()) is None
