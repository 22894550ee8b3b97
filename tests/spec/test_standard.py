"""Every standard's smallest intensity against brute force over all events, its group map, words and JSON."""

from __future__ import annotations

import json
import math
import pickle
import random
from fractions import Fraction
from itertools import pairwise

import pytest
import worlds

from quincunx.errors import MatrixError, ParameterError, SpecificationError
from quincunx.numbers import Ball, Log, ball, float_above, float_below, precision
from quincunx.spec.standard import (
    KL,
    TV,
    ZCDP,
    Approximate,
    Concentrated,
    Divergence,
    GaussianDP,
    Least,
    MeanConcentrated,
    NormalisedRenyi,
    PowerDivergence,
    Probabilistic,
    Pure,
    RangeBounded,
    Relaxed,
    Renyi,
    Standard,
    Tradeoff,
    adds_up,
    from_json,
    is_budgeted,
)

F = Fraction
TENT = ((0, 1), ("2/5", "2/5"), (1, 0))
LEAKY = ((0, "9/10"), ("3/10", "3/10"), ("9/10", 0), (1, 0))
SKEW = ((0, 1), ("1/10", "1/2"), ("1/2", "1/5"), (1, 0))
HALF = (F(1, 2), F(1, 2))
RESPONSE = (F(3, 4), F(1, 4))
CATALOGUE: list[Standard] = [
    Pure(),
    Approximate(0),
    Approximate("1/20"),
    Approximate("1/3"),
    ZCDP(),
    ZCDP("1/20"),
    Renyi("3/2"),
    Renyi(2),
    Renyi(17),
    GaussianDP(),
    NormalisedRenyi(),
    Tradeoff(TENT),
    Tradeoff(LEAKY),
    KL(),
    TV(),
    *(Divergence(f) for f in ("kl", "reverse-kl", "total-variation", "chi-squared", "squared-hellinger")),
    Divergence("jensen-shannon"),
    Probabilistic("1/20"),
    Relaxed("1/20", "1/50"),
    RangeBounded(),
    Concentrated("1/10", 9),
    Concentrated("1/3"),
    MeanConcentrated(),
    PowerDivergence(1),
    PowerDivergence(3),
]


def names(standard: Standard) -> str:
    return f"{standard.kind}-{'-'.join(str(getattr(standard, name))[:12] for name in standard.parameters)}"


def close(found: Least, expected: float, tolerance: float = 1e-9, slack: float = 1e-13) -> None:
    """The certified bounds agree with a float of known accuracy."""
    if math.isinf(expected):
        assert not found.lower.is_finite()
        return
    assert float_below(found.lower) <= expected * (1 + tolerance) + slack
    assert float_above(found.upper) >= expected * (1 - tolerance) - slack
    assert float_above(found.upper) - float_below(found.lower) <= 2e-6 * expected + slack


def enclosed(found: Least) -> None:
    assert not found.lower > found.upper
    assert float_below(found.lower) >= 0
    if found.exact is not None:
        with precision(512):
            assert not found.lower > ball(found.exact)
            assert not found.upper < ball(found.exact)


# Brute force over all events.


@pytest.mark.parametrize("delta", ["0", "1/1000000", "1/20", "1/3", "9/10"])
def test_epsilon_is_the_largest_over_all_events(delta: str) -> None:
    finite = infinite = 0
    for p, q in worlds.pairs(f"epsilon {delta}", 250):
        found = Approximate(delta).least(p, q)
        expected = worlds.brute_ratio(p, q, F(delta))
        enclosed(found)
        if expected is None:
            infinite += 1
            assert found.exact is None
            assert not found.lower.is_finite()
        else:
            finite += 1
            assert found.exact == (Log(expected) if expected > 1 else 0)
    assert finite > 30
    assert infinite > 5 or delta == "9/10"


def test_pure_is_the_largest_log_ratio_over_all_events() -> None:
    for p, q in worlds.pairs("pure", 300):
        found, expected = Pure().least(p, q), worlds.brute_ratio(p, q, F(0))
        assert found.exact == (None if expected is None else Log(expected) if expected > 1 else F(0))
        assert found.lower.is_finite() == (expected is not None)


