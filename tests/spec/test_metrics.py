"""D_nor, the symmetric difference, and the metric of any relation: distances, linearity, composition, words."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from math import inf

import pytest
import worlds

from quincunx.errors import MisuseError, PrivacyError, SpecificationError
from quincunx.finite import Mechanism
from quincunx.loss import Filter
from quincunx.numbers import Log, ball, float_above, float_below
from quincunx.spec import Specification, standard, unit
from quincunx.spec.domain import Finite, Tables
from quincunx.spec.scope import Everything, Invariants
from quincunx.spec.standard import TV, ZCDP, GaussianDP, NormalisedRenyi, Pure
from quincunx.spec.unit import AddRemove, Hamming, Metric, Neighbours, Replace, SymmetricDifference, shortest_path

F = Fraction
P, Q = (F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))
MULTISETS = Finite.multisets("abc", range(4))
TABLE = Tables(columns={"person": "text", "value": "integer"})
LINEAR = [Pure(), NormalisedRenyi(), GaussianDP(), TV()]


def spec(what: unit.Unit, how: object, intensity: object = 1, on: object = TABLE, where: object = None):
    return Specification(domain=on, scope=where or Everything(), unit=what, standard=how, intensity=intensity)


def test_the_seeds_figures() -> None:
    found = NormalisedRenyi().least(P, Q)
    assert f"{float_above(found.upper):.4f}" == f"{float_below(found.lower):.4f}" == "0.7412"
    assert f"{float(NormalisedRenyi.root('2.63')):.4f}" == "1.6217"
    assert f"{float(NormalisedRenyi.root('15.29')):.4f}" == "3.9102"
    # Two people at ρ = 2.63.
    assert ZCDP().group(F("2.63"), 2) == (ZCDP(), F("10.52"))
    two = NormalisedRenyi().rho(NormalisedRenyi.root("2.63"), 2)
    assert F("10.52") <= two < F("10.52") + F(1, 10**10)


def test_roots_are_rounded_up_by_less_than_a_decimal() -> None:
    assert NormalisedRenyi.root(F(4, 9)) == F(2, 3)
    assert NormalisedRenyi.root(0) == 0
    for rho in (F("2.63"), F(1, 3), F(10**30 + 1), F(1, 10**30), F(2)):
        root = NormalisedRenyi.root(rho)
        assert root**2 >= rho
        assert max(root - F(1, 10**12), 0) ** 2 < rho


def test_it_is_the_root_of_rho_on_random_pairs() -> None:
    for p, q in worlds.pairs("normalised", 60):
        rho, found = ZCDP().least(p, q), NormalisedRenyi().least(p, q)
        assert found.lower.is_finite() == rho.lower.is_finite()
        if found.lower.is_finite():
            assert not (found.lower * found.lower).lower() > rho.upper
            assert not (found.upper * found.upper).upper() < rho.lower


def test_it_satisfies_the_triangle_inequality_where_rho_does_not() -> None:
    broken = 0
    rng = itertools.islice(worlds.pairs("triangle", 120), 120)
    laws = [law for pair in rng for law in pair if all(x > 0 for x in law)]
    for p, q, r in zip(laws, laws[1:], laws[2:], strict=False):
        if not len(p) == len(q) == len(r):
            continue
        ends, first, second = (NormalisedRenyi().least(*pair) for pair in ((p, r), (p, q), (q, r)))
        assert not ends.lower > first.upper + second.upper
        rhos = [each.upper * each.upper for each in (ends, first, second)]
        broken += bool(rhos[0] > rhos[1] + rhos[2] + ball(F(1, 1000)))
    assert broken > 0


@pytest.mark.parametrize("how", LINEAR, ids=lambda how: how.kind)
def test_metrics_go_with_every_linear_standard(how: standard.Standard) -> None:
    for what in (Hamming(), SymmetricDifference()):
        given = spec(what, how, F(1, 4))
        assert Specification.from_json(given.to_json()) == given
        assert given.describe()
    places = Finite(datasets=["x", "y"])
    assert spec(Metric({("x", "y"): F(1, 2)}), how, F(1, 4), places)


@pytest.mark.parametrize("how", LINEAR, ids=lambda how: how.kind)
def test_a_chain_of_laws_costs_in_proportion_to_its_length(how: standard.Standard) -> None:
    """Randomized response whose log-odds move by ln 3 with each step: pure ε = ln 3 a step."""
    laws = [(w / (1 + w), 1 / (1 + w)) for w in (F(3) ** k for k in range(-2, 3))]
    places = Finite(datasets=list(range(5)))
    line = Neighbours([(i, i + 1) for i in range(4)])
    world = Mechanism({i: dict(enumerate(laws[i])) for i in range(5)})
    single = spec(line, how, 1, places).tightest(world)
    whole = spec(shortest_path(line, places), how, 1, places).tightest(world)
    # The metric adds pairs at larger distances; by the triangle inequality none of them needs more for each step.
    assert whole.bounds[0] <= single.bounds[1] * (1 + 1e-9)
    assert single.bounds[0] <= whole.bounds[1] * (1 + 1e-9)


def test_shortest_paths_are_the_seeds_two_metrics() -> None:
    for relation, metric in ((Replace(), Hamming()), (AddRemove(), SymmetricDifference())):
        found = shortest_path(relation, MULTISETS)
        for x, y in itertools.product(MULTISETS.datasets, repeat=2):
            assert found.distance(x, y, MULTISETS) == metric.distance(x, y, MULTISETS)


def test_shortest_paths_of_a_relation() -> None:
    places = Finite(datasets=["a", "b", "c", "d"])
    found = shortest_path(Neighbours([("a", "b"), ("b", "c")]), places)
    assert found.distance("a", "c", places) == 2
    assert found.distance("a", "d", places) == inf
    weighted = Metric({("a", "b"): "1/2", ("b", "c"): "1/3", ("a", "c"): 5})
    assert shortest_path(weighted, places).distance("c", "a", places) == F(5, 6)
    with pytest.raises(SpecificationError, match="finite domain only"):
        shortest_path(Replace(), TABLE)


def test_the_symmetric_difference() -> None:
    world = Finite.multisets("ab", range(4))
    for x, y in itertools.product(world.datasets, repeat=2):
        steps = [k for k in range(7) if k and AddRemove(group=k).distance(x, y, world) <= 1]
        assert SymmetricDifference().distance(x, y, world) == (0 if x == y else steps[0])
    value = SymmetricDifference(key="person")
    assert "in proportion to their number" in value.words()
    assert "SymDiff" in value.latex()
    assert value.is_metric
    assert not value.moves_between_parts
    assert unit.from_json(value.to_json()) == value == eval(repr(value))
    assert value != AddRemove(key="person")
    assert SymmetricDifference().steps_to(Hamming()) == 2
    with pytest.raises(SpecificationError, match="no group of steps"):
        value.times(2)


def test_topdowns_guarantee_implies_steps_and_conversions() -> None:
    facts = Invariants({"total": "people of each state"})
    root = NormalisedRenyi.root("2.63")
    metric = spec(Hamming(), NormalisedRenyi(), root, where=facts)
    # √2.63 is rounded up, so ρ is a little more than 2.63.
    assert metric.implies(spec(Replace(), ZCDP(), "2.6300000001", where=facts))
    assert not metric.implies(spec(Replace(), ZCDP(), "2.62", where=facts))
    assert metric.implies(spec(Replace(group=2), ZCDP(), "10.5200000001", where=facts))
    assert not metric.implies(spec(Replace(group=2), ZCDP(), "10.51", where=facts))
    # A path of single replacements may leave the universe.
    assert not spec(Replace(), ZCDP(), "2.63", where=facts).implies(metric)
    assert spec(Replace(), ZCDP(), "2.63").implies(spec(Hamming(), NormalisedRenyi(), root))


def test_a_distance_below_one_is_not_converted_at_one() -> None:
    """TV at distance 1/2 under pure ε·d is tanh(ε/4), more than half of tanh(ε/2)."""
    places = Finite(datasets=["x", "y"])
    near = Metric({("x", "y"): "1/2"})
    ours = spec(near, Pure(), Log(81), places)
    half = math.tanh(math.log(81) / 4)
    assert not ours.implies(spec(near, TV(), F(1), places))
    assert half > 1 / 2
    law = {"x": {0: F(9, 10), 1: F(1, 10)}, "y": {0: F(1, 10), 1: F(9, 10)}}
    assert ours.holds(Mechanism(law))
    assert spec(near, TV(), F(1), places).holds(Mechanism(law)).status == "fails"


def test_composition_adds_squares_and_never_cuts_a_slope() -> None:
    one = spec(Hamming(), NormalisedRenyi(), 3)
    assert one.compose(spec(Hamming(), NormalisedRenyi(), 4)).intensity == 5
    both = spec(Replace(), NormalisedRenyi(), 3).compose(spec(Replace(), ZCDP(), 16))
    assert both.standard == NormalisedRenyi()
    assert 5 <= both.intensity < F("5.000000001")
    places = Finite(datasets=["x", "y"])
    near = spec(Metric({("x", "y"): "1/2"}), TV(), F(4, 5), places)
    with pytest.raises(PrivacyError, match="reaches 1 for a metric"):
        near.compose(near)
    assert spec(Replace(), TV(), F(4, 5)).compose(spec(Replace(), TV(), F(4, 5))).intensity == 1


def test_a_filter_says_which_standard_keeps_its_budget() -> None:
    with pytest.raises(MisuseError, match="ρ is what adds up"):
        Filter(NormalisedRenyi(), F(1))
