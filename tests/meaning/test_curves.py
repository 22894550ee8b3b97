"""δ(ε) of every standard, against the exact δ(ε) of small worlds that satisfy it."""

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

from quincunx.errors import PrivacyError
from quincunx.finite import Mechanism
from quincunx.meaning.curves import delta_of
from quincunx.numbers import Ball, Log, ball, precision
from quincunx.spec import standard
from quincunx.spec.implication import extremal
from quincunx.spec.order import rounded_up

from ..spec.small_worlds import blended, random_mechanism

GROWTHS = [Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(10), Fraction(1000)]
STANDARDS: list[standard.Standard] = [
    standard.Pure(),
    standard.Approximate("1/20"),
    standard.Approximate("1/3"),
    standard.ZCDP(),
    standard.ZCDP("1/20"),
    standard.Renyi(2),
    standard.Renyi("3/2"),
    standard.GaussianDP(),
    standard.KL(),
    standard.TV(),
]


def exact_delta(p: Any, q: Any, growth: Fraction) -> Fraction:
    """sup over events of P(S) − growth·Q(S), the larger of both directions."""
    return max(
        sum((max(Fraction(0), a - growth * b) for a, b in zip(x, y, strict=True)), Fraction(0))
        for x, y in ((p, q), (q, p))
    )


@pytest.mark.parametrize("kind", STANDARDS, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_no_world_exceeds_the_curve(kind: standard.Standard, seed: int) -> None:
    source = random.Random(f"curves {seed}")
    world = blended(random_mechanism(source, [0, 1], 4), Fraction(1, source.choice((3, 10, 100))))
    p, q = (tuple(Fraction(each) for each in world.law(x)) for x in (0, 1))  # type: ignore[arg-type]
    found = kind.least(p, q)
    intensity = found.exact if found.exact is not None else rounded_up(found.upper)
    with precision(256):
        delta = delta_of(kind, intensity)
        for growth in GROWTHS:
            at = Ball(0) if growth == 1 else ball(Log(growth))
            assert not delta(at) < ball(exact_delta(p, q, growth))


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 20), Fraction(1, 3)])
@pytest.mark.parametrize("growth", GROWTHS)
def test_pure_and_approximate_are_those_of_the_worst_pair(delta: Fraction, growth: Fraction) -> None:
    p, q = extremal(Log(3), delta)
    with precision(256):
        found = delta_of(standard.Approximate(delta), Log(3))(ball(Log(growth)))
        assert found.contains(ball(exact_delta(p, q, growth)))


POLYGONS = [
    [(0, 1), ("1/4", "1/4"), (1, 0)],
    [(0, "9/10"), ("1/2", "1/10"), (1, 0)],
    [(0, 1), (1, 0)],
    [(0, "1/2"), (1, 0)],
]


@pytest.mark.parametrize("points", POLYGONS, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_polygons(points: Any, seed: int) -> None:
    kind = standard.Tradeoff(points)
    source = random.Random(f"polygons {seed}")
    for share in (Fraction(1, 2), Fraction(1, 5), Fraction(1, 20)):
        world = blended(random_mechanism(source, [0, 1], 4), share)
        p, q = (tuple(Fraction(each) for each in world.law(x)) for x in (0, 1))  # type: ignore[arg-type]
        if kind.least(p, q).exact is None or kind.least(p, q).exact > 1:  # type: ignore[operator]
            continue
        with precision(256):
            for growth in GROWTHS:
                assert not delta_of(kind, Fraction(1))(ball(Log(growth))) < ball(exact_delta(p, q, growth))


def test_polygons_know_zero_and_one_step_only() -> None:
    kind = standard.Tradeoff(POLYGONS[0])
    with precision(256):
        assert delta_of(kind, Fraction(0))(Ball(0)) == 0
        # One corner at (1/4, 1/4) is randomized response at e^ε = 3.
        assert delta_of(kind, Fraction(1))(ball(Log(2))).contains(ball(Fraction(1, 4)))
        assert not delta_of(kind, Fraction(1))(ball(Log(3))) > Ball(1e-60)
    with pytest.raises(PrivacyError, match="applied several times"):
        delta_of(kind, Fraction(2))


def test_zero_intensity_hides_everything() -> None:
    for kind in STANDARDS:
        with precision(256):
            at_zero = delta_of(kind, Fraction(0))(Ball(0))
            assert not at_zero > ball(getattr(kind, "delta", Fraction(0))) + Ball(1e-60)


@pytest.mark.parametrize("kind", STANDARDS, ids=str)
def test_curves_fall_from_at_most_one_and_rise_with_the_intensity(kind: standard.Standard) -> None:
    with precision(256):
        for small, large in itertools.pairwise((Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))):
            for growth, further in itertools.pairwise(GROWTHS):
                here = delta_of(kind, large)(ball(Log(growth)))
                assert not here > 1
                assert not delta_of(kind, large)(ball(Log(further))) > here
                assert not delta_of(kind, small)(ball(Log(growth))) > here


def test_other_divergences_are_refused() -> None:
    with pytest.raises(PrivacyError, match="no error probabilities are derived from Divergence") as caught:
        delta_of(standard.Divergence("chi-squared"), Fraction(1, 10))
    assert caught.value.hint


def test_a_world_that_breaks_its_claim_exceeds_the_curve() -> None:
    world = Mechanism({0: {"a": "9/10", "b": "1/10"}, 1: {"a": "1/10", "b": "9/10"}})
    p, q = (world.law(x) for x in (0, 1))
    with precision(256):
        assert delta_of(standard.Pure(), Log(3))(Ball(0)) < ball(exact_delta(p, q, Fraction(1)))
