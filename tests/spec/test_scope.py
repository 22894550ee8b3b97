"""Scopes: their universes on finite worlds, and what they cover."""

from __future__ import annotations

from dataclasses import fields

import pytest
from small_worlds import deterministic

from quincunx.errors import SpecificationError
from quincunx.spec import Specification, scope, standard, unit
from quincunx.spec.domain import Finite, Histogram, Tables
from quincunx.spec.scope import Everything, Invariants, OneDataset, Scope

WORLD = Finite.multisets("ab", range(3))
TABLE = Tables(columns={"id": "text"})


def women(dataset: tuple[str, ...]) -> int:
    return dataset.count("a")


class TestEverything:
    def test_one_universe_holds_all(self):
        assert Everything().universes(WORLD) == [("everything", WORLD.datasets)]

    def test_covers_every_scope(self):
        for other in (Everything(), Invariants({"n": "people"}), OneDataset("x")):
            assert Everything().covers(other)

    def test_words_do_not_call_anything_public(self):
        assert "no fact is set aside" in Everything().words()
        assert Everything().unpromised() == ""


class TestInvariants:
    def test_universes_are_level_sets(self):
        found = dict(Invariants({"total": len}).universes(WORLD))
        assert set(found) == {"total = 0", "total = 1", "total = 2"}
        assert set(found["total = 2"]) == {("a", "a"), ("a", "b"), ("b", "b")}

    def test_they_partition_the_domain(self):
        found = Invariants({"total": len, "women": women}).universes(WORLD)
        assert sorted(x for _, datasets in found for x in datasets) == sorted(WORLD.datasets)
        # Size and number of a's fix a multiset over {a, b}.
        assert all(len(datasets) == 1 for _, datasets in found)
        assert "total = 2, women = 1" in dict(found)

    def test_the_order_of_writing_does_not_matter(self):
        one, two = Invariants({"b": "x", "a": "y"}), Invariants({"a": "y", "b": "x"})
        assert one == two
        assert hash(one) == hash(two)
        assert one.texts == (("a", "y"), ("b", "x"))

    def test_functions_are_described_by_their_names(self):
        assert Invariants({"total": len}).texts == (("total", "len"),)
        assert Invariants({"women": women}).texts[0][1].endswith("test_scope.women")

    def test_a_text_may_come_with_a_function(self):
        one = Invariants({"total": ("number of people", lambda x: 1 * len(x))})
        assert one.texts == (("total", "number of people"),)
        assert len(one.universes(WORLD)) == 3

    @pytest.mark.parametrize("function", [lambda x: 1 * len(x), type("F", (), {"__call__": lambda _, x: len(x)})()])
    def test_a_nameless_function_needs_a_text(self, function):
        with pytest.raises(SpecificationError, match="needs a text") as caught:
            Invariants({"total": function})
        assert "lambda" in caught.value.hint

    def test_a_text_cannot_be_enumerated_but_described_and_compared(self):
        read = scope.from_json(Invariants({"total": len}).to_json())
        assert read == Invariants({"total": len})
        assert "total (len)" in read.words()
        assert read.covers(Invariants({"total": "len", "women": "w"}))
        assert not read.enumerable(WORLD)
        with pytest.raises(SpecificationError, match="'total' has no function") as caught:
            read.universes(WORLD)
        assert "build the scope again" in caught.value.hint

    def test_one_function_of_two_is_not_enough(self):
        assert not Invariants({"total": len, "women": "w"}).enumerable(WORLD)

    def test_fewer_invariants_cover_more(self):
        one, both = Invariants({"a": "x"}), Invariants({"a": "x", "b": "y"})
        assert one.covers(both)
        assert not both.covers(one)
        assert not one.covers(Invariants({"a": "other text"}))
        assert not one.covers(Everything())
        assert not one.covers(OneDataset("x"))

    def test_an_invariant_that_fails_is_named(self):
        with pytest.raises(SpecificationError, match="'first' failed; got IndexError"):
            Invariants({"first": ("first record", lambda x: x[0])}).universes(WORLD)

    def test_an_invariant_must_be_hashable(self):
        with pytest.raises(SpecificationError, match="'all' failed; got TypeError"):
            Invariants({"all": list}).universes(WORLD)

    def test_universes_must_have_different_names(self):
        class Mute:
            def __repr__(self):
                return "mute"

        with pytest.raises(SpecificationError, match="same name"):
            Invariants({"thing": ("a thing", lambda x: Mute())}).universes(WORLD)  # noqa: ARG005

    @pytest.mark.parametrize("value", [{}, "total", None, ["total"]])
    def test_no_mapping_is_refused(self, value):
        with pytest.raises(SpecificationError, match=r"Everything\(\)"):
            Invariants(value)

    @pytest.mark.parametrize("value", [3, "", None, ("text", 3), (3, len), ("a", "b", "c"), ("", len)])
    def test_what_is_no_invariant_is_refused(self, value):
        with pytest.raises(SpecificationError, match="cannot read this invariant"):
            Invariants({"total": value})

    @pytest.mark.parametrize("name", ["", 3])
    def test_a_name_is_a_text(self, name):
        with pytest.raises(SpecificationError, match="name must be a text"):
            Invariants({name: "x"})

    def test_words_say_that_the_facts_are_not_protected(self):
        value = Invariants({"total": "number of people", "women": "number of women"})
        assert "total (number of people); women (number of women)" in value.words()
        assert "outside the protection" in value.words()
        assert value.unpromised() == "protect the published facts (total and women) or what follows from them"
        assert r"\text{total, women}" in value.latex()