@pytest.mark.parametrize("standard", [Pure(), Approximate("1/20"), TV()], ids=names)
def test_the_witness_attains_the_intensity(standard: Standard) -> None:
    seen = 0
    for p, q in worlds.pairs("witness", 300):
        found = standard.least(p, q)
        first, second = (q, p) if found.swapped else (p, q)
        power, level = worlds.mass(first, found.event), worlds.mass(second, found.event)
        delta = getattr(standard, "delta", F(0))
        if found.exact is None:
            assert power > delta
            assert level == 0
        elif isinstance(found.exact, Log):
            assert power - delta == found.exact.of * level
            seen += 1
        elif standard == TV():
            assert power - level == found.exact
            seen += 1
    assert seen > 100


def test_total_variation_is_the_largest_difference_over_all_events() -> None:
    for p, q in worlds.pairs("tv", 300):
        found = TV().least(p, q)
        assert found.exact == worlds.brute_tv(p, q)
        assert Divergence("total-variation").least(p, q).exact == found.exact


def test_mu_is_the_largest_over_all_events() -> None:
    infinite = 0
    for p, q in worlds.pairs("gaussian", 250):
        expected = worlds.brute_mu(p, q)
        infinite += math.isinf(expected)
        found = GaussianDP().least(p, q)
        enclosed(found)
        # scipy's quantile of probabilities rounded to floats: absolute error up to about 1e-9 in differences.
        close(found, expected, slack=1e-9)
    assert 20 < infinite < 200


@pytest.mark.parametrize("points", [TENT, LEAKY, SKEW], ids=["tent", "leaky", "skew"])
def test_steps_of_a_tradeoff_over_all_events(points: tuple[tuple[object, object], ...]) -> None:
    standard = Tradeoff(points)
    finite = infinite = 0
    for p, q in worlds.pairs("steps", 150):
        found, expected = standard.least(p, q), worlds.brute_steps(p, q, standard.points, 40)
        if expected is None:
            assert found.exact is None or found.exact > 40
            assert float_above(found.upper) > 40
            infinite += 1
        else:
            assert found.exact == expected
            finite += 1
    assert finite > 30
    # A curve with f(0) < 1 grows from any level, so it catches up with every pair.
    assert infinite > 10 or points == LEAKY


def test_a_tradeoff_is_certainly_infinite_where_its_iterates_stop() -> None:
    tent = Tradeoff(TENT).least((F(1), F(0)), HALF)
    assert not tent.lower.is_finite()
    perfect = Tradeoff(((0, 1), (1, 0)))
    assert not perfect.least(RESPONSE, HALF).lower.is_finite()
    assert perfect.least(HALF, HALF).exact == 0


def test_a_long_search_for_steps_is_bounded_and_honest() -> None:
    slow = Tradeoff(((0, 1), ("1/2", "4999999/10000000"), (1, 0)))
    found = slow.least(RESPONSE, RESPONSE[::-1])
    assert float_below(found.lower) == 1001
    assert not found.upper.is_finite()
    assert found.exact is None


def test_steps_with_long_denominators_agree_with_plain_iteration() -> None:
    f = Tradeoff(((0, 1), ("123456789/1000000007", "870370000/1000000007"), (1, 0)))
    p, q = (F(1, 10**9), 1 - F(1, 10**9)), (F(1, 10**11), 1 - F(1, 10**11))
    expected = worlds.brute_steps(p, q, f.points, 1000)
    found = f.least(p, q)
    assert found.exact == expected is not None
    assert expected > 200


# Sums over outputs, against floats.


@pytest.mark.parametrize("name", worlds.SHAPES)
def test_f_divergences_against_their_definition(name: str) -> None:
    f, at_zero, slope = worlds.SHAPES[name]
    for p, q in worlds.pairs(f"divergence {name}", 200):
        found = Divergence(name).least(p, q)
        enclosed(found)
        # Terms of size up to 1 that cancel: an absolute error of a few ulps.
        close(found, worlds.in_floats(p, q, f, at_zero, slope), slack=1e-14 * 100)


