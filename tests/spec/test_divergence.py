"""The arithmetic under the standards: curves, cumulants, enclosures, and laws that are refused."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import pytest
import worlds

from quincunx.errors import MatrixError
from quincunx.numbers import Ball, ball, float_above, float_below, precision
from quincunx.spec import divergence, tradeoff
from quincunx.spec.curve import curve_of
from quincunx.spec.divergence import (
    FOREVER,
    INFINITE,
    SHAPES,
    UNKNOWN,
    ZERO,
    as_rational,
    checked,
    cumulant,
    enclosed,
    f_divergence,
    is_zero,
    kl,
    larger,
    log_ratio,
    losses,
    raised,
    renyi,
    sharpened,
    zcdp,
)

F = Fraction


def balls(p: worlds.Law, radius: float = 1e-45) -> tuple[Ball, ...]:
    with precision(256):
        return tuple(Ball(0) if x == 0 else ball(x) + Ball(0, radius) for x in p)


def hull_height(p: worlds.Law, q: worlds.Law, slope: Fraction) -> Fraction:
    """max over all events of P(S) − slope·Q(S): the support function of the curve."""
    return max(worlds.mass(p, event) - slope * worlds.mass(q, event) for event in worlds.events(len(p)))


def test_the_curve_has_the_support_function_of_all_events() -> None:
    for p, q in worlds.pairs("support", 150):
        shape = curve_of(p, q, exact=True)
        corners = [(F(0), F(0)), *((x.level, x.power) for x in shape.attained), (F(1), F(1))]
        ratios = {a / b for a, b in zip(p, q, strict=True) if b}
        for slope in [*ratios, *(r + F(1, 7) for r in ratios), F(0), F(1, 3), F(50)]:
            assert max(power - slope * level for level, power in corners) == hull_height(p, q, slope)


def test_the_curve_is_strictly_concave_at_its_vertices() -> None:
    for p, q in worlds.pairs("concave", 150):
        shape = curve_of(p, q, exact=True)
        corners = [(F(0), F(0)), *((x.level, x.power) for x in shape.attained), (F(1), F(1))]
        for (a, b), (c, d), (e, f) in zip(corners, corners[1:], corners[2:], strict=False):
            assert (d - b) * (e - c) > (f - d) * (c - a)


def test_points_carry_their_event_and_complements() -> None:
    for p, q in worlds.pairs("points", 100):
        for laws, exact in (((p, q), True), ((balls(p), balls(q)), False)):
            shape = curve_of(*laws, exact)
            for point in shape.attained:
                event = shape.event(point)
                with precision(256):
                    for value, truth in (
                        (point.power, worlds.mass(p, event)),
                        (point.level, worlds.mass(q, event)),
                        (point.power_rest, 1 - worlds.mass(p, event)),
                        (point.level_rest, 1 - worlds.mass(q, event)),
                    ):
                        assert value == truth if exact else ball(value).overlaps(ball(truth))


def test_dominating_points_dominate_every_event() -> None:
    # For each slope, the dominating points reach at least as high as every event does.
    several = 0
    rng = random.Random("dominating")
    for p, q in worlds.pairs("dominating", 120):
        radius = rng.choice((1e-45, 1e-35))
        shape = curve_of(balls(p, radius), balls(q, radius), exact=False)
        several += len(shape.dominating) != len(shape.attained)
        for slope in (F(1, 5), F(1), F(1) + F(1, 10**20), F(3, 2), F(7)):
            with precision(256):
                tops = [
                    (ball(x.power) - ball(slope) * ball(x.level)).upper()
                    for x in shape.dominating
                    if not ball(x.power).is_nan()
                ]
                top = larger(tops, floor=larger([(1 - ball(slope)).upper()]))
                assert not top < ball(hull_height(p, q, slope))
    assert several > 20


def test_a_cluster_of_equal_ratios_has_a_roof_just_above_it() -> None:
    p, q = (F(1, 4),) * 4, (F(1, 4),) * 4
    with precision(256):
        shape = curve_of(balls(p), balls(q), exact=False)
    assert len(shape.dominating) == 2
    with precision(256):
        for point in shape.dominating:
            assert abs(ball(point.power) - ball(point.level)) < Ball(1e-40)
            assert abs(ball(point.level) - Ball(0.5)) < Ball(1e-40)


def test_the_roof_covers_a_rare_output_hidden_in_a_cluster() -> None:
    # A rare output with a wide ratio ball [1 − 1e-16, 1 + 4e-12] joins the cluster of a common one with ratio 1. Its
    # true ratio is near the upper end, so a roof of the cluster's lower slope would miss it.
    radius, rare = F(1, 10**32), F(1, 10**20)
    top, bottom = rare + F(19_999, 10_000) * radius, rare - F(9, 10) * radius
    with precision(256):
        p = (ball(top) + Ball(0, float(radius)), ball(1 - top) + Ball(0, float(radius)))
        q = (ball(rare) + Ball(0, float(radius)), ball(1 - rare) + Ball(0, float(radius)))
        shape = curve_of(p, q, exact=False)
        assert len(shape.dominating) == 2
        for slope in (F(1) + F(1, 10**12), F(1) + F(2, 10**12)):
            truth = hull_height((top, 1 - top), (bottom, 1 - bottom), slope)
            assert truth > 0
            tops = [ball(x.power) - ball(slope) * ball(x.level) for x in shape.dominating]
            assert any(value.upper() >= ball(truth) for value in tops)


def test_impossible_outputs_come_first_and_absent_ones_not_at_all() -> None:
    shape = curve_of((F(1, 2), F(0), F(1, 2), F(0)), (F(0), F(0), F(1, 2), F(1, 2)), exact=True)
    assert shape.order == (0, 2, 3)
    assert [(x.level, x.power) for x in shape.attained] == [(0, F(1, 2)), (F(1, 2), 1)]


def test_log_ratio_keeps_relative_precision_near_one() -> None:
    for digits in (3, 60, 500):
        p = F(1) + F(1, 10**digits)
        with precision(256):
            value = log_ratio(p, F(1)) * ball(F(10) ** digits)
            assert value.rad() < 1e-60
            assert abs(value - 1) < Ball(10) ** -2
    with precision(256):
        assert log_ratio(F(1), F(3)).overlaps(-Ball(3).log())
        assert log_ratio(Ball(0.75), Ball(0.25)).overlaps(Ball(3).log())


def test_cumulant_is_the_logarithm_of_the_moment() -> None:
    rng = random.Random("cumulant")
    for _ in range(40):
        p, q = worlds.dense(rng, 4), worlds.dense(rng, 4)
        for alpha in (2, 3, 5):
            moment = sum((a**alpha / b ** (alpha - 1) for a, b in zip(p, q, strict=True)), F(0))
            with precision(256):
                terms = losses(p, q)
                assert terms is not None
                assert cumulant(terms, Ball(alpha - 1)).overlaps(ball(moment).log())
                low, high = renyi(p, q, F(alpha))
                assert not low > ball(moment).log() / (alpha - 1)
                assert not high < ball(moment).log() / (alpha - 1)


def test_cumulant_is_convex_and_starts_at_zero() -> None:
    # The two facts that branch and bound stands on.
    rng = random.Random("convex")
    for _ in range(30):
        p, q = worlds.dense(rng, 5), worlds.dense(rng, 5)
        with precision(256):
            terms = losses(p, q)
            assert terms is not None
            assert cumulant(terms, Ball(0)).contains(0)
            at = [cumulant(terms, Ball(t) / 4) for t in range(12)]
            assert all(not at[i] + at[i + 2] < 2 * at[i + 1] for i in range(10))


def test_the_chord_bounds_every_order_between() -> None:
    rng = random.Random("chord")
    tighter = 0
    for _ in range(60):
        p, q = worlds.dense(rng, 4), worlds.dense(rng, 4)
        with precision(256):
            terms = losses(p, q)
            assert terms is not None
            a, b = sorted((rng.uniform(0.01, 6), rng.uniform(0.01, 6)))
            at = {t: cumulant(terms, Ball(t)) for t in (a, b)}
            at[0.0] = ZERO
            for left, right in ((a, b), (0.0, a)):
                bound = divergence._chord(left, right, at)
                for i in range(1, 20):
                    t = left + (right - left) * i / 20
                    value = divergence._value(cumulant(terms, Ball(t)), t)
                    assert value <= bound
                    tighter += bool(value > bound * Ball(0.9))
    assert tighter > 300


def test_zcdp_enclosures_are_narrow_and_ordered() -> None:
    for p, q in worlds.pairs("narrow", 100):
        if all((a > 0) == (b > 0) for a, b in zip(p, q, strict=True)) and p != q:
            low, high = sharpened(lambda p=p, q=q: zcdp(p, q), True, 0.1)
            with precision(256):
                assert low > 0
                assert low <= high
                # Work is bounded: laws that differ by 1e-30 and hardly skew end a little wider.
                assert high <= low * Ball(1 + 1e-4)


def test_one_direction_may_be_infinite_and_the_other_not() -> None:
    p, q = (F(1), F(0)), (F(1, 2), F(1, 2))
    with precision(256):
        assert kl(p, q)[0].overlaps(Ball(2).log()) or abs(kl(p, q)[0] - Ball(2).log()) < Ball(1e-60)
        assert kl(q, p) is FOREVER
        assert renyi(q, p, F(2)) is FOREVER
        assert zcdp(q, p) is FOREVER
        low, high = zcdp(p, q)
        # D_α(P‖Q) = ln 2 at every order, so the supremum of ln 2/α is at α → 1.
        assert not low > Ball(2).log()
        assert not high < Ball(2).log()
        assert high - low < Ball(1e-6)


def test_zcdp_where_the_first_law_misses_an_output() -> None:
    # ε from the losses of P alone does not bound D_α here; the bound must come from D_∞ or the search.
    rng = random.Random("misses")
    for _ in range(40):
        p = (*worlds.dense(rng, 3), F(0))
        q = worlds.dense(rng, 4)
        with precision(256):
            low, high = zcdp(p, q)
            terms = losses(p, q)
            assert terms is not None
            for i in range(1, 60):
                t = i * i / 40
                assert divergence._value(cumulant(terms, Ball(t)), t).lower() <= high
            assert high <= low * Ball(1 + 3e-6)


@pytest.mark.parametrize("name", SHAPES)
def test_f_divergences_in_one_direction(name: str) -> None:
    # The larger of both directions hides f(0) where the slope is infinite; here each direction stands alone.
    zeros = 0
    for p, q in worlds.pairs(f"one way {name}", 200):
        expected = worlds.one_way(p, q, *worlds.SHAPES[name])
        with precision(256):
            low, high = f_divergence(p, q, SHAPES[name])
        zeros += any(a == 0 < b for a, b in zip(p, q, strict=True)) and math.isfinite(expected)
        assert low.is_finite() == math.isfinite(expected)
        if low.is_finite():
            assert float_below(low) <= expected * (1 + 1e-9) + 1e-12
            assert float_above(high) >= expected * (1 - 1e-9) - 1e-12
            assert float_above(high) - float_below(low) <= 1e-12 * expected + 1e-15
    assert zeros > 5 or name == "reverse-kl"


@pytest.mark.parametrize("name", SHAPES)
def test_f_divergences_of_disjoint_laws_are_f0_plus_slope(name: str) -> None:
    p, q = (F(1), F(0)), (F(0), F(1))
    shape = SHAPES[name]
    with precision(256):
        low, high = f_divergence(p, q, shape)
        total = shape.at_zero() + shape.slope()
        if total.is_finite():
            assert not low > total
            assert not high < total
            assert high - low < Ball(1e-60)
        else:
            assert (low, high) == FOREVER or not low.is_finite()


@pytest.mark.parametrize("name", SHAPES)
def test_f_divergences_never_grow_when_outputs_merge(name: str) -> None:
    rng = random.Random(f"merge {name}")
    for _ in range(60):
        n = rng.randint(3, 6)
        p, q = worlds.sparse(rng, n), worlds.dense(rng, n)
        merged = [(a[0] + a[1], *a[2:]) for a in (p, q)]
        with precision(256):
            fine, coarse = f_divergence(p, q, SHAPES[name]), f_divergence(*merged, SHAPES[name])
            assert not coarse[0] > fine[1]


def test_undecided_zeros_give_no_information() -> None:
    tiny = Ball(0, 1e-60)
    assert kl((Ball(1), ZERO), (tiny, Ball(1))) == UNKNOWN or not kl((Ball(1), ZERO), (tiny, Ball(1)))[1].is_finite()
    assert f_divergence((tiny, Ball(1)), (ZERO, Ball(1)), SHAPES["kl"]) is UNKNOWN
    low, high = zcdp((Ball(0.5), Ball(0.5)), (tiny, Ball(1)))
    assert low.is_finite()
    assert not high.is_finite()
    low, high = zcdp((tiny, Ball(1)), (ZERO, Ball(1)))
    assert low <= 0
    assert not high.is_finite()


def test_bounds_that_meet_a_nan() -> None:
    nan = Ball.nan()
    assert enclosed(nan) is UNKNOWN
    assert not larger([Ball(1), nan]).is_finite()
    assert raised(Ball(1), nan) == 1
    assert raised(Ball(1), Ball(2)) == 2
    assert larger([]) == 0
    assert larger([Ball(-3)]) == 0
    assert enclosed(Ball(-1, 0.5)) == (ZERO, ZERO)


def test_sharpening_stops_when_sharp_and_escalates_otherwise() -> None:
    used: list[int] = []

    def blunt() -> tuple[Ball, Ball]:
        from flint import ctx

        used.append(ctx.prec)
        return (Ball(1), Ball(2)) if ctx.prec < 1024 else (Ball(1), Ball(1))

    assert sharpened(blunt, exact=True) == (Ball(1), Ball(1))
    assert used == [256, 512, 1024]
    used.clear()
    assert sharpened(blunt, exact=False) == (Ball(1), Ball(2))
    assert used == [256]
    assert sharpened(lambda: (INFINITE, INFINITE), exact=True) is FOREVER


def test_as_rational_and_is_zero() -> None:
    assert as_rational(Ball(0.375)) == F(3, 8)
    assert as_rational(F(1, 3)) == F(1, 3)
    assert is_zero(F(0))
    assert is_zero(Ball(0))
    assert not is_zero(Ball(0, 1e-90))
    assert not is_zero(F(1, 10**90))
    with pytest.raises(ValueError, match="exact"):
        as_rational(Ball(1, 0.1))


def test_checked_says_what_is_exact() -> None:
    half = (F(1, 2), F(1, 2))
    assert checked(half, half) == (half, half, True)
    p, q, exact = checked((Ball(0.5), F(1, 2)), half)
    assert not exact
    assert all(isinstance(x, Ball) for x in p + q)
    p, _, _ = checked((Ball(0, 1e-60), Ball(1, 1e-60)), half)
    assert float_below(p[0]) >= -1e-59
    assert float_above(p[0]) > 0


@pytest.mark.parametrize(
    "bad", [(F(1, 2),), (F(1, 2), F(1, 4)), (F(2), F(-1)), (Ball(2), Ball(-1)), (Ball.nan(), F(1))]
)
def test_checked_refuses_what_is_no_law(bad: tuple[object, ...]) -> None:
    good = (F(1, 2), F(1, 2))
    for p, q in ((bad, good), (good, bad)):
        with pytest.raises(MatrixError):
            checked(p, q)


# Trade-off functions.

KINKED = tradeoff.vertices(((0, "9/10"), ("1/5", "1/2"), ("3/5", "1/10"), (1, 0)))


def test_power_of_a_tradeoff_function() -> None:
    assert tradeoff.power(KINKED, F(0)) == F(1, 10)
    assert tradeoff.power(KINKED, F(1, 10)) == F(3, 10)
    assert tradeoff.power(KINKED, F(1, 5)) == F(1, 2)
    assert tradeoff.power(KINKED, F(4, 5)) == F(19, 20)
    assert tradeoff.power(KINKED, F(1)) == 1


@pytest.mark.parametrize("up", [True, False])
def test_steps_count_applications(up: bool) -> None:
    level, expected = F(1, 100), 0
    while level < F(99, 100):
        assert tradeoff.steps(KINKED, F(1, 100), level, up=up) == expected
        level, expected = tradeoff.power(KINKED, level), expected + 1
    assert expected > 5
    assert tradeoff.steps(KINKED, F(1, 2), F(1, 2), up=up) == 0
    assert tradeoff.steps(KINKED, F(1, 2), F(1, 10), up=up) == 0


def test_steps_round_against_their_side() -> None:
    x = F(1, 3**3000)
    assert tradeoff._rounded(x, up=True) <= x <= tradeoff._rounded(x, up=False)
    assert tradeoff._rounded(x, up=False) - tradeoff._rounded(x, up=True) == F(1, 2**4096)
    assert tradeoff._rounded(F(1, 3), up=True) == F(1, 3)


def test_floats_near_the_curve_of_a_fine_grid() -> None:
    # A discretised Gaussian pair: μ from the curve is close to the shift in standard deviations.
    from quincunx.spec.standard import GaussianDP

    # Cells up to the tails have the same mass ratio as the density at their ends, so μ is above 1/2, and not by much.
    edges = [-math.inf, *(x / 4 for x in range(-6, 9)), math.inf]

    def cell(shift: float) -> worlds.Law:
        cdf = [float(worlds.norm.cdf(x - shift)) for x in edges]
        return worlds.law([round((b - a) * 10**12) for a, b in pairwise(cdf)])

    found = GaussianDP().least(cell(0), cell(0.5))
    # Grouping is post-processing: at most 1/2 up to the rounding of the cells, and nearly attained.
    assert float_above(found.upper) <= 0.5 + 1e-9
    assert float_below(found.lower) >= 0.5 - 1e-9
