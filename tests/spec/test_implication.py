"""Every edge between standards, on random pairs and on the pairs that attain it."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import cache

import pytest
import worlds
from scipy.optimize import brentq
from scipy.stats import norm

from quincunx.numbers import Ball, Log, ball, float_above, float_below, precision
from quincunx.spec.implication import (
    RULES,
    approximate_to_tv,
    exponential,
    extremal,
    gaussian_delta,
    gaussian_to_approximate,
    kl_to_tv,
    pure_to_gaussian,
    pure_to_kl,
    renyi_to_approximate,
    scaled,
    within,
    zcdp_to_approximate,
)
from quincunx.spec.standard import (
    KL,
    TV,
    ZCDP,
    Approximate,
    Concentrated,
    Divergence,
    GaussianDP,
    Least,
    NormalisedRenyi,
    Pure,
    Renyi,
    Standard,
    Tradeoff,
)

F = Fraction
CATALOGUE: list[Standard] = [
    Pure(),
    Approximate(0),
    Approximate("1/1000"),
    Approximate("1/20"),
    Approximate("1/3"),
    ZCDP(),
    ZCDP("1/50"),
    ZCDP("1/3"),
    Renyi("11/10"),
    Renyi(2),
    Renyi(40),
    GaussianDP(),
    NormalisedRenyi(),
    Concentrated(),
    Concentrated("1/10"),
    Concentrated(0, 3),
    Concentrated("1/2", "3/2"),
    Tradeoff(((0, 1), ("2/5", "2/5"), (1, 0))),
    Tradeoff(((0, "9/10"), ("3/10", "3/10"), ("9/10", 0), (1, 0))),
    KL(),
    TV(),
    Divergence("chi-squared"),
    Divergence("squared-hellinger"),
    Divergence("jensen-shannon"),
    Divergence("kl"),
]
# What a source with δ = 1/3 can reach.
TARGETS = [*CATALOGUE, Approximate("3/5"), ZCDP("3/5")]
# Edges that the interface promises; any further edge must hold too.
PROMISED = {
    *(("pure", kind) for kind in ("pure", "approximate", "zcdp", "renyi", "gaussian", "kl", "tv")),
    *(("approximate", kind) for kind in ("pure", "approximate", "tv")),
    *(("zcdp", kind) for kind in ("zcdp", "approximate", "renyi", "kl", "tv")),
    *(("normalised-renyi", kind) for kind in ("normalised-renyi", "zcdp", "approximate", "renyi", "kl", "tv")),
    *((kind, "normalised-renyi") for kind in ("pure", "zcdp", "gaussian")),
    *(("concentrated", kind) for kind in ("concentrated", "approximate", "renyi", "kl", "tv")),
    *(("gaussian", kind) for kind in ("zcdp", "approximate", "renyi", "tv", "kl")),
    *(("renyi", kind) for kind in ("renyi", "kl", "approximate")),
    ("kl", "tv"),
    ("tv", "approximate"),
}


def stated(found: Least) -> Fraction | Log | None:
    if found.exact is not None:
        return found.exact
    return F(float_above(found.upper)) if found.upper.is_finite() else None


def names(standard: Standard) -> str:
    return f"{standard.kind}-{'-'.join(str(getattr(standard, name))[:12] for name in standard.parameters)}"


def test_the_promised_edges_exist() -> None:
    assert set(RULES) >= PROMISED


@cache
def least(standard: Standard, p: worlds.Law, q: worlds.Law) -> Least:
    """Each target meets each pair once per source."""
    return standard.least(p, q)


def sample() -> list[tuple[worlds.Law, worlds.Law]]:
    """Random pairs, randomized response, and the pairs that are extremal for (ε, δ) and in between."""
    pairs = list(worlds.pairs("implications", 50))
    for odds in (F(3), F(11, 10), F(40)):
        pairs.append(((odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))))
        for delta in (F(1, 1000), F(1, 20), F(1, 3)):
            pairs.append(extremal(Log(odds), delta))
    rng = random.Random("close")
    for _ in range(15):
        base = worlds.dense(rng, 4)
        pairs.append((base, worlds.near(rng, base, 1)))
    return pairs


@pytest.mark.parametrize("source", CATALOGUE, ids=names)
def test_every_edge_holds_on_every_pair(source: Standard) -> None:
    used: dict[str, int] = {}
    for p, q in sample():
        given = stated(least(source, p, q))
        if given is None:
            continue
        for target in TARGETS:
            bound = source.implied(given, target)
            if bound is None:
                continue
            used[target.kind] = used.get(target.kind, 0) + 1
            with precision(512):
                top = bound.upper() if isinstance(bound, Ball) else ball(bound)
                assert not least(target, p, q).lower > top, (source, given, target)
    expected = {other for kind, other in RULES if kind == source.kind}
    if getattr(source, "delta", F(0)) > 0:
        # With δ > 0 only standards that survive a small bad event are implied; f-divergences only where bounded.
        expected &= {"approximate", "zcdp", "tv", "divergence", "tradeoff"}
    if isinstance(source, Concentrated) and (source.xi or source.omega is not None):
        # An offset, or a last order, is not zero-concentrated.
        expected -= {"zcdp", "normalised-renyi"}
    assert {kind for kind, count in used.items() if count >= 10} >= expected - {source.kind}


@pytest.mark.parametrize("source", CATALOGUE, ids=names)
def test_a_standard_implies_itself_exactly(source: Standard) -> None:
    for x in (F(0), F(1), Log(3), F(1, 3)):
        assert source.implied(x, source) is x


@pytest.mark.parametrize("odds", [F(3), F(21, 20), F(1000)])
def test_what_pure_implies_is_attained_by_randomized_response(odds: Fraction) -> None:
    p = (odds / (1 + odds), 1 / (1 + odds))
    for target in (KL(), ZCDP(), GaussianDP(), TV(), Divergence("chi-squared"), Divergence("jensen-shannon")):
        found, bound = target.least(p, p[::-1]), Pure().implied(Log(odds), target)
        with precision(256):
            assert float_below(found.upper) >= float_above(ball(bound)) * (1 - 2e-6)
            assert float_below(found.lower) <= float_above(ball(bound)) * (1 + 2e-6)
    assert Pure().implied(Log(odds), TV()) == (odds - 1) / (odds + 1)


def test_pure_implies_renyi_between_its_two_bounds() -> None:
    # min(ε, α·ε·tanh(ε/2)) is above the exact value ln(cosh((α−½)ε)/cosh(ε/2))/(α−1) of randomized response.
    for epsilon in (0.1, 1.0, 5.0):
        for alpha in (1.1, 2.0, 30.0):
            exact = math.log(math.cosh((alpha - 0.5) * epsilon) / math.cosh(epsilon / 2)) / (alpha - 1)
            bound = float_above(ball(Pure().implied(F(str(epsilon)), Renyi(str(alpha)))))
            assert exact <= bound * (1 + 1e-12)
            assert bound == pytest.approx(min(epsilon, alpha * epsilon * math.tanh(epsilon / 2)), rel=1e-12)


@pytest.mark.parametrize("delta", [F(1, 1000), F(1, 5)])
def test_what_approximate_implies_is_attained_by_the_extremal_pair(delta: Fraction) -> None:
    p, q = extremal(Log(3), delta)
    assert Approximate(delta).least(p, q).exact == Log(3)
    assert TV().least(p, q).exact == Approximate(delta).implied(Log(3), TV()) == (2 + 2 * delta) / 4
    assert Approximate(delta).implied(Log(3), Pure()) is None
    assert Approximate(delta).implied(Log(3), Approximate(delta / 2)) is None
    assert Approximate(delta).implied(Log(3), KL()) is None
    assert Approximate(delta).implied(Log(3), Divergence("chi-squared")) is None
    assert Approximate(delta).implied(Log(3), ZCDP()) is None


def test_approximate_with_delta_zero_is_pure_both_ways() -> None:
    assert Approximate(0).implied(Log(3), Pure()) == Log(3)
    assert Pure().implied(Log(3), Approximate(0)) == Log(3)
    for target in CATALOGUE:
        one, other = Pure().implied(F(1, 2), target), Approximate(0).implied(F(1, 2), target)
        assert (one is None) == (other is None)
        if one is not None:
            with precision(256):
                assert ball(one).overlaps(ball(other))


@pytest.mark.parametrize("mu", ["1/10", "1", "3"])
@pytest.mark.parametrize("delta", ["1/1000000", "1/100", "3/10"])
def test_gaussian_to_approximate_against_scipy(mu: str, delta: str) -> None:
    m, d = float(F(mu)), float(F(delta))

    def gap(e: float) -> float:
        return norm.cdf(-e / m + m / 2) - math.exp(e) * norm.cdf(-e / m - m / 2) - d

    expected = brentq(gap, 0, 100, xtol=1e-13) if gap(0) > 0 else 0.0
    bound = GaussianDP().implied(F(mu), Approximate(delta))
    assert float_above(ball(bound)) == pytest.approx(expected, rel=1e-8, abs=1e-9)
    with precision(256):
        # Re-verified: the returned ε has a certified δ(ε) ≤ δ.
        assert gaussian_delta(ball(F(mu)), ball(bound).upper()) <= ball(F(delta))


def test_gaussian_to_approximate_edges() -> None:
    assert gaussian_to_approximate(F(1), F(0)) is None
    assert gaussian_to_approximate(F(0), F(0)) == 0
    with precision(256):
        assert gaussian_to_approximate(F(1000), F(1, 10**6)) > 500_000
        assert gaussian_to_approximate(F(1, 10**6), F(1, 10)) == 0


def test_gaussian_closed_forms() -> None:
    assert GaussianDP().implied(F(3), ZCDP()) == F(9, 2)
    assert GaussianDP().implied(F(3), ZCDP("1/10")) == F(9, 2)
    assert GaussianDP().implied(F(3), Renyi(4)) == 18
    assert GaussianDP().implied(F(3), KL()) == F(9, 2)
    assert float_above(GaussianDP().implied(F(3), TV())) == pytest.approx(2 * norm.cdf(1.5) - 1, rel=1e-12)
    assert GaussianDP().implied(F(1), Pure()) is None


@pytest.mark.parametrize("rho", ["1/1000000", "1/2", "10"])
@pytest.mark.parametrize("delta", ["1/1000000000", "1/1000", "9/10"])
def test_zcdp_to_approximate_is_the_infimum_over_orders(rho: str, delta: str) -> None:
    r, d = float(F(rho)), float(F(delta))
    bound = float_above(ZCDP().implied(F(rho), Approximate(delta)))
    best = math.inf
    for s in range(-4000, 6000):
        a = 1 + math.exp(s / 400)
        best = min(best, a * r + math.log(1 / (a * d)) / (a - 1) + math.log1p(-1 / a))
    assert bound <= max(best, 0) * (1 + 1e-9) + 1e-12
    assert bound >= max(best, 0) * (1 - 1e-4)
    # Never worse than the classical ρ + 2√(ρ ln(1/δ)).
    assert bound <= r + 2 * math.sqrt(r * math.log(1 / d)) + 1e-12


def test_zcdp_to_approximate_dominates_the_gaussian() -> None:
    # N(0,1) against N(μ,1) is exactly μ²/2-zCDP, so the conversion may not fall below its true ε.
    for mu in (F(1, 10), F(1), F(3)):
        for delta in (F(1, 10**8), F(1, 10**3), F(1, 10)):
            with precision(256):
                truth = gaussian_to_approximate(mu, delta)
                assert zcdp_to_approximate(mu * mu / 2, delta) >= truth - Ball(1e-15)


def test_zcdp_to_approximate_edges() -> None:
    assert zcdp_to_approximate(F(1), F(0)) is None
    assert zcdp_to_approximate(F(0), F(1, 10)) == 0
    assert ZCDP().implied(F(1), Approximate(0)) is None
    assert ZCDP("1/10").implied(F(1), Approximate("1/10")) is None
    assert ZCDP("1/10").implied(F(1), Approximate("1/11")) is None
    assert ZCDP("1/10").implied(F(1), ZCDP("1/11")) is None
    assert ZCDP("1/10").implied(F(1), ZCDP("1/9")) == 1
    assert ZCDP("1/10").implied(F(1), KL()) is None
    assert ZCDP("1/10").implied(F(1), Renyi(2)) is None
    assert ZCDP().implied(F(1), GaussianDP()) is None
    assert ZCDP().implied(F(1), Pure()) is None
    assert ZCDP().implied(F(1, 2), Renyi("3/2")) == F(3, 4)


def test_approximate_zcdp_spends_its_delta_first() -> None:
    assert within(F(1, 10), F(1, 10)) is None
    assert within(F(1, 10), F(0)) == F(1, 10)
    rest = within(F(1, 5), F(1, 10))
    assert F(1, 10) + (1 - F(1, 10)) * rest == F(1, 5)
    direct = ZCDP("1/10").implied(F(1), Approximate("1/5"))
    with precision(256):
        assert direct.overlaps(zcdp_to_approximate(F(1), rest))


def test_approximate_zcdp_to_tv_holds_where_everything_is_known() -> None:
    rng = random.Random("approximate zcdp to tv")
    for _ in range(60):
        n, delta = rng.randint(2, 5), rng.choice((F(1, 50), F(1, 3)))
        inner = worlds.dense(rng, n), worlds.dense(rng, n)
        p, q = (
            tuple((1 - delta) * a + delta * b for a, b in zip(part, worlds.certain(rng, n), strict=True))
            for part in inner
        )
        rho = F(float_above(ZCDP().least(*inner).upper))
        with precision(256):
            assert ZCDP(delta).implied(rho, TV()).upper() >= ball(worlds.brute_tv(p, q))
            for wider in (delta + F(1, 100), F(2, 3)):
                epsilon = ZCDP(delta).implied(rho, Approximate(wider))
                assert not Approximate(wider).least(p, q).lower > epsilon.upper()


@pytest.mark.parametrize("alpha", ["11/10", "2", "40"])
def test_renyi_to_approximate_holds_for_any_real_loss(alpha: str) -> None:
    # The conversion rests on 1 − e^{ε−z} ≤ e^{(α−1)(z−ε)}·(1−1/α)^α/(α−1) for all z: check it on a grid.
    a = float(F(alpha))
    factor = (1 - 1 / a) ** a / (a - 1)
    largest = max((1 - math.exp(-z)) * math.exp((1 - a) * z) for z in (i / 1000 for i in range(1, 30_000)))
    assert largest <= factor * (1 + 1e-12)
    assert largest >= factor * (1 - 1e-2)
    for delta in (1e-6, 0.2):
        bound = float_above(renyi_to_approximate(F(1), F(alpha), F(str(delta))))
        expected = 1 + math.log(1 / (a * delta)) / (a - 1) + math.log(1 - 1 / a)
        assert bound == pytest.approx(max(0.0, expected), rel=1e-12, abs=1e-15)


def test_renyi_edges() -> None:
    assert renyi_to_approximate(F(1), F(2), F(0)) is None
    assert Renyi(2).implied(F(1), Renyi(3)) is None
    assert Renyi(3).implied(F(1), Renyi(2)) == 1
    assert Renyi(3).implied(F(1), ZCDP()) is None
    assert Renyi(3).implied(F(1), GaussianDP()) is None


def test_tv_edges() -> None:
    assert TV().implied(F(1, 10), Approximate("1/10")) == 0
    assert TV().implied(F(1, 10), Approximate("1/11")) is None
    assert TV().implied(F(1, 10), ZCDP("1/10")) == 0
    assert TV().implied(F(1, 10), ZCDP("1/11")) is None
    assert TV().implied(Ball(0.25), Approximate("1/4")) == 0
    assert TV().implied(Ball(0.25, 1e-9), Approximate("1/4")) is None
    assert TV().implied(F(1, 10), KL()) is None


def test_kl_to_tv_takes_the_smaller_of_its_two_bounds() -> None:
    for value in (0.01, 0.5, 1.0, 3.0, 50.0):
        expected = min(math.sqrt(value / 2), math.sqrt(-math.expm1(-value)))
        assert float_above(kl_to_tv(F(str(value)))) == pytest.approx(expected, rel=1e-12)
    with precision(256):
        assert float_above(kl_to_tv(F(50))) <= 1


def test_one_minus_exp_minus_rho_is_no_bound_on_total_variation() -> None:
    # 1 − e^{−ρ} fails already for randomized response: total variation is of order √ρ.
    p = (F(3, 4), F(1, 4))
    rho = float_above(ZCDP().least(p, p[::-1]).upper)
    assert -math.expm1(-rho) < float(TV().least(p, p[::-1]).exact)


def test_closed_forms_on_balls_contain_those_on_rationals() -> None:
    wide = Ball(0.5, 1e-30)
    with precision(256):
        for rule in (pure_to_kl, pure_to_gaussian, kl_to_tv, lambda x: approximate_to_tv(x, F(1, 10))):
            assert rule(wide).contains(ball(rule(F(1, 2))).mid())
        for target in CATALOGUE:
            one, other = Pure().implied(wide, target), Pure().implied(F(1, 2), target)
            assert (one is None) == (other is None)
            if one is not None:
                assert ball(one).upper() >= ball(other).lower()


@pytest.mark.parametrize("epsilon", [F(0), F(1, 2), F(5), Log(3)])
def test_pure_implication_constants(epsilon: Fraction | Log) -> None:
    with precision(128):
        e = float(ball(epsilon).mid())
    assert float_above(pure_to_kl(epsilon)) == pytest.approx(e * math.tanh(e / 2), abs=1e-14)
    assert float_above(pure_to_gaussian(epsilon)) == pytest.approx(-2 * norm.ppf(1 / (1 + math.exp(e))), abs=1e-13)


def test_log_cosh_of_a_root_is_concave() -> None:
    # The proof of ε·tanh(ε/2): s ↦ ln cosh √s is concave.
    values = [math.log(math.cosh(math.sqrt(s / 10))) for s in range(1, 2000)]
    assert all(a + c <= 2 * b + 1e-12 for a, b, c in zip(values, values[1:], values[2:], strict=False))


def test_scaled_stays_exact_where_it_can() -> None:
    assert scaled(F(1, 3), 3) == 1
    assert scaled(Log(3), 4) == Log(81)
    assert scaled(Log(3), 0) == Log(1)
    with precision(256):
        half = scaled(Log(9), F(1, 2))
        assert isinstance(half, Ball)
        assert half.overlaps(Ball(3).log())
        assert isinstance(scaled(Log(3), 10**6), Ball)
        assert scaled(Ball(2), 3) == 6


def test_exponential_is_rational_where_it_can_be() -> None:
    assert exponential(Log("7/3")) == F(7, 3)
    assert exponential(F(0)) == 1
    with precision(256):
        assert exponential(F(1)).overlaps(Ball.const_e())
        assert exponential(Ball(0)) == 1