def test_chi_squared_is_exact() -> None:
    for p, q in worlds.pairs("chi", 100):
        if all((a > 0) == (b > 0) for a, b in zip(p, q, strict=True)):
            both = [sum(((a - b) ** 2 / b for a, b in zip(x, y, strict=True) if b), F(0)) for x, y in worlds.both(p, q)]
            assert Divergence("chi-squared").least(p, q).exact == max(both)


def test_a_custom_divergence_agrees_with_the_named_one() -> None:
    custom = Divergence(lambda t: (t - 1) * (t - 1), at_zero=1, slope=math.inf)
    le_cam = Divergence(lambda t: (1 - t) * (1 - t) / (2 * (1 + t)), at_zero="1/2", slope=F(1, 2))
    for p, q in worlds.pairs("custom", 60):
        named = Divergence("chi-squared").least(p, q)
        found = custom.least(p, q)
        assert found.lower.is_finite() == named.lower.is_finite()
        if named.exact is not None:
            with precision(300):
                assert not found.lower > ball(named.exact)
                assert not found.upper < ball(named.exact)
        close(le_cam.least(p, q), worlds.in_floats(p, q, lambda t: (1 - t) ** 2 / (2 + 2 * t), 0.5, 0.5), slack=1e-14)


@pytest.mark.parametrize("alpha", ["1.0001", "3/2", "2", "17", "1000"])
def test_renyi_against_floats(alpha: str) -> None:
    infinite = 0
    for p, q in worlds.pairs(f"renyi {alpha}", 150):
        expected = worlds.renyi_floats(p, q, float(F(alpha)))
        infinite += math.isinf(expected)
        found = Renyi(alpha).least(p, q)
        enclosed(found)
        # The float sum is near 1, so its logarithm is off by an ulp of 1, divided by α − 1.
        close(found, expected, slack=1e-14 / float(F(alpha) - 1) + 1e-14)
    assert infinite > 10


def test_zcdp_is_the_supremum_over_orders() -> None:
    grid = [1 + math.exp(s / 12) for s in range(-60, 140)]
    finite = 0
    for p, q in worlds.pairs("zcdp", 80):
        found = ZCDP().least(p, q)
        enclosed(found)
        kl = float_below(KL().least(p, q).lower)
        values = [worlds.renyi_floats(p, q, alpha) / alpha for alpha in grid]
        best = max(*values, kl)
        if math.isinf(best):
            assert not found.lower.is_finite()
            continue
        finite += 1
        assert best <= float_above(found.upper) * (1 + 1e-9) + 1e-11
        # D_α/α changes by at most the step of ln α between grid points: 1/12, refined by the curve's flatness.
        assert float_below(found.lower) <= best * (1 + 1 / 12) + 1e-11
        assert float_above(found.upper) <= float_below(found.lower) * (1 + 1e-4) + 1e-300
    assert finite > 40


def test_zcdp_lower_bound_is_attained_by_some_order() -> None:
    rng = random.Random("attained")
    for _ in range(8):
        p, q = worlds.dense(rng, 4), worlds.dense(rng, 4)
        found = ZCDP().least(p, q)
        target = float_below(found.lower)
        fine = (worlds.renyi_floats(p, q, 1 + math.exp(s / 400)) / (1 + math.exp(s / 400)) for s in range(-3000, 2500))
        assert max(fine) == pytest.approx(target, rel=1e-4)


def test_zcdp_of_randomized_response_is_its_kl() -> None:
    # The supremum is at α → 1, where the enclosure must not stop short.
    for odds in (F(3), F(100), F(1001, 1000), F(10**9 + 1, 10**9)):
        p = (odds / (1 + odds), 1 / (1 + odds))
        found, expected = ZCDP().least(p, p[::-1]), KL().least(p, p[::-1])
        with precision(256):
            assert not found.lower > expected.upper
            assert not found.upper < expected.lower
            assert float_above((found.upper - found.lower) / found.upper) < 2e-6


