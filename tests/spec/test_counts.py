"""Counts by columns: their SQL, their order, their values on finite worlds, and scopes made of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quincunx.errors import SpecificationError
from quincunx.spec import Specification, scope, standard, unit
from quincunx.spec.domain import Finite, Histogram, Tables
from quincunx.spec.scope import Counts, Everything, Invariants, OneDataset

ROWS = list(itertools.product("ab", (0, 1)))
WORLD = Finite.multisets(ROWS, [2, 3], columns=["county", "age"])
TABLE = Tables(columns={"county": "text", "age": "integer", "block": "text"})


class TestCounts:
    def test_the_order_of_columns_has_no_meaning(self):
        assert Counts("b", "a") == Counts("a", "b")
        assert Counts("b", "a").columns == ("a", "b")
        assert Counts("b", "a").name == "a × b"
        assert hash(Counts("b", "a")) == hash(Counts("a", "b"))

    def test_sql(self):
        assert Counts("county", "age").sql == "SELECT age, county, COUNT(*) FROM data GROUP BY age, county"
        assert Counts("a b", 'say "x"').sql.startswith('SELECT "a b", "say ""x""", COUNT(*)')
        assert Counts("Upper").sql == 'SELECT "Upper", COUNT(*) FROM data GROUP BY "Upper"'

    @given(st.sets(st.text(min_size=1, max_size=6), min_size=1, max_size=4))
    def test_sql_is_read_back(self, names):
        assert Counts.from_sql(Counts(*names).sql) == Counts(*names)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "number of people",
            "SELECT a, COUNT(*) FROM data GROUP BY b",
            "SELECT b, a, COUNT(*) FROM data GROUP BY b, a",
            "SELECT a, a, COUNT(*) FROM data GROUP BY a, a",
            'SELECT "a", COUNT(*) FROM data GROUP BY "a"',
            "select a, count(*) from data group by a",
            "SELECT a, COUNT(*) FROM data GROUP BY a ",
            "SELECT a, COUNT(*) FROM other GROUP BY a",
        ],
    )
    def test_other_texts_are_not_guessed(self, text):
        assert Counts.from_sql(text) is None

    def test_repr_rebuilds_it(self):
        value = Counts("a", 'say "x"')
        assert eval(repr(value), {"Counts": Counts}) == value

    @pytest.mark.parametrize("columns", [(), ("a", "a"), ("",), (3,), (None, "a")])
    def test_what_is_no_grouping_is_refused(self, columns):
        with pytest.raises(SpecificationError, match="different names of columns"):
            Counts(*columns)

    def test_counts_of_a_dataset(self):
        dataset = (("a", 0), ("a", 1), ("b", 1))
        assert Counts("county").of(dataset, WORLD) == ((("a",), 2), (("b",), 1))
        assert Counts("age", "county").of(dataset, WORLD) == (((0, "a"), 1), ((1, "a"), 1), ((1, "b"), 1))

    def test_more_columns_determine_fewer(self):
        groupings = [Counts("county"), Counts("age"), Counts("age", "county")]
        for one, two in itertools.product(groupings, repeat=2):
            fixed: dict[object, set[object]] = {}
            for dataset in WORLD.datasets:
                fixed.setdefault(one.of(dataset, WORLD), set()).add(two.of(dataset, WORLD))
            assert one.determines(two) == all(len(values) == 1 for values in fixed.values())

    @pytest.mark.parametrize("where", [Histogram(cells=3), Finite.multisets("ab", 2), TABLE])
    def test_a_domain_must_have_the_columns(self, where):
        with pytest.raises(SpecificationError, match="no column 'size'"):
            Counts("size").check(where)


