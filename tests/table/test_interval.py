"""Interval arithmetic holds every result and, on whole numbers, is as tight as enumeration allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.table import interval
from quincunx.table.interval import Bounds

NUMBERS = st.integers(-12, 12)
PAIRS = st.tuples(NUMBERS, NUMBERS).map(lambda pair: (Fraction(min(pair)), Fraction(max(pair))))
STEPS = st.fractions(min_value=Fraction(1, 50), max_value=20, max_denominator=50)


def inside(value: Fraction | int, ends: Bounds) -> bool:
    return (ends[0] is None or ends[0] <= value) and (ends[1] is None or value <= ends[1])


def whole(ends: tuple[Fraction, Fraction]) -> range:
    return range(int(ends[0]), int(ends[1]) + 1)


def cut(x: int, y: int) -> int:
    return math.trunc(Fraction(x, y))


BINARY: dict[str, tuple[Callable[[Bounds, Bounds], Bounds], Callable[[int, int], Fraction | int]]] = {
    "add": (interval.add, lambda x, y: x + y),
    "multiply": (interval.multiply, lambda x, y: x * y),
    "divide": (interval.divide, Fraction),
    "whole_quotient": (interval.whole_quotient, cut),
    "remainder": (lambda a, b: interval.remainder(a, b, Fraction(1)), lambda x, y: x - y * cut(x, y)),
}


@pytest.mark.parametrize("name", BINARY)
@given(a=PAIRS, b=PAIRS)
def test_every_result_lies_inside(name: str, a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction]) -> None:
    bound, compute = BINARY[name]
    total = name in ("add", "multiply")
    results = [compute(x, y) for x in whole(a) for y in whole(b) if total or y != 0]
    ends = bound(a, b)
    assert all(inside(result, ends) for result in results)
    if total:
        assert ends == (min(results), max(results))


@pytest.mark.parametrize("name", BINARY)
@given(a=PAIRS, b=PAIRS, gone=st.sets(st.integers(0, 3), min_size=1))
def test_a_missing_end_proves_no_more(
    name: str, a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], gone: set[int]
) -> None:
    bound, compute = BINARY[name]
    ends: list[Fraction | None] = [None if i in gone else end for i, end in enumerate((*a, *b))]
    found = bound((ends[0], ends[1]), (ends[2], ends[3]))
    # Values that only the missing ends would have excluded.
    far = {0: -400, 1: 400, 2: -400, 3: 400}
    xs = [*whole(a), *(far[i] for i in gone if i < 2)]
    ys = [*whole(b), *(far[i] for i in gone if i >= 2)]
    assert all(inside(compute(x, y), found) for x in xs for y in ys if y != 0)


@given(a=PAIRS)
def test_negation_and_magnitude(a: tuple[Fraction, Fraction]) -> None:
    values = whole(a)
    assert interval.negate(a) == (min(-x for x in values), max(-x for x in values))
    assert interval.magnitude(a) == (min(abs(x) for x in values), max(abs(x) for x in values))


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((None, None), (0, None)),
        ((Fraction(-3), None), (0, None)),
        ((Fraction(3), None), (3, None)),
        ((None, Fraction(-3)), (3, None)),
        ((None, Fraction(3)), (0, None)),
    ],
)
def test_the_magnitude_of_half_bounded_numbers(ends: Bounds, expected: Bounds) -> None:
    assert interval.magnitude(ends) == expected


@given(parts=st.lists(PAIRS, min_size=1, max_size=4))
def test_a_union_holds_all_parts(parts: list[tuple[Fraction, Fraction]]) -> None:
    assert interval.union(parts) == (min(part[0] for part in parts), max(part[1] for part in parts))
    assert interval.union([*parts, (None, None)]) == (None, None)


@given(a=PAIRS, step=STEPS, offset=st.fractions(0, 1))
def test_rounding_outward_holds_every_rounding(a: tuple[Fraction, Fraction], step: Fraction, offset: Fraction) -> None:
    ends = interval.outward(a, step)
    for x in whole(a):
        assert inside(math.floor(x / step + offset) * step, ends) or offset == 1
    assert interval.outward((None, None), step) == (None, None)


@given(steps=st.lists(STEPS, min_size=1, max_size=4))
def test_the_common_step_divides_all_and_is_the_greatest(steps: list[Fraction]) -> None:
    common = interval.common_step(steps)
    assert common is not None
    quotients = [step / common for step in steps]
    assert all(quotient.denominator == 1 for quotient in quotients)
    assert math.gcd(*(int(quotient) for quotient in quotients)) == 1
    assert interval.common_step([*steps, None]) is None


def test_zero_and_size() -> None:
    one, two = Fraction(1), Fraction(2)
    assert interval.excludes_zero((one, None))
    assert interval.excludes_zero((None, -one))
    assert not interval.excludes_zero((-one, two))
    assert not interval.excludes_zero((Fraction(0), two))
    assert not interval.excludes_zero((None, None))
    assert interval.fits((Fraction(-(2**126)), Fraction(2**126)))
    assert not interval.fits((one, Fraction(2**126 + 1)))
    assert not interval.fits((one, None))
    assert interval.lowest([]) is None
    assert interval.highest([]) is None
