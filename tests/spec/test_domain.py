"""Domains: what a dataset is, which datasets there are, and what is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quincunx.errors import ParameterError, SpecificationError
from quincunx.spec import domain, label
from quincunx.spec.domain import Domain, Finite, Histogram, Tables


class TestTables:
    def test_columns_keep_their_declared_order(self):
        table = Tables(columns={"b": "text", "a": "integer"})
        assert table.columns == (("b", "text"), ("a", "integer"))
        assert table.column("a") == (1, "integer")
        assert table.column("c") is None

    def test_pairs_and_a_mapping_are_the_same(self):
        assert Tables(columns=[("a", "text")]) == Tables(columns={"a": "text"})

    def test_links_are_a_part_of_it_and_lead_somewhere(self):
        columns = {"person": "text", "e.number": "integer", "b.number": "integer", "e.day": "date", "b.day": "date"}
        plain, led = Tables(columns=columns), Tables(columns=columns, links=[("b", "e", "number")])
        assert plain != led
        assert not led.covers(plain)
        assert led.covers(Tables(columns=columns, links=[("b", "e", "number")]))
        assert not led.covers(Tables(columns=columns, links=[("b", "e", "day")]))
        assert "links" not in plain.to_json()
        assert domain.from_json(led.to_json()) == led
        assert "all their rows in all tables together" in plain.words()
        assert "a row that others share stays with them" in led.words()
        for wrong in (("c", "e", "number"), ("b", "c", "number"), ("b", "e", "name")):
            with pytest.raises(SpecificationError, match="a link leads nowhere"):
                Tables(columns=columns, links=[wrong])

    def test_order_of_columns_does_not_matter_for_covering(self):
        one, two = Tables(columns={"a": "text", "b": "date"}), Tables(columns={"b": "date", "a": "text"})
        assert one != two
        assert one.covers(two)
        assert two.covers(one)

    @pytest.mark.parametrize("other", [Tables(columns={"a": "integer"}), Tables(columns={"a": "text", "b": "text"})])
    def test_other_columns_are_not_covered(self, other):
        assert not Tables(columns={"a": "text"}).covers(other)

    def test_records_are_counted(self):
        table = Tables(columns={"a": "text", "b": "integer"})
        assert table.records((("x", 1), ("x", 1), ("y", 2))) == Counter({("x", 1): 2, ("y", 2): 1})
        assert table.records(()) == Counter()

    @pytest.mark.parametrize("dataset", [(("x",),), ("x",), (("x", 1, 2),)])
    def test_a_record_of_another_width_is_refused(self, dataset):
        with pytest.raises(SpecificationError, match="a tuple of 2 values"):
            Tables(columns={"a": "text", "b": "integer"}).records(dataset)

    @pytest.mark.parametrize("kind", domain.TYPES)
    def test_every_type_is_accepted(self, kind):
        assert Tables(columns={"a": kind}).column("a") == (0, kind)

    def test_an_unknown_type_is_refused_with_the_choices(self):
        with pytest.raises(SpecificationError, match="Choose among integer, decimal") as caught:
            Tables(columns={"age": "float"})
        assert caught.value.got == "'float'"
        assert "'age'" in caught.value.what

    @pytest.mark.parametrize("columns", [{}, []])
    def test_no_columns_are_refused(self, columns):
        with pytest.raises(SpecificationError, match="at least one column"):
            Tables(columns=columns)

    @pytest.mark.parametrize("name", ["", 3, None])
    def test_a_name_must_be_a_text(self, name):
        with pytest.raises(SpecificationError, match="name must be a text"):
            Tables(columns={name: "text"})

    def test_a_column_cannot_be_declared_twice(self):
        with pytest.raises(SpecificationError, match="'a' is declared twice"):
            Tables(columns=[("a", "text"), ("a", "date")])

    def test_words_name_the_columns(self):
        words = Tables(columns={"id": "text", "age": "integer", "day": "date"}).words()
        assert words.endswith("in a table with the columns id (text), age (integer) and day (date).")
        assert "the column id (text)." in Tables(columns={"id": "text"}).words()

    def test_latex_escapes(self):
        assert r"person\_id" in Tables(columns={"person_id": "text"}).latex()


class TestHistogram:
    def test_a_count_or_labels(self):
        assert Histogram(cells=4).size == 4
        assert Histogram(cells=("blond", "dark")).size == 2
        assert Histogram(cells=["blond", "dark"]).cells == ("blond", "dark")

    def test_records_are_the_counts_by_cell(self):
        assert Histogram(cells=3).records((2, 0, 1)) == Counter({0: 2, 2: 1})

    @pytest.mark.parametrize("dataset", [(1, 2), (1, 2, -1), (1, 2, "3"), "abc", (1, 2, 0.5)])
    def test_what_is_no_tuple_of_counts_is_refused(self, dataset):
        with pytest.raises(SpecificationError, match="a tuple of 3 counts"):
            Histogram(cells=3).records(dataset)

    @pytest.mark.parametrize("cells", [(), ("a", "a")])
    def test_cells_must_be_different_and_exist(self, cells):
        with pytest.raises(SpecificationError, match="different labels"):
            Histogram(cells=cells)

    @pytest.mark.parametrize("cells", [0, -1, 1.5, "blond", True])
    def test_a_bad_count_is_refused(self, cells):
        with pytest.raises(ParameterError, match="cells"):
            Histogram(cells=cells)

    def test_has_no_columns(self):
        assert Histogram(cells=2).column("0") is None

    def test_covers_only_itself(self):
        assert Histogram(cells=3).covers(Histogram(cells=3))
        assert not Histogram(cells=3).covers(Histogram(cells=("a", "b", "c")))
        assert not Histogram(cells=3).covers(Tables(columns={"a": "text"}))

    def test_words(self):
        assert "the 2 cells blond and dark." in Histogram(cells=("blond", "dark")).words()
        assert "the 1 cell." in Histogram(cells=1).words()
        assert Histogram(cells=7).latex() == r"\mathbb{N}^{7}"


class TestFinite:
    def test_multisets_are_sorted(self):
        world = Finite(datasets=[("b", "a"), ("a",)])
        assert world.datasets == (("a", "b"), ("a",))
        assert ("b", "a") in world
        assert ("b",) not in world

    def test_vectors_keep_their_order(self):
        world = Finite(datasets=[("b", "a"), ("a", "b")], ordered=True)
        assert world.datasets == (("b", "a"), ("a", "b"))

    @pytest.mark.parametrize(("records", "sizes", "count"), [(2, 3, 4), (2, range(4), 10), (3, (1, 2), 9), (0, 0, 1)])
    def test_the_number_of_multisets(self, records, sizes, count):
        # Σ over sizes s of C(records + s − 1, s)
        assert len(Finite.multisets(range(records), sizes).datasets) == count

    @pytest.mark.parametrize(("records", "n"), [(2, 3), (3, 2), (1, 5)])
    def test_the_number_of_vectors(self, records, n):
        world = Finite.vectors(range(records), n)
        assert len(world.datasets) == records**n
        assert world.ordered

    def test_every_order_of_records_is_the_same_multiset(self):
        mixed = (3, "b", Fraction(1, 2), ("x", 1), None, date(2024, 1, 1), Decimal("2.5"))
        world = Finite(datasets=[mixed])
        assert all(order in world for order in permutations(mixed))

    def test_a_label_is_no_multiset(self):
        assert Finite(datasets=["ba"]).datasets == ("ba",)
        with pytest.raises(SpecificationError, match="a label without records"):
            Finite(datasets=["ba"]).records("ba")

    def test_records_with_columns_have_their_width(self):
        world = Finite(datasets=[(("ann", 3),)], columns=("person", "age"))
        assert world.column("age") == (1, None)
        assert world.column("name") is None
        with pytest.raises(SpecificationError, match="a tuple of 2 values"):
            Finite(datasets=[(("ann", 3, 4),)], columns=("person", "age"))
        with pytest.raises(SpecificationError, match="a label without records"):
            Finite(datasets=["x"], columns=("person",))

    @pytest.mark.parametrize("columns", [(), ("a", "a"), ("",)])
    def test_bad_columns_are_refused(self, columns):
        with pytest.raises(SpecificationError, match="column"):
            Finite(datasets=[()], columns=columns)

    def test_the_same_dataset_twice_is_refused(self):
        with pytest.raises(SpecificationError, match="ordered=True"):
            Finite(datasets=[("a", "b"), ("b", "a")])
        with pytest.raises(SpecificationError, match="listed twice"):
            Finite(datasets=["x", "x"], ordered=True)

    def test_an_empty_world_is_refused(self):
        with pytest.raises(SpecificationError, match="at least one dataset"):
            Finite(datasets=[])

    @pytest.mark.parametrize("dataset", [["a"], {"a": 1}, (["a"],)])
    def test_what_cannot_be_hashed_is_refused(self, dataset):
        with pytest.raises(SpecificationError, match="Write records as tuples"):
            Finite(datasets=[dataset])

    @pytest.mark.parametrize("dataset", [float("nan"), (1, float("nan")), ((1, float("nan")),)])
    def test_nan_is_refused(self, dataset):
        with pytest.raises(SpecificationError, match="NaN"):
            Finite(datasets=[dataset])

    def test_too_many_datasets_are_refused_before_they_are_made(self):
        with pytest.raises(SpecificationError, match="at most 20,000"):
            Finite.multisets(range(100), range(6))
        with pytest.raises(SpecificationError, match="at most 20,000"):
            Finite.vectors((0, 1), 10**9)
        with pytest.raises(SpecificationError, match="at most 20,000"):
            Finite(datasets=range(20_001))

    def test_sizes_cannot_be_negative(self):
        with pytest.raises(SpecificationError, match="fewer than 0"):
            Finite.multisets("ab", (-1, 2))

    @pytest.mark.parametrize("n", [0, -2, 1.5])
    def test_vectors_have_a_length(self, n):
        with pytest.raises(ParameterError, match="n"):
            Finite.vectors("ab", n)

    def test_covering_is_inclusion(self):
        large, small = Finite.multisets("ab", range(4)), Finite.multisets("ab", range(3))
        assert large.covers(small)
        assert not small.covers(large)
        assert not Finite.vectors("ab", 2).covers(Finite.multisets("ab", 2))
        assert not large.covers(Histogram(cells=2))

    def test_words(self):
        assert "6 possible datasets, all of them listed, so" in Finite.multisets("ab", range(3)).words()
        assert "1 possible dataset, all" in Finite(datasets=["x"]).words()
        assert "in which each record has its fixed place" in Finite.vectors("ab", 2).words()
        assert "4 datasets" in Finite.vectors("ab", 2).latex()


EXAMPLES = [
    Tables(columns={"id": "text", "age": "integer", "day": "date"}),
    Histogram(cells=5),
    Histogram(cells=("a", 1, ("b", Fraction(1, 3)))),
    Finite(datasets=["x", 1, True and 2, None, Fraction(1, 3), date(2024, 2, 29), datetime(2024, 2, 29, 10, 30)]),
    Finite.multisets("ab", range(3)),
    Finite.vectors((0, 1), 2),
    Finite.multisets([("ann", 1), ("bob", 2)], 1, columns=("person", "age")),
]


@pytest.mark.parametrize("value", EXAMPLES, ids=repr)
class TestEveryDomain:
    def test_json_gives_it_back(self, value):
        assert domain.from_json(value.to_json()) == value

    def test_repr_rebuilds_it(self, value):
        names = {"Tables": Tables, "Histogram": Histogram, "Finite": Finite, "Fraction": Fraction}
        import datetime as calendar

        assert eval(repr(value), {**names, "datetime": calendar}) == value

    def test_it_is_frozen_and_hashable(self, value):
        assert hash(value) == hash(domain.from_json(value.to_json()))
        for each in fields(value):
            with pytest.raises(AttributeError):
                setattr(value, each.name, 1)

    def test_it_covers_itself(self, value):
        assert isinstance(value, Domain)
        assert value.covers(value)


LABELS = st.recursive(
    st.one_of(
        st.text(max_size=3), st.integers(-5, 5), st.booleans(), st.none(), st.fractions(max_denominator=9), st.dates()
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)


class TestLabels:
    @settings(derandomize=True, max_examples=150)
    @given(LABELS)
    def test_json_keeps_value_and_type(self, value):
        again = label.from_json(label.to_json(value), "here")
        assert again == value
        assert type(again) is type(value)

    @settings(derandomize=True, max_examples=150)
    @given(st.lists(LABELS, max_size=5), st.randoms(use_true_random=False))
    def test_the_order_is_total_and_does_not_depend_on_the_start(self, values, source):
        shuffled = list(values)
        source.shuffle(shuffled)
        assert sorted(values, key=label.order) == sorted(shuffled, key=label.order)

    def test_frozensets_and_others_have_an_order(self):
        class Thing:
            def __repr__(self):
                return "thing"

        assert label.order(frozenset("ab")) == label.order(frozenset("ba"))
        assert label.order(Thing()) > label.order("z")

    @pytest.mark.parametrize("value", [0.5, frozenset("a"), Decimal("1.5"), (0.5,)])
    def test_what_has_no_exact_json_is_refused(self, value):
        with pytest.raises(SpecificationError, match="no exact form in JSON"):
            label.to_json(value)

    @pytest.mark.parametrize(
        "data",
        [0.5, {}, {"rational": "1/0"}, {"rational": 3}, {"date": "2024-02-30"}, {"timestamp": "x"}, {"a": 1, "b": 2}],
    )
    def test_what_is_no_label_is_refused(self, data):
        with pytest.raises(SpecificationError):
            label.from_json(data, "here")