class TestScopesOfCounts:
    def test_names_and_texts(self):
        value = Invariants.counts(["county"], ["county", "age"])
        assert value == Invariants({"county": Counts("county"), "age × county": Counts("age", "county")})
        assert dict(value.texts)["county"] == Counts("county").sql

    def test_a_name_of_ones_own(self):
        value = Invariants({"people by county": Counts("county")})
        assert value.texts == (("people by county", Counts("county").sql),)
        assert Invariants({"x": ("text", Counts("county"))}).texts == (("x", Counts("county").sql),)

    def test_a_text_is_no_list_of_columns(self):
        with pytest.raises(SpecificationError, match="groupings of columns"):
            Invariants.counts("county")

    def test_universes_agree_on_the_counts(self):
        value = Invariants.counts(["county"], ["age"])
        for name, datasets in value.universes(WORLD):
            assert len({(Counts("county").of(x, WORLD), Counts("age").of(x, WORLD)) for x in datasets}) == 1
            assert name.startswith("age = ")
        assert sorted(x for _, datasets in value.universes(WORLD) for x in datasets) == sorted(WORLD.datasets)

    def test_json_keeps_them_computable(self):
        value = Invariants.counts(["county"], ["age", "county"])
        again = scope.from_json(value.to_json())
        assert again == value
        assert again.enumerable(WORLD)
        assert again.universes(WORLD) == value.universes(WORLD)

    def test_a_specification_checks_the_columns(self):
        blocks = {"scope": Invariants.counts(["size"]), "unit": unit.Replace(), "standard": standard.Pure()}
        with pytest.raises(SpecificationError, match="no column 'size'"):
            Specification(domain=TABLE, intensity=1, **blocks)

    def test_coarser_counts_cover_finer_ones_whatever_they_are_called(self):
        coarse, fine = Invariants({"x": Counts("county")}), Invariants({"y": Counts("county", "age"), "z": "text"})
        assert coarse.covers(fine)
        assert not fine.covers(coarse)
        assert fine.misfit(coarse) == "datasets that disagree on y and z"
        assert coarse.misfit(fine) == ""
        assert coarse.misfit(Everything()) == "datasets that disagree on x"

    @given(
        st.lists(st.sets(st.sampled_from(["county", "age"]), min_size=1), min_size=1, max_size=2),
        st.lists(st.sets(st.sampled_from(["county", "age"]), min_size=1), min_size=1, max_size=2),
    )
    def test_covering_means_that_universes_lie_inside(self, one, two):
        ours, theirs = Invariants.counts(*one), Invariants.counts(*two)
        larger = [set(datasets) for _, datasets in ours.universes(WORLD)]
        inside = all(any(set(x) <= each for each in larger) for _, x in theirs.universes(WORLD))
        # Two margins can fix a table by chance, never the other way round: the rule is sound.
        assert not ours.covers(theirs) or inside


class TestJoin:
    FACTS = Invariants({"a": "x"})

    def test_everything_joined_with_a_scope_is_that_scope(self):
        for other in (Everything(), self.FACTS, OneDataset("x")):
            assert Everything().join(other) == other
            assert other.join(Everything()) == other

    def test_invariants_join_to_all_of_them(self):
        both = self.FACTS.join(Invariants({"b": ("people", len)}))
        assert both == Invariants({"a": "x", "b": "people"})
        assert both.functions[1] is len
        assert self.FACTS.join(self.FACTS) == self.FACTS

    def test_finer_counts_absorb_coarser(self):
        coarse, fine = Invariants.counts(["county"]), Invariants.counts(["county", "age"])
        assert coarse.join(fine) == fine == fine.join(coarse)
        crossed = Invariants.counts(["county"]).join(Invariants.counts(["age"]))
        assert crossed == Invariants.counts(["age"], ["county"])

    def test_a_function_is_kept_from_either_side(self):
        named = Invariants({"n": ("people", len), "a": "x"})
        read = Invariants({"n": "people", "b": "y"})
        for joined in (named.join(read), read.join(named)):
            assert joined._facts()["n"] == ("people", len)

    def test_one_name_for_two_facts_is_refused(self):
        with pytest.raises(SpecificationError, match="both named 'a'"):
            self.FACTS.join(Invariants({"a": "other", "b": "y"}))

    @pytest.mark.parametrize("other", [OneDataset("y"), FACTS], ids=repr)
    def test_what_cannot_be_written_down_is_refused(self, other):
        for pair in ((OneDataset("x"), other), (other, OneDataset("x"))):
            with pytest.raises(SpecificationError, match="no scope is known in which both hold"):
                pair[0].join(pair[1])
        assert OneDataset("x").join(OneDataset("x")) == OneDataset("x")
        assert OneDataset("x").misfit(other) == "datasets that are not compared here"

    def test_universes_of_the_join_are_the_intersections(self):
        one, two = Invariants.counts(["county"]), Invariants.counts(["age"])
        parts = [set(datasets) for _, datasets in one.join(two).universes(WORLD)]
        crossed = [set(a) & set(b) for (_, a), (_, b) in itertools.product(one.universes(WORLD), two.universes(WORLD))]
        assert sorted(map(sorted, parts)) == sorted(sorted(each) for each in crossed if each)
