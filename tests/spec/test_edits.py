"""Units that join others: bounded and unbounded at once, elements of people, records that depend on each other."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, product

import pytest

from quincunx import Specification, domain, scope, standard, unit
from quincunx.errors import SpecificationError
from quincunx.finite import Mechanism
from quincunx.spec.paths import Paths
from quincunx.taxonomy import Definition, neighbourhood
from quincunx.taxonomy.world import build

F = Fraction
BAGS = domain.Finite.multisets(["a", "b", "c"], range(4))
VISITS = [("ann", "x", 1), ("ann", "x", 2), ("ann", "y", 1), ("bob", "x", 1)]
ROWS = domain.Finite.multisets(VISITS, range(4), columns=["person", "site", "day"])
EDIT, ADD, SWAP = unit.AddRemoveReplace(), unit.AddRemove(), unit.Replace()


def spec(world: domain.Domain, chosen: unit.Unit, intensity: object = 1) -> Specification:
    return Specification(
        domain=world, scope=scope.Everything(), unit=chosen, standard=standard.Pure(), intensity=intensity
    )


def test_one_change_is_one_addition_removal_or_replacement() -> None:
    """On every pair of multisets it is the union of the two relations, and its number of changes the shortest path."""
    for x, y in combinations(BAGS.datasets, 2):
        near = {u.distance(x, y, BAGS) for u in (ADD, SWAP)}
        assert (EDIT.distance(x, y, BAGS) == 1) is (1 in near)
    paths = Paths(EDIT, BAGS.datasets, BAGS)
    for x, y in combinations(BAGS.datasets, 2):
        assert paths.length(x, y) == EDIT.changes(EDIT.view(x, BAGS), EDIT.view(y, BAGS))


def test_on_vectors_it_is_the_edit_distance() -> None:
    vectors = domain.Finite(datasets=[v for n in range(4) for v in product("ab", repeat=n)], ordered=True)
    paths = Paths(EDIT, vectors.datasets, vectors)
    for x, y in combinations(vectors.datasets, 2):
        assert paths.length(x, y) == EDIT.changes(EDIT.view(x, vectors), EDIT.view(y, vectors))


@pytest.mark.parametrize("ours", [EDIT, unit.AddRemoveReplace(group=2), ADD, unit.AddRemove(group=3)], ids=repr)
@pytest.mark.parametrize("theirs", [EDIT, unit.AddRemoveReplace(group=3), ADD, SWAP, unit.Replace(group=2)], ids=repr)
def test_steps_are_enough_and_are_needed(ours: unit.Unit, theirs: unit.Unit) -> None:
    """On all multisets of up to six records: no step of the other is longer than promised, and one is as long."""
    world = domain.Finite.multisets(["a", "b"], range(7))
    steps, paths = ours.steps_to(theirs), Paths(ours, world.datasets, world)
    lengths = [paths.length(x, y) for x, y, _ in theirs.protected_pairs(world.datasets, world)]
    assert steps is not None
    assert None not in lengths
    assert max(lengths) <= steps  # type: ignore[type-var]
    if ours != theirs:
        assert max(lengths) == steps  # type: ignore[type-var]


def test_keys_and_periods() -> None:
    person = unit.AddRemoveReplace(key="person")
    assert person.distance((VISITS[0],), (VISITS[0], VISITS[2]), ROWS) == 1
    assert person.distance((VISITS[0],), (VISITS[3],), ROWS) == 1
    assert unit.AddRemove(key="person").distance((VISITS[0],), (VISITS[0], VISITS[2]), ROWS) == float("inf")
    day = unit.AddRemoveReplace(key="person", per={"column": "day", "period": "day"})
    assert person.steps_to(day) == 4
    assert unit.AddRemove(key="person").steps_to(day) == 4
    assert day.steps_to(person) is None
    assert person.steps_to(unit.Replace(key="person")) == 1
    assert unit.Replace(key="person").steps_to(person) is None
    assert EDIT.steps_to(person) is None
    assert EDIT.times(3) == unit.AddRemoveReplace(group=3)
    for chosen in (EDIT, person, day, unit.AddRemoveReplace(group=2)):
        assert chosen.words().endswith(".")
        assert chosen.hidden()
        assert chosen.unpromised()


def element() -> unit.Element:
    return unit.Element(key="person", element="site")


def test_an_element_is_the_rows_of_one_person_and_one_value() -> None:
    """On every pair: at distance 1 exactly where all rows that differ have one person and one site."""
    for x, y in combinations(ROWS.datasets, 2):
        one, two = ROWS.records(x), ROWS.records(y)
        owners = {row[:2] for row in (*(one - two), *(two - one))}  # type: ignore[index]
        assert (element().distance(x, y, ROWS) == 1) is (len(owners) == 1)
        assert element().changes(element().view(x, ROWS), element().view(y, ROWS)) == len(owners)


def test_steps_between_people_and_elements() -> None:
    whole, edit = unit.AddRemove(key="person"), unit.AddRemoveReplace(key="person")
    assert whole.steps_to(element()) == 2
    assert edit.steps_to(element()) == 1
    assert element().steps_to(whole) is None
    assert element().steps_to(element().times(3)) == 3
    assert element().steps_to(unit.Element(key="person", element="day")) is None
    for ours, steps in ((whole, 2), (edit, 1)):
        paths = Paths(ours, ROWS.datasets, ROWS)
        lengths = [paths.length(x, y) for x, y, _ in element().protected_pairs(ROWS.datasets, ROWS)]
        assert max(lengths) == steps  # type: ignore[type-var]


def test_dependent_records_are_the_neighbourhood() -> None:
    dice = random.Random(4)
    vectors = list(product(["a", "b", None], repeat=3))
    for size in (1, 2, 3):
        for _ in range(4):
            follows = {i: [j for j in range(3) if j != i and dice.random() < 0.6] for i in range(3)}
            names = {vector: str(i) for i, vector in enumerate(vectors)}
            weights = {v: [dice.randint(1, 6) for _ in range(2)] for v in vectors}
            table = {v: {"0": F(w[0], sum(w)), "1": F(w[1], sum(w))} for v, w in weights.items()}
            world = build(
                {
                    "datasets": {names[v]: list(v) for v in vectors},
                    "laws": {names[v]: table[v] for v in vectors},
                    "dependence": {str(i): others for i, others in follows.items()},
                },
            )
            made = spec(domain.Finite(datasets=vectors, ordered=True), unit.Dependent(follows, size))
            definition = Definition(neighbourhood=neighbourhood.Dependent(size))
            assert made.tightest(Mechanism(table)).exact == definition.tightest(world).value.exact
            assert Definition.of(made) == definition
            assert Specification.from_json(made.to_json()) == made


def test_dependence_of_size_one_is_replace() -> None:
    world = domain.Finite.vectors("ab", 3)
    one = {(x, y) for x, y, _ in unit.Dependent({0: [1, 2]}, 1).protected_pairs(world.datasets, world)}
    assert one == {(x, y) for x, y, _ in SWAP.protected_pairs(world.datasets, world)}
    assert unit.Dependent({0: [1, 2]}, 2).steps_to(unit.Dependent({0: [1]}, 2)) == 1
    assert unit.Dependent({0: [1]}, 2).steps_to(unit.Dependent({0: [1, 2]}, 2)) is None
    assert unit.Dependent({0: [1]}, 2).steps_to(unit.Dependent({}, 1)) == 1


@pytest.mark.parametrize(
    "bad",
    [
        lambda: unit.Dependent({0: [-1]}, 2),
        lambda: unit.Dependent({"0": [1]}, 2),  # type: ignore[dict-item]
        lambda: unit.Dependent([(0, [1])], 2),  # type: ignore[arg-type]
        lambda: unit.Dependent({0: [1]}, 2).times(2),
        lambda: unit.Dependent({0: [7]}, 2).check(domain.Finite.vectors("ab", 2)),
        lambda: unit.Dependent({0: [1]}, 2).check(BAGS),
        lambda: unit.Dependent.from_json({"dependence": [[0, [1]], [0, [2]]], "size": 2}),
        lambda: unit.Element(key="", element="site"),
        lambda: unit.Element(key="person", element=3),  # type: ignore[arg-type]
        lambda: unit.Element(key="person", element="person"),
        lambda: unit.Element(key="person", element="place").check(ROWS),
        lambda: element().check(domain.Finite.vectors("ab", 2)),
    ],
)
def test_what_does_not_fit_is_refused(bad) -> None:
    with pytest.raises(SpecificationError):
        bad()


def test_json_words_and_definitions() -> None:
    mapped = {
        EDIT: neighbourhood.OneRecord(),
        unit.AddRemoveReplace(group=2): neighbourhood.Group(2),
        unit.Element(key="person", element="site"): neighbourhood.Element(),
    }
    for chosen, expected in mapped.items():
        made = spec(ROWS, chosen)
        assert Specification.from_json(made.to_json()) == made
        assert Definition.of(made).neighbourhood == expected
        assert made.describe()
        assert made.latex()
    assert repr(element().times(2)) == "Element(key='person', element='site', group=2)"
    assert "Up to 2 times" in element().times(2).words()
