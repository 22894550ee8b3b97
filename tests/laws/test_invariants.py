"""Sufficiency and necessity of restricting the universe (seed 004), part by part, with the conditions of each part.

1. A release of the invariants c alone satisfies the specification on the scope of c at intensity 0, whatever the unit
   and the standard.
2. If the standard is infinite between laws without a common output, no finite intensity is enough on a scope in one of
   whose universes two datasets at finite distance disagree on c.
3. If the standard is 0 between equal laws only, a release that varies inside a universe, between datasets at finite
   distance, needs an intensity above 0.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Hashable
from fractions import Fraction

import pytest

from quincunx.errors import PrivacyError
from quincunx.finite import Mechanism
from quincunx.spec import Specification, domain, scope, standard, unit

WORLD = domain.Finite(datasets=["u", "v", "w", "x"])
STEPS = unit.Neighbours([("u", "v"), ("v", "w"), ("w", "x")])
SINGULAR = [
    standard.Pure(),
    standard.Approximate("1/10"),
    standard.ZCDP(),
    standard.Renyi(2),
    standard.GaussianDP(),
    standard.KL(),
    standard.Divergence("chi-squared"),
]
BOUNDED = [standard.TV(), standard.Divergence("squared-hellinger"), standard.Divergence("jensen-shannon")]


def spec(where: scope.Scope, how: standard.Standard, what: unit.Unit = STEPS, intensity: object = 0) -> Specification:
    return Specification(domain=WORLD, scope=where, unit=what, standard=how, intensity=intensity)


def partitions() -> list[dict[str, int]]:
    """Every invariant of four datasets, up to the names of its values."""
    found = {}
    for values in itertools.product(range(4), repeat=4):
        names = {value: place for place, value in reversed(list(enumerate(values)))}
        found[tuple(names[value] for value in values)] = values
    return [dict(zip(WORLD.datasets, values, strict=True)) for values in found.values()]


def invariants(values: dict[str, int]) -> scope.Invariants:
    return scope.Invariants({"c": ("the invariant", values.__getitem__)})


def release(function: Callable[[Hashable], Hashable]) -> Mechanism:
    return Mechanism({x: {function(x): 1} for x in WORLD.datasets})


pytestmark = pytest.mark.filterwarnings("ignore:no two datasets are at distance 1")


def test_there_are_fifteen_invariants() -> None:
    assert len(partitions()) == 15


@pytest.mark.parametrize("how", SINGULAR + BOUNDED, ids=repr)
def test_part_1_publishing_the_invariants_costs_nothing_inside(how: standard.Standard) -> None:
    for values in partitions():
        assert spec(invariants(values), how).holds(release(values.__getitem__))
        # Nor does anything that is computed from them, with noise or without.
        coarser = Mechanism({x: {values[x] // 2: "1/3", "noise": "2/3"} for x in WORLD.datasets})
        assert spec(invariants(values), how).holds(coarser)


@pytest.mark.parametrize("how", SINGULAR, ids=repr)
def test_part_2_no_finite_intensity_outside(how: standard.Standard) -> None:
    checked = 0
    for values, assumed in itertools.product(partitions(), repeat=2):
        found = spec(invariants(assumed), how).tightest(release(values.__getitem__)).intensity
        disagree = any(assumed[a] == assumed[b] and values[a] != values[b] for a, b in ("uv", "vw", "wx"))
        assert found == (math.inf if disagree else 0)
        checked += disagree
    assert checked > 50


@pytest.mark.parametrize("how", BOUNDED, ids=repr)
def test_part_2_needs_a_standard_that_is_infinite_on_singular_laws(how: standard.Standard) -> None:
    found = spec(scope.Everything(), how).tightest(release(lambda x: x == "u")).intensity
    assert 0 < found <= 1


def test_part_2_needs_a_finite_distance() -> None:
    # u and w disagree, but no step joins them.
    values = {"u": 0, "v": 0, "w": 1, "x": 1}
    apart = unit.Neighbours([("u", "v"), ("w", "x")])
    assert spec(scope.Everything(), standard.Pure(), apart).holds(release(values.__getitem__))


@pytest.mark.parametrize("how", [*SINGULAR[:1], *SINGULAR[2:], *BOUNDED], ids=repr)
def test_part_3_what_varies_inside_costs_something(how: standard.Standard) -> None:
    source = random.Random(f"part 3 {how!r}")
    for values in partitions():
        laws = [Fraction(source.choice((1, 1, 2, 5)), 10) for _ in WORLD.datasets]
        noisy = Mechanism({x: {"a": p, "b": 1 - p} for x, p in zip(WORLD.datasets, laws, strict=True)})
        law = dict(zip(WORLD.datasets, laws, strict=True))
        varies = any(values[a] == values[b] and law[a] != law[b] for a, b in ("uv", "vw", "wx"))
        assert (spec(invariants(values), how).tightest(noisy).intensity > 0) == varies


def test_part_3_needs_a_standard_that_tells_laws_apart() -> None:
    # With δ > 0 two laws that differ by less than δ are at distance 0: (ε, δ) is no metric.
    noisy = Mechanism({x: {"a": p, "b": 1 - p} for x, p in zip(WORLD.datasets, map(Fraction, "0001"), strict=True)})
    near = noisy.map(lambda o: o).post(Mechanism({"a": {"a": "21/40", "b": "19/40"}, "b": {"a": "1/2", "b": "1/2"}}))
    assert spec(scope.Everything(), standard.Approximate("1/10")).holds(near)
    assert not spec(scope.Everything(), standard.Pure()).holds(near)


def test_part_3_needs_a_finite_distance() -> None:
    noisy = Mechanism({x: {"a": "1/2", "b": "1/2"} if x in "uv" else {"a": 1} for x in WORLD.datasets})
    apart = unit.Neighbours([("u", "v"), ("w", "x")])
    assert spec(scope.Everything(), standard.Pure(), apart).holds(noisy)


@pytest.mark.parametrize("how", SINGULAR[:4], ids=repr)
def test_composition_holds_on_the_joined_scope_and_may_fail_on_each(how: standard.Standard) -> None:
    """Two releases, each with invariants of its own: together they hold where datasets agree on both."""
    source = random.Random(f"join {how!r}")
    failed = 0
    for one, two in itertools.product(partitions()[::2], partitions()[1::2]):
        releases, specs = [], []
        for name, values in (("c", one), ("d", two)):
            rows = {x: {(values[x], "a"): p, (values[x], "b"): 1 - p} for x in WORLD.datasets for p in [_share(source)]}
            releases.append(Mechanism(rows))
            where = scope.Invariants({name: (f"invariant {name}", values.__getitem__)})
            tight = spec(where, how).tightest(releases[-1])
            specs.append(spec(where, how, intensity=Fraction(math.ceil(tight.intensity * 1000) + 1, 1000)))
        both = Mechanism(
            {
                x: {(a, b): p * q for a, p in releases[0].row(x).items() for b, q in releases[1].row(x).items()}
                for x in WORLD.datasets
            }
        )
        total = specs[0].compose(specs[1])
        assert total.holds(both)
        failed += spec(specs[0].scope, total.standard).tightest(both).intensity == math.inf
    assert failed > 10


def _share(source: random.Random) -> Fraction:
    return Fraction(source.randint(3, 7), 10)


def test_a_guarantee_restricts_to_finer_invariants_and_to_no_others() -> None:
    """`within` on every pair of invariants agrees with the inclusion of universes."""
    source = random.Random("within")
    for coarse, fine in itertools.product(partitions(), repeat=2):
        pairs = list(itertools.combinations(WORLD.datasets, 2))
        inside = all(coarse[a] == coarse[b] for a, b in pairs if fine[a] == fine[b])
        noisy = Mechanism(
            {x: {(coarse[x], "a"): p, (coarse[x], "b"): 1 - p} for x in WORLD.datasets for p in [_share(source)]}
        )
        stated = spec(invariants(coarse), standard.Pure(), intensity=1)
        assert stated.holds(noisy)
        target = scope.Invariants({"d": ("another", fine.__getitem__)})
        if inside:
            assert stated.within(target).holds(noisy)
            assert stated.implies(stated.within(target))
        else:
            with pytest.raises(PrivacyError, match="does not extend to this scope"):
                stated.within(target)