def test_zcdp_of_a_rare_output_needs_large_orders() -> None:
    # P has a rare output 1000 times as likely as under Q: the supremum is at an order far above 1.
    p, q = (F(1, 10**6), 1 - F(1, 10**6)), (F(1, 10**9), 1 - F(1, 10**9))
    found = ZCDP().least(p, q)
    assert float_below(found.lower) > 1e3 * float_above(KL().least(p, q).upper)
    best = max(worlds.renyi_floats(p, q, a / 100) / (a / 100) for a in range(101, 2000))
    assert float_below(found.lower) == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_symmetric_in_the_two_laws(standard: Standard) -> None:
    for p, q in worlds.pairs("symmetric", 25):
        one, other = standard.least(p, q), standard.least(q, p)
        assert one.exact == other.exact
        assert one.lower.is_finite() == other.lower.is_finite()
        if one.upper.is_finite():
            assert float_above(one.upper) == pytest.approx(float_above(other.upper), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_equal_laws_need_nothing(standard: Standard) -> None:
    for p, _ in worlds.pairs("equal", 10):
        found = standard.least(p, p)
        assert found.exact == 0
        assert found.upper == 0


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_different_laws_need_something(standard: Standard) -> None:
    # A part that may be left out, or an offset that every order has, covers a small difference.
    if getattr(standard, "delta", F(0)) == 0 and getattr(standard, "xi", F(0)) == 0:
        p = (F(1, 2) + F(1, 10**40), F(1, 2) - F(1, 10**40))
        assert standard.least(p, HALF).lower > 0


def test_laws_that_differ_in_the_hundredth_decimal_stay_sharp() -> None:
    p = (F(1, 2) + F(1, 10**200), F(1, 2) - F(1, 10**200))
    for standard in (KL(), Renyi(2), GaussianDP(), ZCDP(), Divergence("squared-hellinger")):
        found = standard.least(p, HALF)
        with precision(256):
            assert found.lower > 0
            assert found.upper <= found.lower * Ball(1.1)


# Approximate zCDP.


def test_approximate_zcdp_upper_bound_has_a_decomposition() -> None:
    finite = 0
    for p, q in worlds.pairs("approximate zcdp", 45):
        for delta in (F(1, 20), F(1, 3)):
            found = ZCDP(delta).least(p, q)
            enclosed(found)
            ratio = worlds.brute_ratio(p, q, delta)
            if ratio is None:
                assert not found.lower.is_finite()
                continue
            kept = [tuple(min(a, ratio * b) for a, b in zip(x, y, strict=True)) for x, y in worlds.both(p, q)]
            first, second = (tuple(a / sum(part) for a in part) for part in kept)
            assert all((1 - delta) * a <= b for a, b in zip(first + second, p + q, strict=True))
            inner = ZCDP().least(first, second)
            whole = ZCDP().least(p, q)
            best = min(float_above(inner.upper), float_above(whole.upper))
            assert float_above(found.upper) <= best * (1 + 1e-12)
            assert float_above(found.upper) >= best * (1 - 1e-12)
            finite += 1
    assert finite > 40


def test_approximate_zcdp_lower_bound_is_below_every_decomposition() -> None:
    rng = random.Random("decompositions")
    positive = 0
    for _ in range(80):
        n = rng.randint(2, 5)
        delta = rng.choice((F(1, 100), F(1, 10), F(1, 3)))
        inner = worlds.dense(rng, n), worlds.dense(rng, n)
        p, q = (
            tuple((1 - delta) * a + delta * b for a, b in zip(part, worlds.sparse(rng, n), strict=True))
            for part in inner
        )
        found = ZCDP(delta).least(p, q)
        assert not found.lower > ZCDP().least(*inner).upper
        positive += bool(found.lower > 0)
    assert positive > 20


def test_approximate_zcdp_is_zero_exactly_within_total_variation() -> None:
    p, q = (F(1), F(0)), (F(9, 10), F(1, 10))
    assert ZCDP("1/10").least(p, q).exact == 0
    just_below = ZCDP("99/1000").least(p, q)
    assert not just_below.lower.is_finite()
    assert ZCDP("99/1000").least(RESPONSE, HALF).lower > 0


# Balls.


def as_balls(rng: random.Random, p: worlds.Law, radius: str) -> tuple[Ball, ...]:
    """Balls of the given radius that contain the true values off centre; exact zeros stay exact."""
    made = []
    with precision(256):
        for x in p:
            shift = ball(F(radius) * rng.randint(-9, 9) / 10)
            made.append(Ball(0) if x == 0 else ball(x) + shift + Ball(0, float(F(radius))))
    return tuple(made)


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_balls_enclose_the_exact_answer(standard: Standard) -> None:
    rng = random.Random(f"balls {names(standard)}")
    sharp = 0
    for p, q in worlds.pairs("balls", 40):
        exact = standard.least(p, q)
        found = standard.least(as_balls(rng, p, "1e-40"), as_balls(rng, q, "1e-40"))
        enclosed(found)
        with precision(256):
            assert not found.lower > exact.upper * Ball(1 + 1e-12)
            assert not found.upper < exact.lower * Ball(1 - 1e-12)
            if found.upper.is_finite() and exact.upper.is_finite():
                sharp += bool(found.upper - found.lower <= exact.upper - exact.lower + Ball(1e-5))
    # A knapsack of balls is enclosed between two hockey sticks.
    assert sharp > (0 if standard.kind == "relaxed" else 8)


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_balls_that_may_be_equal_laws(standard: Standard) -> None:
    # Every ratio is undecided: one cluster, whose roof keeps both ends certified.
    rng = random.Random("equal balls")
    base = worlds.dense(rng, 5)
    found = standard.least(as_balls(rng, base, "1e-50"), as_balls(rng, base, "1e-50"))
    assert found.lower <= Ball(1e-20)
    if standard.kind != "tradeoff":
        assert found.upper <= Ball(1e-6)


@pytest.mark.parametrize("standard", [Pure(), GaussianDP(), KL(), Renyi(2), ZCDP()], ids=names)
def test_a_ball_that_may_be_zero_is_undecided_not_finite(standard: Standard) -> None:
    tiny = Ball(0, 1e-60)
    found = standard.least((tiny, Ball(1, 1e-60)), (Ball(0.5), Ball(0.5)))
    assert not found.upper.is_finite()


def test_mixed_laws_become_balls() -> None:
    found = Pure().least((Ball(0.75), Ball(0.25)), (*HALF[:1], F(1, 2)))
    assert found.exact is None
    with precision(256):
        assert not found.lower > Ball(2).log()
        assert not found.upper < Ball(2).log()
        assert found.upper - found.lower < Ball(1e-60)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ((), ()),
        ((F(1),), (F(1, 2), F(1, 2))),
        ((F(1, 2), F(1, 3)), HALF),
        ((F(3, 2), F(-1, 2)), HALF),
        (HALF, (F(1), F(1))),
        ((Ball(0.5), Ball(0.25)), HALF),
        ((Ball.nan(), Ball(0.5)), HALF),
        ((Ball(1.5), Ball(-0.5)), HALF),
        ((Ball(0.5, 0.1), Ball(0.5, 0.1)), HALF),
        ((Ball.pos_inf(), Ball(0.5)), HALF),
    ],
)
def test_what_is_not_a_pair_of_laws_is_refused(p: tuple[object, ...], q: tuple[object, ...]) -> None:
    with pytest.raises(MatrixError):
        TV().least(p, q)


