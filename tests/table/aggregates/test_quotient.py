"""One linear form over another: coverage, width, what is not known, and what is proved of shares and weighted means."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from quincunx.table.aggregates import Part
from quincunx.table.aggregates.count import Count
from quincunx.table.aggregates.quotient import Form, quotient
from quincunx.table.aggregates.sum import Sum
from quincunx.table.aggregates.term import ONES
from quincunx.table.expression import Column
from quincunx.table.operators import apply, literal
from tests.release.world import gaussian, laplace
from tests.table.aggregates.noises import count_bound

RISK = Fraction(1, 20)
NOISES: dict[str, Any] = {
    "Laplace": laplace,
    "Gaussian": gaussian,
    "little Laplace": lambda size: laplace(Fraction(size) / 100),
    "narrow Gaussian": lambda size: gaussian(Fraction(size) / 100),
}
# Slopes of the two forms over four measures, and their exact values.
FORMS = {
    "a / b": ((1, 0, 0, 0), (0, 1, 0, 0)),
    "(a + b) / b": ((1, 1, 0, 0), (0, 1, 0, 0)),
    "(a - 2c) / (b + d)": ((1, 0, -2, 0), (0, 1, 0, 1)),
    "1 / b": ((0, 0, 0, 0), (0, 1, 0, 0)),
    "a / -b": ((1, 0, 0, 0), (0, -1, 0, 0)),
}
EXACT = (400, 900, 30, 250)
SIZES = (30, 40, 8, 20)


def drawn(shape: str, make: Any, draws: int) -> tuple[Form, Form, list[Part], float]:
    noises = [make(size) for size in SIZES]
    numbers = [noise.sample(np.full(draws, exact)) for noise, exact in zip(noises, EXACT, strict=True)]
    parts = [Part(lattice=ONES, unit=Fraction(1), noise=noise) for noise in noises]
    forms, exact = [], []
    for slopes in FORMS[shape]:
        constant = 1.0 if not any(slopes) else 0.0
        near = sum((s * n for s, n in zip(slopes, numbers, strict=True)), np.full(draws, constant))
        forms.append(Form(near=near, slopes=tuple(np.full(draws, float(s)) for s in slopes)))
        exact.append(sum(s * e for s, e in zip(slopes, EXACT, strict=True)) + constant)
    used = [i for i in range(4) if any(slopes[i] for slopes in FORMS[shape])]
    top, bottom = (Form(near=f.near, slopes=tuple(f.slopes[i] for i in used)) for f in forms)
    return top, bottom, [parts[i] for i in used], exact[0] / exact[1]


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("shape", FORMS)
def test_intervals_cover(shape: str, noise: str, full: bool) -> None:
    """At least 95 %, false-alarm rate 1e-9, and not much more: the law of the noise is used as it is."""
    draws = 50_000 if full else 3_000
    top, bottom, parts, true = drawn(shape, NOISES[noise], draws)
    found = quotient(top, bottom, parts, np.full(draws, True), RISK, (None, None))
    assert found is not None
    held = float(np.mean((found.low <= true) & (true <= found.high)))
    assert held >= count_bound(0.95, draws)
    assert ((found.low <= found.near) & (found.near <= found.high)).all()
    if noise in ("Laplace", "Gaussian"):
        print(f"{shape}, {noise}: {held:.4f}")
        assert held <= 0.975
        error = float(np.sqrt(np.mean((found.near - true) ** 2)))
        assert np.median(found.high - found.low) / 2 <= 2.3 * error


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("make", [laplace, gaussian])
def test_intervals_cover_where_the_divisor_is_hardly_settled(make: Any, full: bool) -> None:
    """A divisor of three times its error: some draws have no interval, and those that do cover."""
    draws = 50_000 if full else 4_000
    noises = [make(20), make(20)]
    top, bottom = (noise.sample(np.full(draws, exact)) for noise, exact in zip(noises, (50, 120), strict=True))
    one, zero = np.ones(draws), np.zeros(draws)
    parts = [Part(lattice=ONES, unit=Fraction(1), noise=noise) for noise in noises]
    found = quotient(
        Form(near=top.astype(float), slopes=(one, zero)), Form(near=bottom.astype(float), slopes=(zero, one)),
        parts, np.full(draws, True), RISK, (None, None),
    )  # fmt: skip
    assert found is not None
    known = np.isfinite(found.low)
    assert 0.5 < known.mean() < 1
    # What has no interval counts as covered: everything is possible.
    held = np.mean(~known | ((found.low <= 50 / 120) & (found.high >= 50 / 120)))
    assert held >= count_bound(0.95, draws)
    settled = np.abs(bottom) > 20 * (3.1 if make is laplace else 2.1)
    assert known[settled].all()


def test_what_may_be_over_zero_or_was_clamped_is_not_known() -> None:
    parts = [Part(lattice=ONES, unit=Fraction(1), noise=laplace(10))] * 2
    near = np.array([5.0, 5.0, 5.0, 500.0])
    slopes = np.ones(4), np.zeros(4)
    top = Form(near=np.full(4, 50.0), slopes=slopes)
    bottom = Form(near=near, slopes=slopes[::-1])
    inside = np.array([True, True, True, False])
    found = quotient(top, bottom, parts, inside, RISK, (None, None))
    assert found is not None
    assert np.isnan([*found.low, *found.high]).all()
    bounded = quotient(top, bottom, parts, inside, RISK, (Fraction(-1), Fraction(2)))
    assert bounded is not None
    assert (bounded.low.tolist(), bounded.high.tolist()) == ([-1.0] * 4, [2.0] * 4)
    sure = quotient(
        top, Form(near=near + 200, slopes=slopes[::-1]), parts, np.full(4, True), RISK, (Fraction(0), Fraction("0.26"))
    )
    assert sure is not None
    assert (sure.high <= 0.26).all()
    assert (sure.low >= 0).all()


def test_too_many_noises_are_left_to_others() -> None:
    parts = [Part(lattice=ONES, unit=Fraction(1), noise=laplace(10))] * 6
    form = Form(near=np.array([1.0]), slopes=(np.ones(1),) * 6)
    assert quotient(form, form, parts, np.array([True]), RISK, (None, None)) is None


# What is proved.

W = Column(name="w", type="integer", nullable=False, low=Fraction(0), high=Fraction(9), step=Fraction(1))
SIGNED = Column(name="s", type="integer", nullable=False, low=Fraction(-1), high=Fraction(9), step=Fraction(1))
X = Column(name="x", type="integer", nullable=False, low=Fraction(2), high=Fraction(7), step=Fraction(1))
FREE = Column(name="free", type="integer")
SOME = apply("greater", X, literal(3))


def test_weights_are_not_negative() -> None:
    """A sum of w·x over the sum of w is a mean of x, 0 where x is NULL; not where w may be below 0."""
    product = apply("multiply", W, X)
    for argument in (product, apply("multiply", X, W)):
        assert Sum(argument=argument).over(Sum(argument=W)) == (2, 7)
        assert Sum(argument=argument, where=SOME).over(Sum(argument=W, where=SOME)) == (2, 7)
        assert Sum(argument=argument, where=SOME).over(Sum(argument=W)) == (None, None)
    # A row that has a weight and no value counts as 0; one without a weight is in neither sum.
    maybe, light = replace(X, nullable=True), replace(W, nullable=True)
    assert Sum(argument=apply("multiply", W, maybe)).over(Sum(argument=W)) == (0, 7)
    assert Sum(argument=apply("multiply", light, maybe)).over(Sum(argument=light)) == (0, 7)
    assert Sum(argument=apply("multiply", light, X)).over(Sum(argument=light)) == (2, 7)
    assert Sum(argument=apply("multiply", SIGNED, X)).over(Sum(argument=SIGNED)) == (None, None)
    assert Sum(argument=apply("multiply", W, FREE)).over(Sum(argument=W)) == (None, None)
    assert Sum(argument=apply("add", W, X)).over(Sum(argument=W)) == (None, None)
    assert Sum(argument=X).over(Sum(argument=X)) == (None, None)


def test_counts_of_some_are_shares_of_counts_of_all() -> None:
    some, given = Count(where=SOME), Count(argument=FREE)
    assert some.over(Count()) == given.over(Count()) == Count(argument=FREE, where=SOME).over(given) == (0, 1)
    assert some.over(some) == (0, 1)
    assert Count().over(some) == given.over(some) == some.over(given) == (None, None)
    assert Sum(argument=X).over(Count()) == Sum(argument=X, where=SOME).over(some) == (2, 7)
    maybe = replace(X, nullable=True)
    assert Sum(argument=maybe).over(Count()) == (0, 7)
    assert Sum(argument=maybe).over(Count(argument=maybe)) == (2, 7)
    assert Sum(argument=FREE).over(Count()) == Sum(argument=X).over(some) == (None, None)
    assert Sum(argument=X).over(given) == (None, None)
    assert Count().over(Sum(argument=W)) == (None, None)
