"""Intensities by person, by record and for drawn pairs; and the scope of one record in one dataset."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import product

import pytest

from quincunx import Specification, domain, intensity, meaning, scope, standard, unit
from quincunx.errors import PrivacyError, SpecificationError
from quincunx.finite import Mechanism
from quincunx.ledger import Registration
from quincunx.numbers import Log
from quincunx.taxonomy import Definition, generate, named, neighbourhood, quantification, variation
from quincunx.taxonomy import random_inputs as drawn
from quincunx.taxonomy.world import build

F = Fraction
BITS = domain.Finite.vectors(["a", "b"], 2)
EVEN = dict.fromkeys(BITS.datasets, F(1, 4))
PEOPLE = domain.Finite.multisets([("ann", 1), ("ann", 2), ("bob", 1)], range(3), columns=["person", "day"])
TABLE = domain.Tables(columns={"person": "text", "day": "date"})


def spec(**changes: object) -> Specification:
    blocks = {
        "domain": BITS,
        "scope": scope.Everything(),
        "unit": unit.Replace(),
        "standard": standard.Pure(),
        "intensity": 1,
    }
    return Specification(**{**blocks, **changes})  # type: ignore[arg-type]


def table(dice: random.Random, names: tuple[object, ...], *, zeros: bool = False) -> dict[object, dict[str, Fraction]]:
    choices = (0, 1, 2, 5) if zeros else (1, 2, 5)
    found = {}
    for name in names:
        weights = [dice.choice(choices) for _ in range(3)]
        weights[dice.randrange(3)] += 1
        found[name] = {str(o): F(w, sum(weights)) for o, w in enumerate(weights)}
    return found


def test_each_person_is_judged_by_their_own_number() -> None:
    """The worst pair of all may be allowed while a milder one of another person is not."""
    response = generate.randomized_response("3/4", 2)
    strong = {v: F(9, 10) if v[0] == "a" else F(1, 10) for v in BITS.datasets}
    mechanism = Mechanism({v: {"0": p, "1": 1 - p} for v, p in strong.items()})
    assert response.people == 2
    assert spec(intensity=intensity.PerPerson({0: Log(9), 1: 0})).holds(mechanism)
    assert spec(intensity=intensity.PerPerson({0: Log(8), 1: 99})).holds(mechanism).status == "fails"
    mild = {v: F(9, 10) if v[0] == "a" else F(1, 10) + (F(1, 100) if v[1] == "b" else 0) for v in BITS.datasets}
    both = Mechanism({v: {"0": p, "1": 1 - p} for v, p in mild.items()})
    broken = spec(intensity=intensity.PerPerson({0: 99, 1: "1/100"})).holds(both)
    assert broken.status == "fails"
    assert broken.witness is not None
    assert broken.witness.x[0] == broken.witness.x_prime[0]  # type: ignore[index]


def test_several_who_change_have_the_smallest_of_their_numbers() -> None:
    made = spec(unit=unit.Replace(group=2), intensity=intensity.PerPerson({0: 3, 1: 2}))
    assert made.at(("a", "a"), ("b", "b"), "everything") == 2
    assert made.at(("a", "a"), ("b", "a"), "everything") == 3
    keyed = spec(
        domain=PEOPLE, unit=unit.AddRemoveReplace(key="person"), intensity=intensity.PerPerson({"ann": 1, "bob": 2})
    )
    assert keyed.at((), (("bob", 1),), "everything") == 2
    assert keyed.at((("ann", 1),), (("bob", 1),), "everything") == 1
    assert keyed.at((("ann", 1), ("bob", 1)), (("ann", 2), ("bob", 1)), "everything") == 1


@pytest.mark.parametrize("choice", [quantification.WorstCase(), quantification.KullbackLeibler()], ids=repr)
def test_people_and_records_are_the_survey_s(choice: quantification.Quantification) -> None:
    """The numbers that the personalised definition finds hold, a hair below they do not; likewise by record."""
    for seed in range(6):
        world = generate.random_world(random.Random(seed), people=2, zeros=False)
        mechanism = Mechanism(
            {r: dict(zip(world.outputs, world.laws[x], strict=True)) for x, r in world.datasets.items()}
        )
        for varied, make in ((variation.Personalised(), _person), (variation.Tailored(), _record)):
            definition = Definition(quantification=choice, neighbourhood=neighbourhood.Unbounded(), variation=varied)
            entries = definition.tightest(world).entries
            exact: dict[object, Fraction] = {}
            for key, value in entries.items():
                # Two equal records of one dataset have one number.
                name = make(key, world)
                exact[name] = max(F(value.bounds[1]), exact.get(name, F(0)))
            made = definition.specification(world, exact)
            assert made.holds(mechanism).status != "fails"
            assert Definition.of(made).variation == varied
            largest = max(exact, key=lambda key: exact[key])
            less = {**exact, largest: exact[largest] * F(999, 1000)}
            assert exact[largest] == 0 or definition.specification(world, less).holds(mechanism).status == "fails"


def _person(key: object, world: object) -> object:
    del world
    return int(str(key).removeprefix("record "))


def _record(key: object, world: object) -> object:
    place, name = key  # type: ignore[misc]
    records = world.datasets[name.removeprefix("of ")]  # type: ignore[attr-defined]
    return records[int(place.removeprefix("record "))], records


def test_most_of_the_drawn_pairs_is_random_privacy() -> None:
    for seed in range(8):
        dice = random.Random(seed)
        rows = table(dice, BITS.datasets, zeros=seed % 2 == 0)
        weights = [dice.choice((0, 1, 2)) for _ in BITS.datasets]
        weights[0] += 1
        prior = {x: F(w, sum(weights)) for x, w in zip(BITS.datasets, weights, strict=True)}
        names = {x: ",".join(x) for x in BITS.datasets}
        world = build(
            {
                "datasets": {names[x]: list(x) for x in BITS.datasets},
                "laws": {names[x]: rows[x] for x in BITS.datasets},
                "priors": {"pi": {names[x]: w for x, w in prior.items()}},
            },
        )
        for share in (F(0), F(1, 10), F(1, 3), F(2, 3)):
            definition = Definition(variation=drawn.Random(share))
            found = definition.tightest(world).value
            given = intensity.Drawn(value=0, prior=prior, share=share)
            here = spec(intensity=given).tightest(Mechanism(rows))
            assert here.bounds == found.bounds
            assert here.exact == found.exact
            mapped = definition.specification(world, 0)
            assert mapped.intensity == given
            assert Definition.of(mapped).variation == drawn.Random(share)
            if math.isfinite(here.intensity):
                exact = here.exact if here.exact is not None else F(here.intensity)
                at = intensity.Drawn(value=exact, prior=prior, share=share)
                assert spec(intensity=at).holds(Mechanism(rows))
                if here.intensity:
                    below = intensity.Drawn(value=F(here.intensity) * F(999, 1000), prior=prior, share=share)
                    assert spec(intensity=below).holds(Mechanism(rows)).status == "fails"


def test_drawn_pairs_are_drawn_as_defined() -> None:
    """By simulation of the definition: every draw of a dataset, a position and a record, with its probability."""
    prior = {("a", "a"): F(1, 2), ("a", "b"): F(1, 3), ("b", "b"): F(1, 6)}
    found: dict[tuple[object, object], Fraction] = {}
    for x, w in prior.items():
        for i in range(2):
            alike = {y: v for y, v in prior.items() if y[1 - i] == x[1 - i]}
            for y, v in alike.items():
                if x != y:
                    found[x, y] = found.get((x, y), F(0)) + w / 2 * v / sum(alike.values())
    assert intensity.Drawn(value=1, prior=prior, share=0).pairs() == found


def test_no_number_for_every_pair_comes_from_most_of_them() -> None:
    most = spec(intensity=intensity.Drawn(value=1, prior=EVEN, share="1/10"))
    for ask in (
        lambda: most.largest,
        lambda: most.by_universe,
        lambda: most.stated,
        lambda: most.group(2),
        lambda: most.at(("a", "a"), ("a", "b"), "everything"),
        lambda: most.compose(spec()),
    ):
        with pytest.raises(PrivacyError):
            ask()
    assert "No bound on a belief about one person is stated" in meaning.describe(most)
    assert not most.implies(spec(intensity=99))
    assert spec().implies(most)
    assert not spec(intensity=2).implies(most)
    wider = spec(intensity=intensity.Drawn(value=1, prior=EVEN, share="1/5"))
    assert most.implies(wider)
    # On a smaller domain the prior may be about datasets that are not there: unknown, and no error.
    fewer = domain.Finite(datasets=BITS.datasets[:2], ordered=True)
    half = dict.fromkeys(fewer.datasets, F(1, 2))
    assert not most.implies(spec(domain=fewer, intensity=intensity.Drawn(value=1, prior=half, share="1/10")))
    assert not wider.implies(most)
    half = spec(intensity=intensity.Drawn(value=1, prior=EVEN, share="1/2"))
    with pytest.raises(PrivacyError, match="promises nothing"):
        half.compose(half)
    with pytest.raises(SpecificationError, match="one total"):
        Registration(dataset="d", specification=spec(intensity=intensity.PerPerson({0: 1, 1: 1})))


def test_compositions_add_name_by_name_and_hold() -> None:
    dice = random.Random(2)
    for _ in range(6):
        tables = [table(dice, BITS.datasets) for _ in range(2)]
        made = []
        for rows in tables:
            numbers = {}
            for i in (0, 1):
                pairs = [(x, y) for x, y in product(BITS.datasets, repeat=2) if x[i] != y[i] and x[1 - i] == y[1 - i]]
                ratios = [rows[x][o] / rows[y][o] for x, y in pairs for o in "012"]
                numbers[i] = Log(max(ratios))
            made.append(spec(intensity=intensity.PerPerson(numbers)))
            assert made[-1].holds(Mechanism(rows))
        both = made[0].compose(made[1])
        product_table = {
            x: {o + p: tables[0][x][o] * tables[1][x][p] for o in "012" for p in "012"} for x in BITS.datasets
        }
        assert isinstance(both.intensity, intensity.PerPerson)
        assert both.holds(Mechanism(product_table))
        one = made[0].compose(spec(intensity=3))
        assert one.intensity == spec(intensity=made[0].largest).compose(spec(intensity=3)).intensity
        drawn_ = intensity.Drawn(value=1, prior=EVEN, share="1/10")
        twice = spec(intensity=drawn_).compose(spec(intensity=drawn_))
        assert twice.intensity == intensity.Drawn(value=2, prior=EVEN, share="1/5")
    unlisted = {"domain": TABLE, "unit": unit.AddRemove(key="person")}
    some = spec(**unlisted, intensity=intensity.PerPerson({"ann": 1, "bob": 2}))
    other = spec(**unlisted, intensity=intensity.PerPerson({"ann": 1, "cid": 2}))
    # Who has no number in one of the two has no guarantee for both.
    assert some.compose(other).intensity == intensity.PerPerson({"ann": 2})
    with pytest.raises(PrivacyError, match="no rule adds"):
        some.compose(spec(**unlisted))


def test_implications_by_person() -> None:
    low, high = intensity.PerPerson({0: 1, 1: 2}), intensity.PerPerson({0: 1, 1: 3})
    assert spec(intensity=low).implies(spec(intensity=high))
    assert spec(intensity=low).implies(spec(intensity=2))
    assert spec(intensity=1).implies(spec(intensity=low))
    assert not spec(intensity=2).implies(spec(intensity=low))
    unlisted = {"domain": TABLE, "unit": unit.AddRemove(key="person")}
    ann = intensity.PerPerson({"ann": 1, "bob": 5})
    assert spec(**unlisted, intensity=1).implies(spec(**unlisted, intensity=ann))
    assert spec(**unlisted, intensity=ann).implies(spec(**unlisted, intensity=intensity.PerPerson({"ann": 1})))
    assert not spec(**unlisted, intensity=ann).implies(spec(**unlisted, intensity=5))
    # Ann exchanged for Bob costs 1 + 5: twice Ann's own 1 is no bound.
    swapped = spec(domain=TABLE, unit=unit.Replace(key="person"), intensity=intensity.PerPerson({"ann": 2, "bob": 10}))
    assert not spec(**unlisted, intensity=ann).implies(swapped)
    assert spec(intensity=low).group(2).intensity == 4
    assert spec(intensity=low).within(scope.OneDataset(("a", "a"))).intensity == low


@pytest.mark.parametrize(
    "bad",
    [
        lambda: intensity.PerPerson({}),
        lambda: intensity.PerPerson([(0, 1), (0, 2)]),
        lambda: spec(intensity=intensity.PerPerson({0: 1})),
        lambda: spec(domain=domain.Finite.multisets("ab", 2), intensity=intensity.PerPerson({0: 1})),
        lambda: spec(domain=TABLE, intensity=intensity.PerPerson({0: 1})),
        lambda: spec(domain=TABLE, unit=unit.AddRemove(), intensity=intensity.PerRecord({("r", "d"): 1})),
        lambda: intensity.PerRecord({"r": 1}),
        lambda: spec(intensity=intensity.PerRecord({("a", ("a", "z")): 1})),
        lambda: spec(intensity=intensity.PerRecord({("a", ("a", "a")): 1})),
        lambda: intensity.Drawn(value=1, prior={"x": "1/2"}, share=0),
        lambda: intensity.Drawn(value=1, prior={"x": 1}, share=1),
        lambda: intensity.Drawn(value=1, prior=[("x", 1)], share=0),  # type: ignore[arg-type]
        lambda: spec(intensity=intensity.Drawn(value=1, prior={("z", "z"): 1}, share=0)),
        lambda: spec(unit=unit.Hamming(), intensity=intensity.Drawn(value=1, prior=EVEN, share=0)),
        lambda: spec(domain=PEOPLE, intensity=intensity.Drawn(value=1, prior={(): 1}, share=0)),
        lambda: scope.OneInstance(("a", "b"), None),
        lambda: spec(scope=scope.OneInstance(("a", "b"), "b")),
        lambda: spec(domain=TABLE, scope=scope.OneInstance("census", 3), unit=unit.AddRemove()),
        lambda: scope.OneInstance("x", "r").check(domain.Finite(datasets=["x", "y"])),
    ],
)
def test_what_does_not_fit_is_refused(bad) -> None:
    with pytest.raises(SpecificationError):
        bad()


def test_one_record_of_one_dataset() -> None:
    bags = domain.Finite.multisets(["a", "b"], range(4))
    here = scope.OneInstance(("b", "a"), "a")
    assert [set(xs) for _, xs in here.universes(bags)] == [
        {("b",), ("a", "b")},
        {("a", "b")},
        {("a", "a", "b"), ("a", "b")},
    ]
    places = domain.Finite(datasets=list(product(["a", "b", None], repeat=2)), ordered=True)
    assert [xs for _, xs in scope.OneInstance(("a", "b"), "b").universes(places)] == [
        (("a", "b"),),
        (("a", "b"), ("a", None)),
    ]
    vectors = domain.Finite(datasets=[v for n in range(3) for v in product("ab", repeat=n)], ordered=True)
    assert [xs for _, xs in scope.OneInstance(("a", "b"), "b").universes(vectors)] == [
        (("a", "b"), ("a",)),
        (("a", "b"),),
    ]
    assert scope.OneDataset(("a", "b")).covers(scope.OneInstance(("a", "b"), "b"))
    assert not scope.OneInstance(("a", "b"), "b").covers(scope.OneDataset(("a", "b")))
    named_ = spec(domain=TABLE, scope=scope.OneInstance("register of 2030", "Ann"), unit=unit.AddRemove())
    assert "“Ann”" in named_.describe()
    assert Specification.from_json(named_.to_json()) == named_


def test_one_record_of_one_dataset_is_per_instance() -> None:
    for seed in range(8):
        world = generate.random_world(random.Random(seed), people=2, zeros=seed % 2 == 0)
        records = world.datasets[world.dataset]  # type: ignore[index]
        place = world.position
        if records.count(records[place]) > 1:  # type: ignore[index]
            continue
        vectors = {r: dict(zip(world.outputs, world.laws[x], strict=True)) for x, r in world.datasets.items()}
        made = spec(
            domain=domain.Finite(datasets=list(vectors), ordered=True),
            scope=scope.OneInstance(records, records[place]),  # type: ignore[index]
            unit=unit.FreeLunch(),
        )
        verdict = made.tightest(Mechanism(vectors))
        answer = named("PIDP").definition.tightest(world).value
        assert (verdict.exact, verdict.bounds) == (answer.exact, answer.bounds)
        assert Definition.of(made).neighbourhood == neighbourhood.PerInstance()


def test_words_and_json() -> None:
    records = {(r, x): 1 for x in BITS.datasets for r in x}
    for given in (
        intensity.PerPerson({0: 1, 1: Log(3)}),
        intensity.PerRecord(records),
        intensity.Drawn(value=Log(2), prior=EVEN, share="1/10"),
    ):
        made = spec(intensity=given)
        assert Specification.from_json(made.to_json()) == made
        assert made.varies
        assert made.describe()
        assert made.latex()
    assert "share of 0.1" in spec(intensity=intensity.Drawn(value=1, prior=EVEN, share="1/10")).describe()
    assert "for person 1" in spec(intensity=intensity.PerPerson({0: 1, 1: 2})).describe()
    unlisted = spec(domain=TABLE, unit=unit.AddRemove(key="person"), intensity=intensity.PerPerson({"ann": 1}))
    assert "For anyone else nothing is promised" in unlisted.describe()
    data = json.loads(spec(intensity=intensity.Drawn(value=1, prior=EVEN, share=0)).to_json())
    data["intensity"]["prior"] = [data["intensity"]["prior"][0]] * 4
    with pytest.raises(SpecificationError, match="twice"):
        Specification.from_json(json.dumps(data))


def varied_specs() -> list[Specification]:
    """Two units with numbers by person and by record, for drawn pairs and for all."""
    tilted = {x: F(i + 1, 10) for i, x in enumerate(BITS.datasets)}
    by_record = {(r, x): Log(2) if r == "a" else Log(5) for x in BITS.datasets for r in x}
    given: list[object] = [
        Log(2),
        Log(4),
        intensity.PerPerson({0: Log(2), 1: Log(4)}),
        intensity.PerPerson({0: Log(4), 1: Log(2)}),
        intensity.PerRecord(by_record),
        intensity.Drawn(value=Log(2), prior=EVEN, share="1/4"),
        intensity.Drawn(value=Log(2), prior=EVEN, share="1/8"),
        intensity.Drawn(value=Log(4), prior=tilted, share="1/4"),
    ]
    units = (unit.Replace(), unit.Replace(group=2), unit.OneSided(["a"]))
    return [spec(unit=chosen, intensity=value) for chosen in units for value in given]


def test_no_implication_between_intensities_is_refuted_by_a_small_world(ci: bool) -> None:
    """All mechanisms with probabilities in quarters on two outputs, or some of them."""
    specs = varied_specs()
    implied = [(i, j) for i, a in enumerate(specs) for j, b in enumerate(specs) if i != j and a.implies(b).holds]
    kinds = {(type(specs[i].intensity).__name__, type(specs[j].intensity).__name__) for i, j in implied}
    assert {
        ("Log", "PerPerson"),
        ("PerPerson", "Log"),
        ("Log", "Drawn"),
        ("Drawn", "Drawn"),
    } <= kinds
    assert not any(a == "Drawn" and b != "Drawn" for a, b in kinds)
    every = list(product([F(i, 4) for i in range(5)], repeat=4))
    held = 0
    for row in every if ci else random.Random(6).sample(every, 40):
        mechanism = Mechanism({x: {"0": p, "1": 1 - p} for x, p in zip(BITS.datasets, row, strict=True)})
        status = [each.holds(mechanism).status for each in specs]
        held += status.count("holds")
        for i, j in implied:
            assert status[i] != "holds" or status[j] == "holds", (specs[i], specs[j])
    assert held