# Group maps.


def stated(found: Least) -> Fraction | Log | None:
    """An exact intensity that the pair certainly satisfies, close to the least one."""
    if found.exact is not None:
        return found.exact
    if not found.upper.is_finite():
        return None
    return F(float_above(found.upper)) if float_above(found.upper) > 1e-290 else None


def at_most(found: Least, bound: object) -> bool:
    with precision(512):
        top = bound if isinstance(bound, Ball) else ball(bound)
        return not found.lower > top.upper()


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_group_maps_hold_on_chains(standard: Standard) -> None:
    rng = random.Random(f"chains {names(standard)}")
    used = 0
    for _ in range(25):
        k = rng.randint(2, 4)
        laws = worlds.chain(rng, k)
        steps = [stated(standard.least(a, b)) for a, b in pairwise(laws)]
        if any(step is None for step in steps):
            continue
        with precision(256):
            worst = max(steps, key=lambda step: float_above(ball(step)))
        got = standard.group(worst, k)
        if got is None:
            continue
        used += 1
        wider, bound = got
        assert at_most(wider.least(laws[0], laws[-1]), bound)
    known = (
        standard.kind in {"pure", "approximate", "normalised-renyi", "gaussian", "tv", "tradeoff"} or standard == ZCDP()
    )
    # With δ = 1/3 most groups reach δ = 1, where nothing is claimed.
    assert used > (2 if standard == Approximate("1/3") else 6) if known else used == 0


