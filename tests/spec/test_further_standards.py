"""Standards on the loss, concentrated ones, powers and bounded capacity: definitions, enumeration, relations."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import chain, combinations

import pytest

from quincunx.errors import ParameterError
from quincunx.numbers import Log, ball, float_above, float_below, float_near, precision
from quincunx.spec import tradeoff
from quincunx.spec.concentrated import around_the_mean, under_a_line
from quincunx.spec.standard import (
    KL,
    TV,
    ZCDP,
    Approximate,
    CapacityBounded,
    Concentrated,
    Divergence,
    MeanConcentrated,
    PowerDivergence,
    Probabilistic,
    Pure,
    RangeBounded,
    Relaxed,
    Renyi,
)

F = Fraction
P, Q = (F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))


def laws(seed: int, size: int = 4, *, zeros: bool = True) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    dice = random.Random(seed)

    def one() -> tuple[Fraction, ...]:
        weights = [dice.choice((0, 1, 2, 5) if zeros else (1, 2, 5, 40)) for _ in range(size)]
        weights[dice.randrange(size)] += 1
        return tuple(F(w, sum(weights)) for w in weights)

    return one(), one()


def subsets(size: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(size), r) for r in range(size + 1)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("delta", [F(0), F(1, 10), F(1, 3)])
def test_probabilistic_is_the_tail_of_the_loss(seed: int, delta: Fraction) -> None:
    p, q = laws(seed)
    least = Probabilistic(delta).least(p, q)
    ratios = {a / b for one, two in ((p, q), (q, p)) for a, b in zip(one, two, strict=True) if b} | {F(1)}

    def enough(t: Fraction) -> bool:
        return all(
            sum((a for a, b in zip(one, two, strict=True) if a > t * b), F(0)) <= delta for one, two in ((p, q), (q, p))
        )

    allowed = [t for t in sorted(ratios) if t >= 1 and enough(t)]
    expected = Log(allowed[0]) if allowed and allowed[0] > 1 else F(0) if allowed else None
    assert least.exact == expected
    if expected is None:
        assert not least.lower.is_finite()


@pytest.mark.parametrize("seed", range(20))
def test_relaxed_gives_up_the_best_set(seed: int) -> None:
    p, q = laws(seed)
    delta, outside = F(1, 20), F(1, 5)
    worst: Fraction | None = F(1)
    for one, two in ((p, q), (q, p)):
        best: Fraction | None = None
        for gone in subsets(len(p)):
            if sum((one[i] for i in gone), F(0)) > outside:
                continue
            factor: Fraction | None = F(1)
            for event in subsets(len(p)):
                left = [i for i in event if i not in gone]
                a, b = sum((one[i] for i in left), F(0)) - delta, sum((two[i] for i in left), F(0))
                if a > 0:
                    factor = None if not b or factor is None else max(factor, a / b)
            best = factor if best is None else best if factor is None else min(best, factor)
        worst = None if best is None or worst is None else max(worst, best)
    found = Relaxed(delta, outside).least(p, q).exact
    assert found == (None if worst is None else Log(worst) if worst > 1 else F(0))


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_the_standards_with_delta(seed: int) -> None:
    """Approximate ≤ relaxed ≤ probabilistic ≤ pure at the same masses."""
    p, q = laws(seed, zeros=False)
    d = F(1, 10)
    values = [s.least(p, q) for s in (Approximate(d), Relaxed(0, d), Probabilistic(d), Pure())]
    numbers = [float_above(x.upper) for x in values]
    assert numbers[0] <= numbers[1] * (1 + 1e-12) + 1e-12
    assert numbers[1] == pytest.approx(numbers[2])
    assert numbers[2] <= numbers[3] * (1 + 1e-12)
    assert Relaxed(d, 0).least(p, q).exact == Approximate(d).least(p, q).exact


def test_a_large_knapsack_is_enclosed() -> None:
    size = 40
    p = tuple(F(2 * i + 1, size * size) for i in range(size))
    q = tuple(reversed(p))
    least = Relaxed("1/1000", "9/10").least(p, q)
    assert least.exact is None
    low, high = Approximate(F(901, 1000)).least(p, q), Approximate("1/1000").least(p, q)
    assert least.lower >= low.lower
    assert least.upper <= high.upper


@pytest.mark.parametrize("seed", range(12))
def test_range_is_the_sum_of_both_pure_directions(seed: int) -> None:
    p, q = laws(seed, zeros=False)
    ratios = [a / b for a, b in zip(p, q, strict=True)]
    found = RangeBounded().least(p, q).exact
    assert found == (Log(max(ratios) / min(ratios)) if p != q else F(0))
    assert RangeBounded().least((F(1), F(0)), (F(1, 2), F(1, 2))).exact is None


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("xi", "omega"), [(0, None), ("1/10", None), ("1/2", 4), (0, "3/2"), (2, 30)])
def test_concentration_is_a_supremum_over_orders(seed: int, xi: object, omega: object) -> None:
    p, q = laws(seed, zeros=False)
    standard = Concentrated(xi, omega)  # type: ignore[arg-type]
    least = standard.least(p, q)
    top = 2000.0 if standard.omega is None else float(standard.omega)
    orders = [1 + (top - 1) ** (i / 60) * 1e-3 ** (1 - i / 60) for i in range(61)]
    best = max(0.0, *((float_near(Renyi(F(x)).least(p, q).lower) - float(standard.xi)) / x for x in orders))
    assert float_above(least.upper) >= best * (1 - 1e-9)
    assert float_below(least.lower) <= best * 1.02 + 1e-6
    assert float_above(least.upper - least.lower) <= 2e-6 * float_above(least.upper) + 1e-15


@pytest.mark.parametrize("seed", range(10))
def test_concentration_without_offset_is_zcdp(seed: int) -> None:
    p, q = laws(seed, zeros=False)
    ours, theirs = Concentrated().least(p, q), ZCDP().least(p, q)
    assert ours.lower <= theirs.upper
    assert theirs.lower <= ours.upper


@pytest.mark.parametrize("odds", [2, 3, 50, 3000])
def test_mean_concentration_of_randomized_response(odds: int) -> None:
    """Kearns and Saul: τ² = 2ε·tanh(ε/2)."""
    p, q = (F(odds, odds + 1), F(1, odds + 1)), (F(1, odds + 1), F(odds, odds + 1))
    with precision(128):
        low, high = around_the_mean(p, q)
        epsilon = ball(Log(odds))
        exact = 2 * epsilon * (epsilon / 2).tanh()
        assert low <= exact.upper()
        assert high >= exact.lower()
        assert (high - low) <= high * ball(F(2, 10**5))


@pytest.mark.parametrize("seed", range(10))
def test_mean_concentration_bounds_zcdp(seed: int) -> None:
    """(μ, τ)-mean-concentrated is (μ − τ²/2, τ²/2)-zero-concentrated (Bun and Steinke, Lemma 4.2)."""
    p, q = laws(seed, zeros=False)
    if p == q:
        return
    mu, tau = float_above(KL().least(p, q).upper), float_above(MeanConcentrated().least(p, q).upper)
    for alpha in (F(3, 2), F(2), F(10)):
        divergence = float_below(Renyi(alpha).least(p, q).lower)
        assert divergence <= (mu - tau**2 / 2 + tau**2 / 2 * float(alpha)) * (1 + 1e-9) + 1e-12


def test_a_stated_mean_is_enforced() -> None:
    mean = math.log(3) / 2
    assert MeanConcentrated(F(str(mean)) + F(1, 100)).least(P, Q).upper.is_finite()
    assert not MeanConcentrated(F(str(mean)) - F(1, 100)).least(P, Q).lower.is_finite()


@pytest.mark.parametrize("seed", range(10))
def test_powers(seed: int) -> None:
    p, q = laws(seed, zeros=False)
    assert PowerDivergence(1).least(p, q).exact == 2 * TV().least(p, q).exact  # type: ignore[operator]
    root = float_near(PowerDivergence(2).least(p, q).upper)
    square = Divergence("chi-squared").least(p, q).exact
    assert root**2 == pytest.approx(float(square))  # type: ignore[arg-type]
    assert PowerDivergence(3).least((F(1), F(0)), (F(0), F(1))).exact is None


@pytest.mark.parametrize("seed", range(10))
def test_capacity_is_at_most_the_divergence_and_reaches_it(seed: int) -> None:
    """With h = f'(P/Q) among the functions the bound of Fenchel is reached; with few functions it is below."""
    p, q = laws(seed, zeros=False)
    best = tuple(2 * (a / b - 1) for a, b in zip(p, q, strict=True))
    square = sum(((a - b) ** 2 / b for a, b in zip(p, q, strict=True)), F(0))
    full = CapacityBounded("chi-squared", (best,))
    assert full._found(p, q, True).key == square
    few = CapacityBounded("chi-squared", ((1, -1, 1, -1),))
    assert few._found(p, q, True).key <= square  # type: ignore[operator]
    logs = CapacityBounded("kl", ((1, 1, 1, 1), ("1/2", 1, 1, 2)))
    with precision(128):
        assert logs._found(p, q, True).upper <= KL().least(p, q).upper * ball(F(1_000_001, 10**6)) + ball(F(1, 10**9))
    variation = CapacityBounded(
        "total-variation", (tuple(F(1, 2) if a > b else F(-1, 2) for a, b in zip(p, q, strict=True)),)
    )
    assert variation._found(p, q, True).key == sum((abs(a - b) for a, b in zip(p, q, strict=True)), F(0)) / 2


