"""Units with a direction, and distances as functions: the check is one-way, and nothing is concluded too much."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import permutations, product

import pytest

from quincunx import Specification, domain, scope, standard, unit
from quincunx.audit import Claim
from quincunx.errors import ParameterError, PrivacyError, SpecificationError
from quincunx.finite import Mechanism
from quincunx.loss import Loss
from quincunx.mechanisms import Laplace
from quincunx.numbers import Log, ball, precision
from quincunx.spec.curve import whole
from quincunx.spec.paths import Paths
from quincunx.taxonomy import Definition, generate, neighbourhood, quantification, variation
from quincunx.taxonomy.world import build

F = Fraction
VALUES = ("ill", "well", "away")
VECTORS = tuple(product(VALUES, repeat=2))
WORLD = domain.Finite(datasets=VECTORS, ordered=True)
PAIR = domain.Finite(datasets=[("ill",), ("well",)], ordered=True)


def spec(**changes: object) -> Specification:
    blocks = {
        "domain": WORLD,
        "scope": scope.Everything(),
        "unit": unit.OneSided(["ill"]),
        "standard": standard.Pure(),
        "intensity": 1,
    }
    return Specification(**{**blocks, **changes})  # type: ignore[arg-type]


def laws(dice: random.Random, names: tuple[object, ...]) -> dict[object, dict[str, Fraction]]:
    found = {}
    for name in names:
        weights = [dice.choice((0, 1, 1, 2, 5)) for _ in range(3)]
        weights[dice.randrange(3)] += 1
        found[name] = {str(o): F(w, sum(weights)) for o, w in enumerate(weights)}
    return found


STANDARDS = [
    (quantification.WorstCase(), standard.Pure()),
    (quantification.Approximate("1/10"), standard.Approximate("1/10")),
    (quantification.Probabilistic("1/10"), standard.Probabilistic("1/10")),
    (quantification.KullbackLeibler(), standard.KL()),
    (quantification.Renyi(2), standard.Renyi(2)),
    (quantification.ZeroConcentrated(), standard.ZCDP()),
    (quantification.Divergence(), standard.Divergence("chi-squared")),
]


@pytest.mark.parametrize(("choice", "measure"), STANDARDS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("sensitive", [["ill"], ["ill", "away"], list(VALUES)], ids=len)
def test_one_sided_is_the_neighbourhood(
    choice: quantification.Quantification, measure: standard.Standard, sensitive: list[str]
) -> None:
    dice = random.Random(f"{measure!r}{sensitive}")
    table = laws(dice, VECTORS)
    names = {vector: str(i) for i, vector in enumerate(VECTORS)}
    world = build(
        {
            "datasets": {names[v]: list(v) for v in VECTORS},
            "laws": {names[v]: table[v] for v in VECTORS},
            "sensitive": sensitive,
        },
    )
    definition = Definition(quantification=choice, neighbourhood=neighbourhood.OneSided())
    answer = definition.tightest(world).value
    here = spec(unit=unit.OneSided(sensitive), standard=measure).tightest(Mechanism(table))
    mapped = definition.specification(world, 1).tightest(world.mechanism())
    for verdict in (here, mapped):
        assert (verdict.exact, verdict.bounds) == (answer.exact, answer.bounds)


@pytest.mark.parametrize("measure", [m for _, m in STANDARDS], ids=lambda m: m.kind)
def test_the_two_directions_together_are_the_least(measure: standard.Standard) -> None:
    dice = random.Random(3)
    for _ in range(20):
        p, q = ([*row.values()] for row in laws(dice, ("p", "q")).values())
        with precision(256):
            one, two, both = measure.ahead(p, q), measure.ahead(q, p), measure.least(p, q)
            if both.exact is not None and one.exact is not None and two.exact is not None:
                assert both.exact in (one.exact, two.exact)
            assert not one.lower > both.upper
            assert not two.lower > both.upper
            assert both.upper <= (one.upper if one.upper >= two.upper else two.upper)


def test_one_direction_is_finite_where_both_are_not() -> None:
    mechanism = Mechanism({("ill",): {"yes": 1, "no": 0}, ("well",): {"yes": "1/2", "no": "1/2"}})
    one = spec(domain=PAIR).tightest(mechanism)
    assert one.exact == Log(2)
    assert one.witness is not None
    assert (one.witness.x, one.witness.x_prime) == (("ill",), ("well",))
    assert spec(domain=PAIR, unit=unit.Replace()).tightest(mechanism).status == "fails"
    assert spec(domain=PAIR, unit=unit.OneSided(["well"])).tightest(mechanism).status == "fails"
    back = unit.Directed([(("well",), ("ill",))])
    assert spec(domain=PAIR, unit=back).tightest(mechanism).status == "fails"


def test_multisets_are_one_sided_too() -> None:
    bags = domain.Finite.multisets(["ill", "well"], range(3))
    near = {(x, y) for x, y, _ in unit.OneSided(["ill"]).protected_pairs(bags.datasets, bags)}
    assert near == {
        (("ill",), ("well",)),
        (("ill", "ill"), ("ill", "well")),
        (("ill", "well"), ("well", "well")),
    }
    empty = domain.Finite(datasets=[("ill",), (None,)], ordered=True)
    assert unit.OneSided(["ill"]).distance(("ill",), (None,), empty) == math.inf


QUARTERS = [F(i, 4) for i in range(5)]
UNITS = {
    "replace": unit.Replace(),
    "free lunch": unit.FreeLunch(),
    "one-sided": unit.OneSided(["a"]),
    "all sides": unit.OneSided(["a", "b"]),
    "listed": unit.Directed([(("a", "a"), ("b", "b")), (("b", "a"), ("a", "a"))]),
    "distance": unit.Distance("places", lambda x, y: sum(a != b for a, b in zip(x, y, strict=True))),
    "uphill": unit.Distance("uphill", lambda x, y: 2 if x < y else F(1, 2)),
}
BITS = domain.Finite.vectors(["a", "b"], 2)


def small_specs() -> list[Specification]:
    """Every unit with three standards and two intensities each."""
    made = []
    for chosen in UNITS.values():
        for measure in (standard.Pure(), standard.Approximate("1/4"), standard.KL()):
            for value in (Log(2), Log(4)):
                made.append(
                    Specification(domain=BITS, scope=scope.Everything(), unit=chosen, standard=measure, intensity=value)
                )
    return made


def mechanisms(count: int) -> list[Mechanism]:
    """Tables on two outputs with probabilities in quarters: all of them, or some."""
    every = list(product(QUARTERS, repeat=4))
    some = every if count >= len(every) else random.Random(5).sample(every, count)
    return [Mechanism({x: {"0": p, "1": 1 - p} for x, p in zip(BITS.datasets, row, strict=True)}) for row in some]


def test_no_implication_between_directed_units_is_refuted_by_a_small_world(ci: bool) -> None:
    specs = small_specs()
    implied = [(i, j) for i, a in enumerate(specs) for j, b in enumerate(specs) if i != j and a.implies(b).holds]
    # The symmetric say something about the directed, and the directed about each other.
    assert len(implied) > 60
    assert any(specs[i].unit.directed and not specs[j].unit.directed for i, j in implied)
    for mechanism in mechanisms(625 if ci else 25):
        held = [each.holds(mechanism).status for each in specs]
        for i, j in implied:
            assert held[i] != "holds" or held[j] == "holds", (specs[i], specs[j])


def test_compositions_with_a_direction_hold_on_small_worlds(ci: bool) -> None:
    dice = random.Random(9)
    for name in ("one-sided", "listed", "uphill"):
        for measure in (standard.Pure(), standard.Approximate("1/4"), standard.KL(), standard.ZCDP()):
            for _ in range(8 if ci else 2):
                one, two = dice.sample(mechanisms(40), 2)
                made = spec(domain=BITS, unit=UNITS[name], standard=measure)
                stated = []
                for each in (one, two):
                    top = made.tightest(each).intensity
                    if math.isfinite(top):
                        stated.append(
                            spec(domain=BITS, unit=UNITS[name], standard=measure, intensity=F(top) + F(1, 1000))
                        )
                if len(stated) == 2:
                    both = {
                        x: {f"{o}{p}": a * b for o, a in zip("01", one.law(x), strict=True)
                            for p, b in zip("01", two.law(x), strict=True)}
                        for x in BITS.datasets
                    }  # fmt: skip
                    assert stated[0].compose(stated[1]).holds(Mechanism(both)).status != "fails"


def test_what_uses_both_directions_is_refused() -> None:
    with pytest.raises(SpecificationError, match="no direction"):
        spec(standard=standard.ZCDP("1/100"))
    with pytest.raises(PrivacyError, match="keeps the direction"):
        spec().compose(spec(standard=standard.KL()))
    with pytest.raises(SpecificationError, match="no metric"):
        unit.shortest_path(unit.OneSided(["ill"]), WORLD)
    with pytest.raises(SpecificationError, match="no unit"):
        spec().group(2)
    with pytest.raises(ParameterError, match="both directions"):
        Claim.of_specification(spec())
    # ln 2 one way bounds KL by ln 2 and no less: the rule of the symmetric standard would say 0.231.
    assert not spec(intensity=Log(2)).implies(spec(standard=standard.KL(), intensity="1/4"))


def test_a_distance_goes_with_any_standard_and_is_computed_on_finite_worlds() -> None:
    far = unit.Distance("number of places", lambda x, y: sum(a != b for a, b in zip(x, y, strict=True)))
    table = laws(random.Random(8), VECTORS)
    for measure in (standard.Approximate("1/10"), standard.Divergence("chi-squared"), standard.Probabilistic("1/5")):
        made = spec(unit=far, standard=measure)
        worst = 0.0
        for x, y in permutations(VECTORS, 2):
            least = measure.ahead([*table[x].values()], [*table[y].values()])
            if not least.lower.is_finite():
                worst = math.inf
                break
            worst = max(worst, float((least.upper / ball(F(sum(a != b for a, b in zip(x, y, strict=True))))).mid()))
        assert made.tightest(Mechanism(table)).intensity == pytest.approx(worst)
    again = Specification.from_json(spec(unit=far).to_json())
    assert again == spec(unit=far)
    with pytest.raises(SpecificationError, match="no function"):
        again.tightest(Mechanism(table))
    wrong = {"zero": lambda _x, _y: 0, "text": lambda _x, _y: "far", "error": lambda _x, _y: 1 // 0}
    for function in wrong.values():
        with pytest.raises(SpecificationError, match="distance"):
            spec(unit=unit.Distance("d", function)).tightest(Mechanism(table))
    for given in ("", 3):
        with pytest.raises(SpecificationError, match="needs a text"):
            unit.Distance(given)  # type: ignore[arg-type]
    with pytest.raises(SpecificationError, match="expected a function"):
        unit.Distance("d", 3)  # type: ignore[arg-type]
    with pytest.raises(SpecificationError, match="no group"):
        far.times(2)


@pytest.mark.parametrize("name", ["PsDP", "EDivDP", "AsDP", "OSDP"])
def test_definitions_with_a_distance_or_a_direction_are_specifications(name: str) -> None:
    from quincunx.taxonomy import named

    for seed in range(6):
        world = generate.random_world(random.Random(seed), people=2, zeros=seed % 2 == 0)
        definition = named(name).definition
        if not list(definition.neighbourhood.pairs(world)):
            continue
        made = definition.specification(world, 1)
        answer, verdict = definition.tightest(world).value, made.tightest(world.mechanism())
        assert verdict.bounds == answer.bounds or verdict.exact == answer.exact
        if name in ("PsDP", "EDivDP"):
            assert Definition.of(made) == definition
        else:
            assert made.unit.directed


def test_a_specification_with_a_direction_is_a_definition() -> None:
    assert Definition.of(spec()).neighbourhood == neighbourhood.OneSided()
    assert isinstance(Definition.of(spec()).variation, variation.Uniform)
    with pytest.raises(SpecificationError, match="no such choice"):
        Definition.of(spec(unit=unit.Directed([(VECTORS[0], VECTORS[1])])))


def test_words_and_json() -> None:
    for chosen in (unit.OneSided(["ill", 3]), unit.Directed([(VECTORS[0], VECTORS[1])])):
        made = spec(unit=chosen)
        assert Specification.from_json(made.to_json()) == made
        assert json.loads(made.to_json())["unit"]["kind"] == chosen.kind
        assert "one direction" in made.describe()
        assert made.latex()
    assert "one direction" not in spec(unit=UNITS["uphill"], domain=BITS).describe()
    for bad in ([], "ill", [None], 3, [math.nan]):
        with pytest.raises(SpecificationError):
            unit.OneSided(bad)  # type: ignore[arg-type]
    with pytest.raises(SpecificationError, match="own neighbour"):
        unit.Directed([("a", "a")])
    for where in (domain.Histogram(cells=["a"]), domain.Finite(datasets=["a", "b"])):
        with pytest.raises(SpecificationError, match="list their records"):
            unit.OneSided(["a"]).check(where)
    assert unit.OneSided(["a", "b"]).steps_to(unit.OneSided(["a"])) == 1
    assert unit.OneSided(["a"]).steps_to(unit.OneSided(["a", "b"])) is None


def test_only_what_one_person_changes_is_composed_in_parallel_or_amplified() -> None:
    loss = Laplace(scale=1).loss
    for other in (unit.FreeLunch(), unit.Neighbours([("a", "b")]), UNITS["uphill"], unit.Dependent({0: [1]}, 2)):
        with pytest.raises(PrivacyError, match="not one person"):
            Loss.parallel([loss, loss], unit=other)
    for other in (unit.FreeLunch(), unit.Neighbours([("a", "b")]), unit.AddRemoveReplace(), unit.OneSided(["a"])):
        for scheme in ("poisson", "without-replacement"):
            with pytest.raises(PrivacyError, match="no amplification"):
                loss.subsample("1/10", scheme=scheme, unit=other)
    # Somebody may come, go or move: what each part loses by itself counts beside the pairs.
    small = Laplace(scale=4).loss
    assert Loss.parallel([(loss, small)], unit=unit.AddRemoveReplace()).pure() == loss.pure()


def test_paths_follow_the_direction() -> None:
    names = domain.Finite(datasets=["x", "y", "z"])
    paths = Paths(unit.Directed([("x", "y"), ("y", "z")]), names.datasets, names)
    assert paths.length("x", "z") == 2
    assert paths.length("z", "x") is None
    assert paths.length("y", "y") == 0


def test_a_scope_cuts_directed_pairs_too() -> None:
    """Inside the universes that fix how many are ill nobody's illness is exchanged for health."""
    fixed = scope.Invariants({"ill": ("how many are ill", lambda x: x.count("ill"))})
    with pytest.warns(UserWarning, match="promises nothing"):
        made = spec(scope=fixed)
    assert made.tightest(Mechanism(laws(random.Random(1), VECTORS))).witness is None
    assert spec(unit=unit.FreeLunch(), scope=fixed).tightest(Mechanism(laws(random.Random(1), VECTORS))).witness


def test_rationals_over_one_denominator() -> None:
    assert whole([F(1, 2), F(1, 3), F(0)]) == ([3, 2, 0], 6)
    assert whole([]) == ([], 1)