def test_group_maps_are_attained() -> None:
    k, ratio = 3, F(3)
    ends = [(F(3, 4), F(1, 4), F(0)), (F(1, 2), F(1, 2), F(0)), (F(1, 4), F(3, 4), F(0))]
    assert TV().group(F(1, 4), 2) == (TV(), F(1, 2))
    assert TV().least(ends[0], ends[2]).exact == F(1, 2)
    # Weights ratio^j on a rare output: each step costs nearly ln(ratio), k steps nearly k·ln(ratio).
    rare = [(F(1, 10**12) * ratio**j, 1 - F(1, 10**12) * ratio**j) for j in range(k + 1)]
    assert Pure().least(rare[0], rare[1]).exact == Log(3)
    assert Pure().least(rare[0], rare[-1]).exact == Pure().group(Log(3), k)[1] == Log(27)


def test_the_group_map_of_approximate_is_attained() -> None:
    # A mass δ enters at each step and grows by e^ε at each later one.
    delta, ratio, k = F(1, 10**6), F(2), 4
    masses = [F(0)]
    for _ in range(k):
        masses.append(ratio * masses[-1] + delta)
    laws = [(m, 1 - m) for m in masses]
    assert all(worlds.hockey_stick(a, b, ratio) <= delta for a, b in pairwise(laws))
    wider, bound = Approximate(delta).group(Log(ratio), k)
    assert bound == Log(16)
    assert wider == Approximate(delta * 15)
    assert worlds.hockey_stick(laws[0], laws[-1], F(16)) == wider.delta


def bell(shift: int, width: int = 400) -> worlds.Law:
    """A discretised Gaussian, σ = 100 lattice steps, moved by `shift`."""
    return worlds.law([round(1e18 * math.exp(-((i - shift) ** 2) / 20_000)) + 1 for i in range(-width, width, 20)])


def test_the_group_maps_of_zcdp_and_gaussian_are_nearly_attained() -> None:
    laws = [bell(20 * j) for j in range(4)]
    rho, far = ZCDP().least(laws[0], laws[1]), ZCDP().least(laws[0], laws[3])
    assert 0.8 * 9 * float_above(rho.upper) < float_below(far.lower)
    tv_one, tv_far = TV().least(laws[0], laws[1]).exact, TV().least(laws[0], laws[3]).exact
    assert 2.5 * tv_one < tv_far <= 3 * tv_one


def test_group_values() -> None:
    assert Pure().group(F(1, 2), 3) == (Pure(), F(3, 2))
    assert ZCDP().group(F(1, 2), 3) == (ZCDP(), F(9, 2))
    assert ZCDP().group(Log(2), 2) == (ZCDP(), Log(16))
    assert GaussianDP().group(F(1, 2), 3) == (GaussianDP(), F(3, 2))
    assert Tradeoff(TENT).group(F(2), 3) == (Tradeoff(TENT), F(6))
    assert TV().group(F(1, 2), 3) == (TV(), F(1))
    assert Approximate("1/10").group(F(0), 3) == (Approximate("3/10"), F(0))
    assert Approximate(0).group(F(5), 10) == (Approximate(0), F(50))
    assert Approximate("0.3").group(F(1), 3) is None
    assert Approximate("1/2").group(F(0), 2) is None
    for standard in (ZCDP("1/10"), Renyi(2), KL(), Divergence("kl")):
        assert standard.group(F(1), 2) is None
        assert standard.group(F(1), 1) == (standard, F(1))


def test_the_new_delta_is_rounded_up() -> None:
    for k in (2, 3, 7):
        for delta in (F(1, 10**6), F(1, 10**40), F(1, 3 * 10**9)):
            wider, bound = Approximate(delta).group(F(1, 10), k)
            with precision(512):
                truth = ball(delta) * (Ball(k) / 10).expm1() / (Ball(1) / 10).expm1()
                assert ball(wider.delta) >= truth.upper()
                assert ball(wider.delta) <= truth * Ball("1.0000000000000000000000000001")
            assert bound == F(k, 10)