class TestOneDataset:
    def test_universes_are_pairs_with_the_centre(self):
        found = OneDataset(("b", "a")).universes(WORLD)
        assert len(found) == len(WORLD.datasets)
        assert dict(found)["('a',)"] == (("a", "b"), ("a",))
        assert dict(found)["('a', 'b')"] == (("a", "b"),)

    def test_the_centre_must_be_in_the_domain(self):
        with pytest.raises(SpecificationError, match="not in the domain"):
            OneDataset(("c",)).check(WORLD)
        with pytest.raises(SpecificationError, match="not in the domain"):
            OneDataset(("c",)).universes(WORLD)

    def test_on_other_domains_the_dataset_is_named_not_shown(self):
        OneDataset("census 2020").check(TABLE)
        for secret in ((("ann",),), (3, 4), 7):
            with pytest.raises(SpecificationError, match="must not contain the data") as caught:
                OneDataset(secret).check(TABLE)
            assert "ann" not in str(caught.value)

    def test_covers_only_itself(self):
        assert OneDataset("x").covers(OneDataset("x"))
        assert not OneDataset("x").covers(OneDataset("y"))
        assert not OneDataset("x").covers(Everything())

    def test_it_must_be_hashable(self):
        with pytest.raises(SpecificationError, match="hashable"):
            OneDataset(["x"])

    def test_words(self):
        assert "one dataset, “census 2020”: it is" in OneDataset("census 2020").words()
        assert "one dataset, ('a',): it is" in OneDataset(("a",)).words()
        assert "one dataset" in OneDataset("x").unpromised()
        assert "x^*" in OneDataset("x").latex()


EXAMPLES = [Everything(), Invariants({"total": len, "w": "SELECT 1"}), OneDataset("x"), OneDataset(("a", ("b", 1)))]


@pytest.mark.parametrize("value", EXAMPLES, ids=repr)
class TestEveryScope:
    def test_json_gives_it_back(self, value):
        assert scope.from_json(value.to_json()) == value

    def test_repr_rebuilds_it(self, value):
        names = {"Everything": Everything, "Invariants": Invariants, "OneDataset": OneDataset}
        assert eval(repr(value), names) == value

    def test_it_is_frozen_and_hashable(self, value):
        assert hash(value) == hash(scope.from_json(value.to_json()))
        for each in fields(value):
            with pytest.raises(AttributeError):
                setattr(value, each.name, 1)

    @pytest.mark.parametrize("other", [TABLE, Histogram(cells=2)], ids=["tables", "histogram"])
    def test_large_domains_cannot_be_listed(self, value, other):
        assert isinstance(value, Scope)
        assert not value.enumerable(other)
        with pytest.raises(SpecificationError, match="Finite domain only"):
            value.universes(other)

    def test_it_covers_itself(self, value):
        assert value.covers(value)


class TestInvariantsAsScope:
    """A release of the invariants alone costs nothing inside its scope, and no finite number does outside."""

    def spec(self, where):
        return Specification(domain=WORLD, scope=where, unit=unit.Replace(), standard=standard.Pure(), intensity=0)

    def test_free_inside(self):
        counted = deterministic(WORLD.datasets, len)
        verdict = self.spec(Invariants({"total": len})).holds(counted)
        assert verdict.holds
        assert verdict.intensity == 0
        assert verdict.exact == 0
        assert verdict.witness is not None

    def test_another_fact_is_not_free(self):
        release = deterministic(WORLD.datasets, women)
        assert self.spec(Invariants({"total": len})).tightest(release).intensity == float("inf")

    def test_infinite_outside(self):
        where = Specification(
            domain=WORLD, scope=Everything(), unit=unit.AddRemove(), standard=standard.Pure(), intensity=100
        )
        verdict = where.holds(deterministic(WORLD.datasets, len))
        assert verdict.status == "fails"
        assert verdict.intensity == float("inf")
        assert verdict.exact is None
        assert {verdict.witness.probability, verdict.witness.probability_prime} == {0, 1}
