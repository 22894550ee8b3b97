"""One comparison: squares, exactly, and a ratio that never says less than is so."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.audit import Gap


def gap(distance2: object, allowed2: object) -> Gap:
    return Gap(part="distance", distance2=Fraction(str(distance2)), allowed2=Fraction(str(allowed2)))


@pytest.mark.parametrize(
    ("distance2", "allowed2", "holds", "ratio"),
    [(4, 4, True, 1.0), (1, 4, True, 0.5), (9, 4, False, 1.5), (0, 0, True, 0.0), (1, 0, False, math.inf)],
)
def test_ratio_and_verdict(distance2: int, allowed2: int, holds: bool, ratio: float) -> None:
    assert (gap(distance2, allowed2).holds, gap(distance2, allowed2).ratio) == (holds, ratio)


def test_a_violation_below_an_ulp_is_no_ratio_of_one() -> None:
    tiny = gap(1 + Fraction(1, 10**30), 1)
    assert not tiny.holds
    assert tiny.ratio > 1
    assert gap(10**700, 1).ratio == math.inf
    assert gap(1, 10**700).ratio == 0.0


@given(st.fractions(0, 10), st.fractions(0, 10))
def test_the_ratio_is_above_one_where_the_distance_is(first: Fraction, second: Fraction) -> None:
    assert (gap(first, second).ratio > 1) == (not gap(first, second).holds)