def test_a_huge_group_stays_bounded() -> None:
    _, bound = Pure().group(Log(F(10**50 + 1, 10**50)), 10**9)
    assert isinstance(bound, Ball)
    assert Approximate("1/10").group(Log(3), 10**6) is None


@pytest.mark.parametrize("k", [0, -1, F(1, 2), 1.5, True, "two", math.nan])
def test_group_sizes_are_whole_numbers(k: object) -> None:
    with pytest.raises(ParameterError):
        Pure().group(F(1), k)


# Intensities, words, formulas, JSON.


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
@pytest.mark.parametrize("intensity", [F(-1), Log("1/2"), 1, 0.5, "1", math.nan, math.inf, None])
def test_intensities_that_are_refused(standard: Standard, intensity: object) -> None:
    with pytest.raises(ParameterError):
        standard.check(intensity)


def test_intensities_that_some_standards_refuse() -> None:
    for value in (F(11, 10), Log(3)):
        with pytest.raises(ParameterError, match="at most 1"):
            TV().check(value)
    for value in (F(1, 2), Log(3)):
        with pytest.raises(ParameterError, match="whole number"):
            Tradeoff(TENT).check(value)
    TV().check(F(1))
    Tradeoff(TENT).check(F(3))
    Pure().check(Log(3))


@pytest.mark.parametrize("delta", [-1, "-1/1000", 1, "1.5", math.nan, math.inf, "x", None, True])
@pytest.mark.parametrize("kind", [Approximate, ZCDP])
def test_delta_is_at_least_0_and_below_1(kind: type[Standard], delta: object) -> None:
    with pytest.raises(ParameterError):
        kind(delta)


@pytest.mark.parametrize("alpha", [1, "1", 0, -2, "0.5", math.nan, math.inf, None])
def test_orders_are_above_1(alpha: object) -> None:
    with pytest.raises(ParameterError):
        Renyi(alpha)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ((), "two vertices"),
        ("0,1", "two vertices"),
        (3, "two vertices"),
        (((0, 1), (1,)), "pair"),
        (((0, 1), "10"), "pair"),
        (((0, 1), (1, "1/2")), "from α = 0"),
        ((("1/10", "1/2"), (1, 0)), "from α = 0"),
        (((0, 1), ("1/2", "1/4"), ("1/2", "1/5"), (1, 0)), "rise"),
        (((0, 1), ("1/2", "3/5"), (1, 0)), "at most 1"),
        (((0, "1/2"), ("1/4", "1/2"), ("1/2", 0), (1, 0)), "convex"),
        (((0, "1/5"), ("1/2", "2/5"), (1, 0)), "convex"),
        (((0, 2), (1, 0)), "probability"),
        (((0, math.nan), (1, 0)), "finite"),
        (((0, -1), (1, 0)), "probability"),
    ],
)
def test_malformed_tradeoffs(points: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Tradeoff(points)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"f": "hellinger"}, "unknown"),
        ({"f": "kl", "at_zero": 0}, "its own"),
        ({"f": "kl", "slope": 0}, "its own"),
        ({"f": 3}, "name or a function"),
        ({"f": lambda t: t * t, "at_zero": 0, "slope": math.inf}, "f\\(1\\) = 0"),
        ({"f": lambda t: 1 - t * t, "at_zero": 1, "slope": 0}, "convex"),
        ({"f": lambda t: t - 1}, "number"),
        ({"f": lambda t: t - 1, "at_zero": -1, "slope": math.nan}, "finite"),
    ],
)
def test_malformed_divergences(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Divergence(**arguments)


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_json_round_trip(standard: Standard) -> None:
    text = json.dumps(standard.to_json())
    assert from_json(json.loads(text)) == standard
    assert json.loads(text)["kind"] == standard.kind
    assert pickle.loads(pickle.dumps(standard)) == standard
    assert hash(from_json(json.loads(text))) == hash(standard)


def test_json_holds_exact_rationals() -> None:
    assert Approximate(0.1).to_json() == {"kind": "approximate", "delta": "1/10"}
    assert Tradeoff(TENT).to_json()["points"] == [["0", "1"], ["2/5", "2/5"], ["1", "0"]]
    assert Renyi("1.5").to_json() == {"kind": "renyi", "alpha": "3/2"}


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "concentrated"},
        {"kind": None},
        {"kind": ["pure"]},
        {"kind": "pure", "delta": "0"},
        {"kind": "approximate"},
        {"kind": "approximate", "delta": "0", "Delta": "0"},
        {"kind": "renyi", "order": "2"},
        {"kind": "divergence", "f": "kl", "at_zero": "0"},
        [],
        "pure",
    ],
)
def test_json_that_is_not_known_is_refused(data: object) -> None:
    with pytest.raises(SpecificationError):
        from_json(data)


