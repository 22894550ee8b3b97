"""The float64 filter: its bounds hold on every pair, ties and near-ties included, and it loses no maximum."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from quincunx import domain, scope, standard, unit
from quincunx.finite import Mechanism
from quincunx.numbers import Ball, ball, float_above, float_below, precision
from quincunx.spec import Specification, sieve

STANDARDS = [
    standard.Pure(),
    standard.Approximate("1/10"),
    standard.Approximate("1/3"),
    standard.Approximate(Fraction(1, 10**15)),
    standard.TV(),
    standard.KL(),
    standard.Renyi("3/2"),
    standard.Renyi(20),
    standard.ZCDP(),
    standard.GaussianDP(),
    standard.Divergence("chi-squared"),
    standard.Divergence("squared-hellinger"),
    standard.Probabilistic("1/10"),
    standard.Probabilistic(0),
    standard.Relaxed("1/20", "1/10"),
    standard.RangeBounded(),
    standard.Concentrated("1/10"),
    standard.Concentrated("1/3", 5),
    standard.PowerDivergence(1),
    standard.PowerDivergence(2),
    standard.PowerDivergence(3),
    standard.MeanConcentrated(),
]
CAPACITIES = ("chi-squared", "kl", "total-variation")


def law(dice: random.Random, size: int) -> list[Fraction]:
    """A law with zeros, equal entries, entries of very different size, or a deterministic one."""
    kind = dice.randrange(6)
    if kind == 0:
        return [Fraction(i == dice.randrange(size) and 1) for i in range(size)] if size < 2 else _point(dice, size)
    weights = [
        dice.choice([0, 1, 1, 2, 3])
        if kind == 1
        else dice.choice([1, 10**6, 10**12])
        if kind == 2
        else dice.randint(1, 9)
        for _ in range(size)
    ]
    total = sum(weights) or 1
    return [Fraction(w, total) for w in weights] if sum(weights) else _point(dice, size)


def _point(dice: random.Random, size: int) -> list[Fraction]:
    at = dice.randrange(size)
    return [Fraction(int(i == at)) for i in range(size)]


def laws(dice: random.Random) -> list[list[Fraction]]:
    """A few laws; some equal, some moved by about 1e-16, some permuted."""
    size = dice.randint(2, 6)
    found = [law(dice, size) for _ in range(dice.randint(2, 4))]
    near = list(dice.choice(found))
    a, b = dice.sample(range(size), 2)
    move = Fraction(dice.randint(1, 9), 10**16)
    if near[a] > move:
        near[a], near[b] = near[a] - move, near[b] + move
    other = list(dice.choice(found))
    dice.shuffle(other)
    return [*found, near, other, list(found[0])]


@pytest.mark.parametrize("measure", STANDARDS, ids=repr)
def test_bounds_enclose_the_exact_answer(measure: standard.Standard, ci: bool, full: bool) -> None:
    dice = random.Random(7)
    # 21 standards × 500 matrices and a quarter of that for the dearest are more than 10,000 under --full.
    count = 500 if full else 60 if ci else 8
    for _ in range(count // 4 if isinstance(measure, standard.MeanConcentrated) else count):
        rows = laws(dice)
        floats = sieve.rounded(rows)
        assert floats is not None
        pairs = list(permutations(range(len(rows)), 2))
        found = sieve.bounds(measure, floats, pairs)
        assert found is not None
        for (i, j), low, high in zip(pairs, *found, strict=True):
            if rows[i] == rows[j]:
                assert low <= 0 <= high
                continue
            with precision(256):
                exact = measure._found(rows[i], rows[j], True)
            assert low <= float_above(exact.upper), (rows[i], rows[j])
            assert high >= float_below(exact.lower), (rows[i], rows[j])


@pytest.mark.parametrize("f", CAPACITIES)
def test_bounds_enclose_what_functions_see(f: str, ci: bool) -> None:
    dice = random.Random(13)
    for _ in range(60 if ci else 12):
        rows = laws(dice)
        functions = tuple(tuple(Fraction(dice.randint(-9, 9), 7) for _ in rows[0]) for _ in range(3))
        measure, floats = standard.CapacityBounded(f, functions), sieve.rounded(rows)
        assert floats is not None
        pairs = list(permutations(range(len(rows)), 2))
        found = sieve.bounds(measure, floats, pairs)
        assert found is not None
        for (i, j), low, high in zip(pairs, *found, strict=True):
            with precision(256):
                exact = measure._found(rows[i], rows[j], True)
            assert low <= float_above(exact.upper)
            assert high >= float_below(exact.lower)


@pytest.mark.parametrize("measure", STANDARDS, ids=repr)
def test_tightest_is_the_maximum_over_all_pairs(measure: standard.Standard, ci: bool) -> None:
    dice = random.Random(11)
    for _ in range(25 if ci else 4):
        rows = laws(dice)
        table = {str(i): {str(k): p for k, p in enumerate(row)} for i, row in enumerate(rows)}
        mechanism, names = Mechanism(table), list(table)
        spec = Specification(
            domain=domain.Finite(datasets=names),
            scope=scope.Everything(),
            unit=unit.Neighbours([(x, y) for x in names for y in names if x < y]),
            standard=measure,
            intensity=1 if not isinstance(measure, standard.TV) else "1/2",
        )
        verdict = spec.tightest(mechanism)
        each = [measure.least(p, q) for i, p in enumerate(rows) for q in rows[i + 1 :]]
        assert verdict.bounds[0] <= max(float_above(least.upper) for least in each)
        assert verdict.bounds[1] >= max(float_below(least.lower) for least in each)
        keys = [least.exact for least in each]
        if verdict.exact is not None and None not in keys:
            assert max(float_below(ball(key)) for key in keys) <= verdict.intensity  # type: ignore[arg-type]
            assert verdict.exact in keys


def test_an_exact_tie_and_a_tie_up_to_1e_16_find_the_same_witness_as_exact_arithmetic() -> None:
    third, hair = Fraction(1, 3), Fraction(1, 10**16)
    table = {
        "a": {"0": third, "1": 2 * third},
        "b": {"0": 2 * third, "1": third},
        "c": {"0": third - hair, "1": 2 * third + hair},
    }
    spec = Specification(
        domain=domain.Finite(datasets=tuple(table)),
        scope=scope.Everything(),
        unit=unit.Neighbours([("a", "b"), ("b", "c")]),
        standard=standard.Pure(),
        intensity=1,
    )
    verdict = spec.tightest(Mechanism(table))
    assert verdict.witness is not None
    assert {verdict.witness.x, verdict.witness.x_prime} == {"b", "c"}
    assert getattr(verdict.exact, "of", None) == (2 * third) / (third - hair)


@pytest.mark.parametrize(("float_function", "exact_function"), [(np.log, "log"), (np.exp, "exp")])
def test_log_and_exp_are_within_eight_units(float_function: object, exact_function: str, full: bool) -> None:
    dice = np.random.default_rng(3)
    count = 200_000 if full else 4_000
    xs = np.concatenate(
        [np.exp(dice.uniform(-560, 560, count)), 1 + dice.uniform(-1, 1, count) * 2.0 ** -dice.integers(1, 53, count)]
    )
    if exact_function == "exp":
        xs = dice.uniform(-700, 700, count)
    found = float_function(xs)  # type: ignore[operator]
    with precision(160):
        for x, y in zip(xs, found, strict=True):
            true = getattr(Ball(float(x)), exact_function)()
            assert abs(Ball(float(y)) - true) <= abs(true) * Ball(sieve._ULPS * sieve._U), x


def test_laws_that_the_bounds_do_not_cover_are_left_to_exact_arithmetic() -> None:
    tiny = Fraction(1, 1 << 401)
    assert sieve.rounded([[tiny, 1 - tiny]]) is None
    assert sieve.rounded([[Ball("0.5"), Ball("0.5")]]) is None
    half = sieve.rounded([[Fraction(1, 2)] * 2] * 2)
    assert half is not None
    assert sieve.bounds(standard.Tradeoff([(0, "1/2"), ("1/2", 0), (1, 0)]), half, [(0, 1)]) is None


def test_the_filter_asks_few_pairs() -> None:
    low, high = np.arange(1000.0), np.arange(1000.0) + 0.5
    asked: list[int] = []

    def certain(i: int) -> float:
        asked.append(i)
        return float(low[i])

    assert sieve.contenders(low, high, certain) == [999]
    assert asked == [999]
    tied = sieve.contenders(np.zeros(5), np.array([1.0, 2.0, 2.0, 2.0, 1.5]), lambda i: [1.0, 2.0, 2.0, 1.9, 1.5][i])
    assert tied == [1, 2, 3]
