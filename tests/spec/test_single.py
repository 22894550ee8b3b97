"""Units of one record's content, the unit of any change, and universes that are listed."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from quincunx import Specification, domain, scope, standard, unit
from quincunx.errors import SpecificationError
from quincunx.finite import Mechanism
from quincunx.taxonomy import Definition, neighbourhood
from quincunx.taxonomy.world import build

F = Fraction
VALUES = {
    "attribute": [("f", "1"), ("f", "2"), ("m", "1"), ("m", "2")],
    "bit": ["00", "01", "10", "11"],
    "blowfish": ["low", "middle", "high"],
    "free-lunch": ["a", "b"],
}
LINE = [("low", "middle"), ("middle", "high")]
UNITS = {
    "attribute": (unit.Attribute(), neighbourhood.Attribute()),
    "bit": (unit.Bit(), neighbourhood.Bit()),
    "blowfish": (unit.Blowfish(LINE), neighbourhood.Blowfish()),
    "free-lunch": (unit.FreeLunch(), neighbourhood.FreeLunch()),
}


def table(dice: random.Random, names: list[str]) -> dict[str, dict[str, Fraction]]:
    found = {}
    for name in names:
        weights = [dice.randint(1, 9) for _ in range(3)]
        found[name] = {str(o): F(w, sum(weights)) for o, w in enumerate(weights)}
    return found


@pytest.mark.parametrize("kind", UNITS)
def test_the_unit_and_the_neighbourhood_say_the_same(kind: str) -> None:
    chosen, other = UNITS[kind]
    dice = random.Random(kind)
    vectors = list(product(VALUES[kind], repeat=2))
    names = {vector: str(i) for i, vector in enumerate(vectors)}
    laws = table(dice, list(names.values()))
    world = build(
        {
            "datasets": {names[v]: [list(r) if isinstance(r, tuple) else r for r in v] for v in vectors},
            "laws": laws,
            "policy": [list(edge) for edge in LINE],
        },
    )
    spec = Specification(
        domain=domain.Finite(datasets=vectors, ordered=True),
        scope=scope.Everything(),
        unit=chosen,
        standard=standard.Pure(),
        intensity=1,
    )
    mechanism = Mechanism({v: laws[names[v]] for v in vectors})
    assert spec.tightest(mechanism).exact == Definition(neighbourhood=other).tightest(world).value.exact
    assert Specification.from_json(spec.to_json()) == spec
    assert spec.describe()
    assert spec.latex()


@pytest.mark.parametrize("kind", ["attribute", "bit", "blowfish"])
def test_content_needs_vectors_and_has_no_groups(kind: str) -> None:
    chosen, _ = UNITS[kind]
    for where in (domain.Histogram(cells=["a"]), domain.Finite(datasets=["a", "b"])):
        with pytest.raises(SpecificationError, match="vectors"):
            chosen.check(where)
    with pytest.raises(SpecificationError, match="no unit"):
        chosen.times(2)
    assert chosen.distance(("a",), ("a", "b"), domain.Finite(datasets=[("a",), ("a", "b")])) == float("inf")


def test_a_policy_is_a_graph_without_loops() -> None:
    assert unit.Blowfish([("b", "a"), ("a", "b")]).policy == (("a", "b"),)
    for wrong in ([], [("a", "a")], [("a",)], ["ab"]):
        with pytest.raises(SpecificationError):
            unit.Blowfish(wrong)


def test_a_free_lunch_implies_every_premetric() -> None:
    cells = domain.Histogram(cells=["a", "b"])

    def spec(chosen: unit.Unit) -> Specification:
        return Specification(domain=cells, scope=scope.Everything(), unit=chosen, standard=standard.Pure(), intensity=1)

    assert spec(unit.FreeLunch()).compare(spec(unit.Replace())).relation == "stronger"
    assert unit.FreeLunch().steps_to(unit.Hamming()) is None
    assert unit.FreeLunch().times(5) == unit.FreeLunch()


def test_universes_may_overlap_and_are_judged_one_by_one() -> None:
    world = domain.Finite(datasets=("a", "b", "c"))
    where = scope.Universes({"early": ["a", "b"], "late": ["b", "c"]})
    spec = Specification(
        domain=world, scope=where, unit=unit.FreeLunch(), standard=standard.Pure(), intensity={"early": 1, "late": 3}
    )
    laws = {"a": {"0": "1/2", "1": "1/2"}, "b": {"0": "1/3", "1": "2/3"}, "c": {"0": "1/20", "1": "19/20"}}
    mechanism = Mechanism(laws)
    assert spec.holds(mechanism)
    # a and c are never compared: 10 would need more than 2, b and c need ln(20/3).
    assert str(spec.tightest(mechanism).exact) == "ln(20/3)"
    tight = Specification(
        domain=world, scope=where, unit=unit.FreeLunch(), standard=standard.Pure(), intensity={"early": 3, "late": 1}
    )
    assert tight.holds(mechanism).status == "fails"
    assert Specification.from_json(spec.to_json()) == spec


def test_universes_are_joined_and_ordered() -> None:
    one = scope.Universes({"x": ["a", "b", "c"], "y": ["c", "d"]})
    two = scope.Universes({"z": ["b", "c"]})
    assert one.covers(two)
    assert not two.covers(one)
    assert one.join(two) == two
    three = scope.Universes({"w": ["c", "d", "e"]})
    assert one.join(three) == scope.Universes({"x and w": ["c"], "y and w": ["c", "d"]})
    with pytest.raises(SpecificationError, match="in common"):
        two.join(scope.Universes({"far": ["e"]}))
    with pytest.raises(SpecificationError, match="no scope is known"):
        two.join(scope.OneDataset("a"))


@pytest.mark.parametrize("wrong", [{}, [], {"": ["a"]}, {"x": []}])
def test_bad_universes_are_refused(wrong: object) -> None:
    with pytest.raises(SpecificationError):
        scope.Universes(wrong)  # type: ignore[arg-type]


def test_universes_hold_datasets_of_a_finite_domain() -> None:
    with pytest.raises(SpecificationError, match="stranger"):
        scope.Universes({"x": ["q"]}).check(domain.Finite(datasets=("a", "b")))
    with pytest.raises(SpecificationError, match="does not fit"):
        scope.Universes({"x": ["q"]}).check(domain.Histogram(cells=["a"]))