def test_a_custom_divergence_has_no_json() -> None:
    with pytest.raises(SpecificationError, match="no JSON"):
        Divergence(lambda t: (t - 1) * (t - 1), at_zero=1, slope=math.inf).to_json()


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_words_and_formulas_name_the_symbol_and_the_number(standard: Standard) -> None:
    said = standard.words(F(1))
    assert said.startswith(f"{standard.symbol} = 1")
    assert said.endswith(".")
    assert not {"simply", "just", "obviously"} & set(said.split())
    assert r"\le" in standard.latex(F(1)) or r"\ge" in standard.latex(F(1))
    assert standard.latex(F(1)).count("{") == standard.latex(F(1)).count("}")


def test_words_of_particular_intensities() -> None:
    assert "more than 3 times" in Pure().words(Log(3))
    assert "e^(1) ≈ 2.719" in Pure().words(F(1))
    assert "1 times" in Pure().words(F(0))
    assert "δ = 1e-6" in Approximate("1e-6").words(F(1))
    assert "δ = 0.1" in ZCDP("1/10").words(F(1))
    assert "δ" not in ZCDP().words(F(1))
    assert "about 0.333333" in TV().words(F(10**60 // 3, 10**60))
    assert Pure().latex(F(1, 2)).endswith(r"\varepsilon = \tfrac{1}{2}")
    assert Pure().latex(Log(3)).endswith(r"\varepsilon = \ln 3")
    assert r"\delta = \tfrac{1}{10}" in Approximate("1/10").latex(Log("3/2"))


@pytest.mark.parametrize("standard", CATALOGUE, ids=names)
def test_standards_are_values(standard: Standard) -> None:
    with pytest.raises((AttributeError, TypeError)):
        standard.delta = F(1, 2)
    assert standard.linear_in_distance == (standard in (Pure(), NormalisedRenyi(), GaussianDP(), TV()))


class TestWhatABudgetAsks:
    @pytest.mark.parametrize("standard", CATALOGUE, ids=repr)
    def test_what_adds_up_is_what_a_filter_takes(self, standard):
        assert adds_up(standard) == isinstance(standard, Pure | Approximate | ZCDP | GaussianDP | Renyi)
        assert is_budgeted(standard) == isinstance(standard, Pure | Approximate | ZCDP | GaussianDP | Renyi)
        assert adds_up(standard) or standard.unadded
        assert adds_up(standard) or not is_budgeted(standard)
        assert standard.delta_budget == getattr(standard, "delta", 0)

    def test_what_is_no_standard_has_no_budget(self):
        assert not any(adds_up(each) or is_budgeted(each) for each in (None, "pure", 1, Pure))

    @pytest.mark.parametrize("standard", [each for each in CATALOGUE if adds_up(each)], ids=repr)
    def test_an_event_bounds_the_intensity_from_below(self, standard):
        source = random.Random(7)
        for _ in range(20):
            p, q = sorted((F(source.randint(0, 40), 40), F(source.randint(0, 40), 40)), reverse=True)
            if q == p:
                continue
            # Any laws that give the event these probabilities, here spread over two outcomes each.
            inside, outside = F(source.randint(1, 9), 10), F(source.randint(1, 9), 10)
            first = [p * inside, p * (1 - inside), (1 - p) * outside, (1 - p) * (1 - outside)]
            second = [q * outside, q * (1 - outside), (1 - q) * inside, (1 - q) * (1 - inside)]
            with precision(256):
                assert not standard.least_of_event(p, q) > standard.least(first, second).upper