@pytest.mark.parametrize(
    "build",
    [
        lambda: Probabilistic(1),
        lambda: Relaxed("1/2", 1),
        lambda: Concentrated("-1"),
        lambda: Concentrated(0, 1),
        lambda: MeanConcentrated("-1"),
        lambda: PowerDivergence(0),
        lambda: PowerDivergence("3/2"),
        lambda: CapacityBounded("hellinger", ((1,),)),
        lambda: CapacityBounded("kl", ()),
        lambda: CapacityBounded("kl", ((1,), (1, 2))),
        lambda: CapacityBounded("kl", ((1,),)).least(P, Q),
    ],
)
def test_bad_parameters_are_refused(build: object) -> None:
    with pytest.raises(ParameterError):
        build()  # type: ignore[operator]


def test_balls_are_enclosed() -> None:
    with precision(200):
        p, q = [ball(x) for x in P], [ball(x) for x in Q]
        for standard in (
            Probabilistic("1/10"),
            Relaxed("1/10", "1/10"),
            RangeBounded(),
            Concentrated("1/10"),
            PowerDivergence(2),
        ):
            exact, loose = standard.least(P, Q), standard.least(p, q)
            assert loose.lower <= exact.upper
            assert loose.upper >= exact.lower
    assert under_a_line(P, Q, F(2), None) == (0, 0)


@pytest.mark.parametrize("seed", range(12))
def test_products_of_tradeoff_functions_are_those_of_product_laws(seed: int) -> None:
    """f ⊗ g against the exact curve of the product of two pairs of laws."""

    def curve(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> tradeoff.Vertices:
        order = sorted(
            (i for i in range(len(p)) if p[i] or q[i]), key=lambda i: (1, -p[i] / q[i]) if q[i] else (0, F(0))
        )
        points = [(F(0), F(1))]
        for i in order:
            here = (points[-1][0] + q[i], points[-1][1] - p[i])
            points = [*points[:-1], here] if not q[i] else [*points, here]
        return tradeoff.vertices(points)

    (p, q), (r, s) = laws(seed), laws(seed + 100)
    both = curve(tuple(a * b for a in p for b in r), tuple(a * b for a in q for b in s))
    found = tradeoff.product(curve(p, q), curve(r, s))
    for level in [F(i, 40) for i in range(41)]:
        assert tradeoff.power(found, level) == tradeoff.power(both, level)
