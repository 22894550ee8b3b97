"""The Hamming distance as a metric: distances, comparison with the units of steps, words and JSON."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import inf

import pytest

from quincunx.errors import SpecificationError
from quincunx.finite import Mechanism
from quincunx.spec import Specification, standard, unit
from quincunx.spec.domain import Finite, Tables
from quincunx.spec.scope import Everything, Invariants
from quincunx.spec.unit import AddRemove, Hamming, Replace

MULTISETS = Finite.multisets("abc", range(4))
VECTORS = Finite.vectors("ab", 3)
PEOPLE = Finite.multisets([("ann", 1), ("ann", 2), ("bob", 1)], range(3), columns=["person", "value"])
TABLE = Tables(columns={"person": "text", "value": "integer"})


def spec(what: unit.Unit, intensity: object = 1, where: object = None, on: object = TABLE) -> Specification:
    return Specification(
        domain=on, scope=where or Everything(), unit=what, standard=standard.Pure(), intensity=intensity
    )


@pytest.mark.parametrize(("on", "key"), [(MULTISETS, None), (VECTORS, None), (PEOPLE, "person")])
def test_it_counts_the_replacements(on, key):
    for x, y in itertools.product(on.datasets, repeat=2):
        steps = [k for k in range(4) if k and Replace(key=key, group=k).distance(x, y, on) <= 1]
        expected = 0 if x == y else steps[0] if steps else inf
        found = Hamming(key=key).distance(x, y, on)
        assert found == expected
        assert isinstance(found, Fraction) or found == inf


def test_it_is_a_metric():
    for x, y, z in itertools.product(MULTISETS.datasets, repeat=3):
        d = [Hamming().distance(a, b, MULTISETS) for a, b in ((x, y), (y, z), (x, z))]
        assert d[2] <= d[0] + d[1]
        assert d[0] == Hamming().distance(y, x, MULTISETS)


def test_protected_pairs_are_all_pairs_of_equal_size():
    pairs = list(Hamming().protected_pairs(MULTISETS.datasets, MULTISETS))
    sizes = [len(x) for x in MULTISETS.datasets]
    assert len(pairs) == sum(a == b for a, b in itertools.combinations(sizes, 2))
    assert {distance for _, _, distance in pairs} == {1, 2, 3}


def test_steps_to_other_units():
    assert Hamming().steps_to(Hamming()) == 1
    assert Hamming().steps_to(Replace()) == 1
    assert Hamming().steps_to(Replace(group=5)) == 5
    assert Hamming().steps_to(AddRemove()) is None
    assert Hamming(key="person").steps_to(Replace()) is None
    assert AddRemove().steps_to(Hamming()) == 2


def test_it_protects_distant_pairs_without_a_path():
    """Inside invariants no single replacement is possible, and steps of Replace say nothing about two of them."""
    facts = Invariants({"total": "people by value"})
    metric, steps = spec(Hamming(), 1, facts), spec(Replace(), 1, facts)
    assert metric.implies(spec(Replace(group=2), 2, facts))
    assert not metric.implies(spec(Replace(group=2), "1.9", facts))
    assert metric.implies(steps)
    assert not steps.implies(metric)
    assert "may leave the universe" in steps.implies(metric).reason
    assert not steps.implies(spec(Replace(group=2), 2, facts))


def test_with_everything_as_scope_steps_give_the_metric():
    assert spec(Replace()).implies(spec(Hamming()))
    assert spec(AddRemove()).implies(spec(Hamming(), 2))
    assert not spec(AddRemove()).implies(spec(Hamming(), "1.9"))
    assert spec(Replace()).compare(spec(Hamming())).relation == "equal"


def test_rules_agree_with_enumeration():
    """Replace alone, inside an invariant that forbids single replacements, really does not give the metric."""
    rows = list(itertools.product("ab", (0, 1)))
    world = Finite.multisets(rows, 2, columns=["person", "value"])
    margins = Invariants.counts(["person"], ["value"])
    revealing = Mechanism({x: {x: 1} for x in world.datasets})
    with pytest.warns(match="promises nothing"):
        steps = spec(Replace(), 0, margins, world)
    assert steps.holds(revealing)
    metric = spec(Hamming(), 100, margins, world)
    assert metric.holds(revealing).status == "fails"
    assert not steps.implies(metric)


def test_words_and_json():
    value = Hamming(key="person")
    assert value.words().startswith("One person, with all its rows, being exchanged for another, while")
    assert "the intensity times the number of exchanges between them" in value.words()
    assert value.hidden() == "one person, with all its rows, was exchanged for another"
    assert "how many different values of person are in the data" in value.unpromised()
    assert Hamming().words().startswith("One person, who is one record, being exchanged for another person, while")
    assert Hamming().hidden() == Replace().hidden()
    # The key may be a household's: nothing says that it is a person.
    assert "person" not in Hamming(key="home").words()
    assert "d_{\\mathrm{Ham}}" in value.latex()
    for each in (value, Hamming()):
        assert unit.from_json(each.to_json()) == each
        assert eval(repr(each), {"Hamming": Hamming}) == each
    assert Hamming() != Replace()
    assert value.moves_between_parts
    assert value.is_metric


def test_bad_input():
    with pytest.raises(SpecificationError, match="no group of steps"):
        Hamming().times(2)
    with pytest.raises(SpecificationError, match="no column 'size'"):
        Hamming(key="size").check(TABLE)
    with pytest.raises(SpecificationError, match="name of a column"):
        Hamming(key="")
    with pytest.raises(SpecificationError, match="does not grow in proportion"):
        Specification(domain=TABLE, scope=Everything(), unit=Hamming(), standard=standard.ZCDP(), intensity=1)
    with pytest.raises(SpecificationError, match="no group of steps"):
        spec(Hamming()).group(2)
