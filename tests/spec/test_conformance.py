"""What every unit, scope, standard and intensity must be able to do, over everything that is registered."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import permutations, product

import pytest

from quincunx import Specification, domain, intensity, scope, standard, unit
from quincunx.errors import PrivacyError, SpecificationError
from quincunx.finite import Mechanism
from quincunx.numbers import Log, ball, float_above, float_below, precision
from quincunx.spec.standard import KINDS
from quincunx.spec.verdict import Verdict

F = Fraction
BITS = domain.Finite.vectors(["00", "01", "11"], 2)
PLACES = domain.Finite(datasets=list(product([("f", 1), ("f", 2), ("m", 1)], repeat=2)), ordered=True)
NAMES = domain.Finite(datasets=["x", "y", "z"])
ROWS = domain.Finite.multisets([("ann", "p"), ("ann", "q"), ("bob", "p")], range(3), columns=["who", "where"])
VECTORS = BITS.datasets
EVEN = dict.fromkeys(VECTORS, F(1, 9))


def differing(x: tuple[str, ...], y: tuple[str, ...]) -> int:
    return sum(a != b for a, b in zip(x, y, strict=True))


# unit → a world on which it joins something
UNITS: list[tuple[unit.Unit, domain.Finite]] = [
    (unit.AddRemove(), ROWS),
    (unit.AddRemove(key="who", group=2), ROWS),
    (unit.Replace(), BITS),
    (unit.Replace(key="who"), ROWS),
    (unit.Hamming(), BITS),
    (unit.SymmetricDifference(), ROWS),
    (unit.AddRemoveReplace(), ROWS),
    (unit.AddRemoveReplace(), BITS),
    (unit.Element(key="who", element="where"), ROWS),
    (unit.Neighbours([("x", "y"), ("y", "z")]), NAMES),
    (unit.Directed([("x", "y"), ("y", "z"), ("z", "y")]), NAMES),
    (unit.Metric({("x", "y"): "1/2", ("x", "z"): 3}), NAMES),
    (unit.Distance("differing places", differing), BITS),
    (unit.Attribute(), PLACES),
    (unit.Bit(), BITS),
    (unit.Blowfish([("00", "01")]), BITS),
    (unit.OneSided(["00"]), BITS),
    (unit.OneSided([("ann", "p")]), ROWS),
    (unit.Dependent({0: [1]}, 2), BITS),
    (unit.FreeLunch(), NAMES),
]
SCOPES: list[scope.Scope] = [
    scope.Everything(),
    scope.Invariants({"zeros": ("how many are 00", lambda x: x.count("00"))}),
    scope.OneDataset(("00", "01")),
    scope.Universes({"first": VECTORS[:5], "last": VECTORS[3:]}),
]
INTENSITIES = [
    F(1),
    Log(3),
    {"everything": "1/2"},
    intensity.PerPerson({0: 1, 1: Log(2)}),
    intensity.PerRecord({(r, x): F(len(set(x))) for x in VECTORS for r in x}),
    intensity.Drawn(value="1/2", prior=EVEN, share="1/9"),
]
QUICK = (standard.Pure, standard.TV, standard.Approximate, standard.Probabilistic)
LINEAR = [standard.Pure(), standard.GaussianDP(), standard.TV(), standard.NormalisedRenyi()]
STANDARDS: list[standard.Standard] = [
    *LINEAR,
    standard.Approximate("1/10"),
    standard.ZCDP(),
    standard.Renyi(2),
    standard.Tradeoff(((0, 1), ("1/4", "1/4"), (1, 0))),
    standard.KL(),
    standard.Divergence("chi-squared"),
    standard.Probabilistic("1/10"),
    standard.Relaxed("1/10", "1/20"),
    standard.RangeBounded(),
    standard.Concentrated("1/10", 4),
    standard.MeanConcentrated(),
    standard.PowerDivergence(2),
    standard.CapacityBounded("chi-squared", ((1, -1, 0), (0, 1, "1/2"))),
]


def spec(**changes: object) -> Specification:
    blocks = {
        "domain": BITS,
        "scope": scope.Everything(),
        "unit": unit.Replace(),
        "standard": standard.Pure(),
        "intensity": 1,
    }
    return Specification(**{**blocks, **changes})  # type: ignore[arg-type]


def mechanism(world: domain.Finite, seed: int) -> Mechanism:
    dice = random.Random(seed)
    table = {}
    for x in world.datasets:
        weights = [dice.randint(1, 6) for _ in range(3)]
        table[x] = {str(o): F(w, sum(weights)) for o, w in enumerate(weights)}
    return Mechanism(table)


def named(pair: object) -> str:
    return type(pair[0]).__name__ if isinstance(pair, tuple) else type(pair).__name__


def test_everything_registered_is_here() -> None:
    assert {type(each) for each, _ in UNITS} == {
        value for value in map(unit.__dict__.get, unit.__all__)
        if isinstance(value, type) and issubclass(value, unit.Unit) and value is not unit.Unit
    }  # fmt: skip
    assert {type(each) for each in STANDARDS} == set(KINDS.values())


@pytest.mark.parametrize("pair", UNITS, ids=named)
def test_a_unit_is_a_premetric_and_lists_its_pairs(pair: tuple[unit.Unit, domain.Finite]) -> None:
    chosen, world = pair
    chosen.check(world)
    listed = {(x, y): d for x, y, d in chosen.protected_pairs(world.datasets, world)}
    assert listed
    finite = {}
    for x, y in permutations(world.datasets, 2):
        distance = chosen.distance(x, y, world)
        assert distance > 0
        if distance < math.inf:
            assert isinstance(distance, Fraction)
            assert chosen.is_metric or distance == 1
            finite[x, y] = distance
    assert all(chosen.distance(x, x, world) == 0 for x in world.datasets)
    if chosen.directed:
        assert listed == finite
    else:
        assert {**listed, **{(y, x): d for (x, y), d in listed.items()}} == finite
        assert all(finite[y, x] == d for (x, y), d in finite.items())
        assert not {(y, x) for x, y in listed} & listed.keys()
    # Only datasets that are asked about are joined.
    few = world.datasets[: len(world.datasets) // 2]
    assert {(x, y) for x, y, _ in chosen.protected_pairs(few, world)} == {
        (x, y) for x, y in listed if x in few and y in few
    }


@pytest.mark.parametrize("pair", UNITS, ids=named)
def test_a_unit_speaks_is_frozen_and_comes_back_from_json(pair: tuple[unit.Unit, domain.Finite]) -> None:
    chosen, world = pair
    made = spec(domain=world, unit=chosen)
    again = Specification.from_json(made.to_json())
    assert again == made
    assert hash(again.unit) == hash(chosen)
    assert json.loads(made.to_json())["unit"]["kind"] == chosen.kind
    assert chosen.words().endswith(".")
    assert chosen.hidden()[0].islower()
    assert made.describe().count("\n\n") == 5
    assert made.latex().startswith(r"\begin{aligned}")
    assert chosen.steps_to(chosen) == 1 or chosen.is_metric
    # Slots and frozen: nothing can be added, by either of the two errors.
    with pytest.raises((AttributeError, TypeError)):
        chosen.kind_of_thing = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("pair", UNITS, ids=named)
def test_larger_units_follow_or_are_refused(pair: tuple[unit.Unit, domain.Finite]) -> None:
    chosen, world = pair
    if chosen.is_metric or chosen.directed or type(chosen) in (
        unit.Attribute, unit.Bit, unit.Blowfish, unit.Dependent,
    ):  # fmt: skip
        with pytest.raises(SpecificationError):
            chosen.times(2)
        return
    wide = chosen.times(2)
    for x, y, _ in chosen.protected_pairs(world.datasets, world):
        assert wide.distance(x, y, world) == 1
    assert chosen.times(1).distance(*world.datasets[:2], world) == chosen.distance(*world.datasets[:2], world)


@pytest.mark.parametrize(
    "measure",
    [pytest.param(each, marks=() if type(each) in QUICK else pytest.mark.ci) for each in STANDARDS],
    ids=named,
)
@pytest.mark.parametrize("pair", UNITS, ids=named)
def test_a_standard_goes_with_a_unit_or_says_why_not(
    measure: standard.Standard, pair: tuple[unit.Unit, domain.Finite]
) -> None:
    """tightest is the largest over all pairs of the measure in each protected direction, over distance."""
    chosen, world = pair
    if isinstance(measure, standard.MeanConcentrated) and len(world.datasets) > 3:
        # The dearest of the standards is asked on the smallest world only.
        chosen, world = unit.Directed([("x", "y"), ("z", "x")]), NAMES
    if chosen.is_metric and not chosen.by_pair and not measure.linear_in_distance:
        with pytest.raises(SpecificationError, match="in proportion"):
            spec(domain=world, unit=chosen, standard=measure)
        return
    made, m = spec(domain=world, unit=chosen, standard=measure), mechanism(world, 1)
    verdict = made.tightest(m)
    low, high = 0.0, 0.0
    with precision(256):
        for x, y, distance in chosen.protected_pairs(world.datasets, world):
            least = (measure.ahead if chosen.directed else measure.least)(m.law(x), m.law(y))
            low = max(low, float_below(least.lower / ball(distance)))
            high = max(high, float_above(least.upper / ball(distance)))
    assert verdict.bounds[0] <= high
    assert low <= verdict.bounds[1]
    assert _holds_at(made, verdict, m)


def _holds_at(made: Specification, verdict: Verdict, m: Mechanism) -> bool:
    """At what is certainly enough it does not fail, and at half of what is certainly needed it fails."""
    top = F(verdict.bounds[1])
    if isinstance(made.standard, standard.Tradeoff):
        top = F(math.ceil(top))
    enough = spec(domain=made.domain, unit=made.unit, standard=made.standard, intensity=top)
    short = F(verdict.bounds[0]) / 2
    if isinstance(made.standard, standard.Tradeoff):
        short = F(max(math.ceil(verdict.bounds[0]) - 1, 0))
    below = spec(domain=made.domain, unit=made.unit, standard=made.standard, intensity=short)
    return enough.holds(m).status != "fails" and (verdict.bounds[0] == 0 or below.holds(m).status == "fails")


@pytest.mark.parametrize("where", SCOPES, ids=named)
@pytest.mark.parametrize("given", INTENSITIES, ids=named)
def test_a_scope_goes_with_an_intensity(where: scope.Scope, given: object) -> None:
    if isinstance(given, dict) and not isinstance(where, scope.Everything):
        given = {name: F(i + 1, 3) for i, (name, _) in enumerate(where.universes(BITS))}
    made = spec(scope=where, intensity=given)
    assert made.describe()
    assert made.latex()
    assert len(made.numbers) >= 1
    text = made.to_json()
    if not isinstance(where, scope.Invariants):
        assert Specification.from_json(text) == made
    m = mechanism(BITS, 2)
    verdict = made.holds(m)
    assert verdict.status in ("holds", "fails")
    if isinstance(given, intensity.Drawn):
        with pytest.raises(PrivacyError):
            _ = made.largest
        return
    # By hand: every pair of every universe against its own number.
    held = True
    for name, datasets in where.universes(BITS):
        for x, y, distance in made.unit.protected_pairs(datasets, BITS):
            least = made.standard.least(m.law(x), m.law(y))
            limit = made.at(x, y, name)
            with precision(256):
                held = held and bool(least.upper <= ball(limit) * ball(distance))
    assert (verdict.status == "holds") is held


@pytest.mark.parametrize("given", INTENSITIES, ids=named)
def test_an_intensity_is_monotone(given: object) -> None:
    """What holds at some numbers holds at larger ones."""
    for seed in range(5):
        m = mechanism(BITS, seed)
        made = spec(intensity=given)
        larger = {
            "PerPerson": lambda: intensity.PerPerson({k: F(float_above(ball(v))) + 1 for k, v in given.values}),  # type: ignore[attr-defined]
            "PerRecord": lambda: intensity.PerRecord({k: v + 1 for k, v in given.values}),  # type: ignore[attr-defined]
            "Drawn": lambda: intensity.Drawn(value=2, prior=EVEN, share="1/3"),
            "dict": lambda: {"everything": 2},
        }.get(type(given).__name__, lambda: F(5))()
        if made.holds(m):
            assert spec(intensity=larger).holds(m)
        assert made.implies(spec(intensity=larger))
        assert spec(intensity=larger).compare(made).relation in ("weaker", "equal")
