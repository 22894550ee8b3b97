"""Values: inside what is declared, with the awkward ones among them, and simpler ones that come to an end."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.audit.spaces import OneOf, Real, Row, Values, Whole
from quincunx.audit.spaces.literal import literal
from quincunx.audit.spaces.values import STYLES
from quincunx.errors import ParameterError


def drawn(values: Values, count: int = 400) -> list[Any]:
    source = random.Random(1)
    return [values.draw(source, source.choice(STYLES)) for _ in range(count)]


def test_numbers_hold_what_breaks_things() -> None:
    seen = {literal(each) for each in drawn(Real(missing=True), 2_000)}
    assert {'float("nan")', 'float("inf")', 'float("-inf")', "None", "-0.0", "1e+300", "-1e+300", "5e-324"} <= seen
    assert {2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 0} <= set(drawn(Whole(), 2_000))
    ends = set(drawn(Real(0, 10, nan=False)))
    assert {0.0, 10.0, math.nextafter(0.0, 10.0), math.nextafter(10.0, 0.0), 5.0} <= ends


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.booleans())
def test_numbers_stay_inside(low: float, width: float, nan: bool) -> None:
    real = Real(low, low + width, nan=nan)
    for value in drawn(real, 60):
        assert (math.isnan(value) and nan) or real.low <= value <= real.high  # type: ignore[operator]
    assert all(int(low) <= each <= int(low) + 9 for each in drawn(Whole(int(low), int(low) + 9), 60))


def test_what_is_not_allowed_does_not_come() -> None:
    assert not any(math.isnan(each) or math.isinf(each) for each in drawn(Real(nan=False, infinite=False)))
    assert all(each < math.inf for each in drawn(Real(high=3, nan=False)))
    assert -math.inf in drawn(Real(high=3, nan=False))
    assert None not in drawn(Whole(0, 3))
    assert None in drawn(Whole(0, 3, missing=True))


@pytest.mark.parametrize(
    "values",
    [Real(missing=True), Real(-3, 8.5), Whole(), Whole(5, 9), OneOf([3, "a", None]), Row({"a": Real(), "b": Whole()})],
    ids=repr,
)
def test_simpler_values_are_allowed_and_come_to_an_end(values: Values) -> None:
    for first in drawn(values, 100):
        value, steps = first, 0
        while (found := list(values.simpler(value))) and steps < 100:
            value, steps = found[-1], steps + 1
        assert steps < 100
        assert list(values.simpler(value)) == []


def test_the_simplest_come_first() -> None:
    assert list(Whole(-5, 20).simpler(7)) == [0, 1, -5, 20]
    assert list(Whole(3, 20).simpler(20)) == [3]
    assert list(Whole(0, 9).simpler(0)) == []
    assert list(Real(0, 10).simpler(math.nan)) == [0.0, 1.0, 10.0]
    assert list(Real(2, 10).simpler(3.14159))[:2] == [2.0, 10.0]
    assert 3.1 in list(Real(2, 10).simpler(3.14159))
    assert list(OneOf("abc").simpler("c")) == ["a", "b"]
    assert next(Row({"x": Whole(0, 9), "y": OneOf("ab")}).simpler({"x": 7, "y": "b"})) == {"x": 0, "y": "b"}


def test_a_row_has_every_field() -> None:
    assert all(set(each) == {"x", "y"} for each in drawn(Row({"x": Whole(0, 9), "y": OneOf("ab")})))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Real(3, 2), "low must not exceed high"),
        (lambda: Real(math.nan), "finite number"),
        (lambda: Real(True), "finite number"),
        (lambda: Real("3"), "finite number"),  # type: ignore[arg-type]
        (lambda: Whole(3, 2), "low must not exceed high"),
        (lambda: Whole(0.5), "Whole\\(low\\): a parameter is of a wrong kind; got float"),  # type: ignore[arg-type]
        (lambda: OneOf([]), "at least one value"),
        (lambda: Row({}), "at least one field"),
        (lambda: Row([1]), "wrong kind; got a list"),  # type: ignore[arg-type]
        (lambda: Row({"a": 3}), "Row\\(a\\): a parameter is of a wrong kind; got int"),  # type: ignore[dict-item]
    ],
)
def test_bad_declarations_are_refused(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()
