"""Swapping tables: what stays exact, what comes out, what is stated, and what is refused."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from fractions import Fraction
from typing import Any

import narwhals as nw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import quincunx as qx
from quincunx.errors import DataError, ParameterError, PrivacyError, QuincunxWarning
from quincunx.invariant import Swapped, swap, swap_epsilon
from quincunx.invariant.swapping.swap import invariants_of
from quincunx.noise.testing import KeyedBits, key_of, keyed
from quincunx.spec.scope import Counts, Everything, Invariants
from tests.datasets import real_data
from tests.invariant.frames import KINDS, counts, frame, rows
from tests.laws.test_swapping import chance, permutations

FALSE_ALARM = 1e-9
TOWN = {
    "county": ["n", "n", "n", "s", "s", "s", "s", "n"],
    "age": [1, 1, 2, 1, 1, 1, 1, 1],
    "race": ["x", "y", "x", "x", "y", "x", "y", "y"],
    "block": [10, 11, 12, 20, 21, 20, 22, 13],
}


def town(kind: str) -> Any:
    return frame(kind, TOWN)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["derangement", "uniform"])
class TestEveryKindOfFrame:
    def test_the_same_kind_comes_out(self, kind: str, how: str) -> None:
        given = town(kind)
        found = swap(given, column="block", match=["county", "age"], rate="1/2", kind=how)
        assert type(found.frame) is type(given)
        assert nw.from_native(found.frame).schema == nw.from_native(given).schema
        assert rows(given) == rows(town(kind))

    def test_the_published_tables_are_exact(self, kind: str, how: str) -> None:
        given = town(kind)
        found = swap(given, column="block", match=["county", "age"], rate="9/10", kind=how)
        for columns in (["county", "age", "race"], ["county", "age", "block"], ["county"], ["block"]):
            assert counts(found.frame, columns) == counts(given, columns)

    def test_columns_move_together(self, kind: str, how: str) -> None:
        given = frame(kind, {**TOWN, "tract": [b // 2 for b in TOWN["block"]]})
        found = swap(given, column=["block", "tract"], match="county", rate="9/10", kind=how)
        assert all(tract == block // 2 for block, tract in rows(found.frame, ["block", "tract"]))
        assert counts(found.frame, ["county", "block", "tract"]) == counts(given, ["county", "block", "tract"])

    def test_no_match_makes_one_stratum(self, kind: str, how: str) -> None:
        found = swap(town(kind), column="block", match=[], rate="1/2", kind=how)
        assert found.epsilon.largest_stratum == 8
        assert counts(found.frame, ["block"]) == counts(town(kind), ["block"])

    def test_empty_tables(self, kind: str, how: str) -> None:
        empty = nw.from_native(town(kind), eager_only=True)[:0].to_native()
        with pytest.warns(QuincunxWarning, match="swapping changes nothing"):
            found = swap(empty, column="block", match="county", rate="1/2", kind=how)
        assert rows(found.frame) == []
        assert found.epsilon.exact == 0

    def test_households_move_as_a_whole(self, kind: str, how: str) -> None:
        homes = {
            "home": ["a", "a", "b", "c", "c", "c", "d", "e"],
            "size": [2, 2, 1, 3, 3, 3, 1, 1],
            "age": [30, 31, 40, 50, 51, 9, 60, 70],
            "block": [1, 1, 2, 3, 3, 3, 4, 5],
        }
        found = swap(frame(kind, homes), column="block", match="size", rate="9/10", kind=how, household="home")
        assert nw.from_native(found.frame).columns == ["size", "age", "block"]
        blocks = {age: block for _, age, block in rows(found.frame)}
        assert blocks[30] == blocks[31] == 1
        assert blocks[50] == blocks[51] == blocks[9] == 3
        assert sorted(blocks[age] for age in (40, 60, 70)) == [2, 4, 5]
        assert found.epsilon.largest_stratum == 3
        assert found.specification.unit == qx.unit.Hamming(key="home")
        assert "two households at once" in found.words()


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_one_column(kind: str) -> None:
    with pytest.warns(QuincunxWarning, match="swapping changes nothing"):
        found = swap(frame(kind, {"x": [3, 1, 2]}), column="x", match=[], rate="1/2")
    assert sorted(rows(found.frame)) == [(1,), (2,), (3,)]
    assert found.invariants == Invariants.counts(["x"])


def test_pandas_loses_its_index() -> None:
    pandas = pytest.importorskip("pandas")
    given = town("pandas").set_index(pandas.Index([f"person {i}" for i in range(8)]))
    found = swap(given, column="block", match="county", rate="1/2")
    assert found.frame.index.equals(pandas.RangeIndex(8))


def test_missing_values_outside_the_keys_travel() -> None:
    gaps = {**TOWN, "block": [10, None, 12, None, 21, 20, 22, 13], "race": ["x", None, "x", "x", "y", None, "y", "y"]}
    for kind in KINDS:
        found = swap(frame(kind, gaps), column="block", match="county", rate="9/10")
        for columns in (["county", "block"], ["county", "age", "race"]):
            assert counts(found.frame, columns) == counts(frame(kind, gaps), columns)


COLUMN = st.lists(st.integers(0, 3), min_size=12, max_size=12)


@given(
    st.fixed_dictionaries(dict.fromkeys(("a", "b", "c", "d"), COLUMN)),
    st.sampled_from(["derangement", "uniform"]),
    st.sampled_from(["1/20", "1/2", "19/20"]),
    st.sampled_from(KINDS),
)
def test_invariants_hold_on_generated_tables(columns: dict[str, list[int]], how: str, rate: str, kind: str) -> None:
    given = frame(kind, columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QuincunxWarning)
        found = swap(given, column=["c", "d"], match="a", rate=rate, kind=how)
    assert counts(found.frame, ["a", "c", "d"]) == counts(given, ["a", "c", "d"])
    assert counts(found.frame, ["a", "b"]) == counts(given, ["a", "b"])
    assert found.epsilon.largest_stratum == largest(columns, ["a"], ["c", "d"], ["b"])


def largest(columns: dict[str, list[int]], match: list[str], swapped: list[str], rest: list[str]) -> int:
    """b, by its definition."""
    strata: dict[tuple[int, ...], list[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for i in range(len(columns[match[0]])):
        key, values, others = (tuple(columns[name][i] for name in names) for names in (match, swapped, rest))
        strata.setdefault(key, []).append((values, others))
    sizes = [len(s) for s in strata.values() if len({v for v, _ in s}) > 1 and len({r for _, r in s}) > 1]
    return max(sizes, default=0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=14))
def test_the_largest_stratum_of_households(people: list[tuple[int, int, int]]) -> None:
    """Households h with members (a, b); the stratum is h mod 2, the block is h mod 3: both constant in a household."""
    columns = {
        "home": [h for h, _, _ in people],
        "side": [h % 2 for h, _, _ in people],
        "a": [a for _, a, _ in people],
        "b": [b for _, _, b in people],
        "block": [h % 3 for h, _, _ in people],
    }
    homes: dict[int, list[tuple[int, int]]] = {}
    for h, a, b in people:
        homes.setdefault(h, []).append((a, b))
    best = 0
    for side in (0, 1):
        inside = {h: tuple(sorted(members)) for h, members in homes.items() if h % 2 == side}
        if len(set(inside.values())) > 1 and len({h % 3 for h in inside}) > 1:
            best = max(best, len(inside))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QuincunxWarning)
        found = swap(frame("polars", columns), column="block", match="side", rate="1/2", household="home")
    assert found.epsilon.largest_stratum == best
    assert counts(found.frame, ["side", "a", "b"]) == counts(frame("polars", columns), ["side", "a", "b"])


@pytest.mark.parametrize("how", ["derangement", "uniform"])
def test_the_whole_release_has_the_law_that_was_enumerated(how: str, stream: KeyedBits) -> None:
    """4,000 strata of three in one table: the multiset that comes out of each, against the exact law."""
    strata = 4_000
    given = frame(
        "polars",
        {"stratum": [i // 3 for i in range(3 * strata)], "rest": [0, 1, 2] * strata, "value": [0, 1, 2] * strata},
    )
    law: Counter[tuple[Any, ...]] = Counter()
    for order, k in permutations(3):
        law[tuple(sorted(zip(range(3), order, strict=True)))] += chance(3, Fraction(1, 2), how)[k]
    released: dict[int, list[tuple[int, int]]] = {}
    for stratum, rest, value in rows(swap(given, column="value", match="stratum", rate="1/2", kind=how).frame):
        released.setdefault(stratum, []).append((rest, value))
    found = Counter(tuple(sorted(records)) for records in released.values())
    assert set(found) <= set(law)
    keys = list(law)
    expected = [strata * float(law[key]) for key in keys]
    assert stats.chisquare([found[key] for key in keys], expected).pvalue > FALSE_ALARM
    del stream


def test_row_order_is_uniform_whatever_came_in(stream: KeyedBits) -> None:
    """The sorted file: at a rate of 1/1000 hardly anything moves, and still every order is as likely as any other."""
    given = frame("polars", {"rest": [0, 1], "value": [0, 1]})
    found = Counter(rows(swap(given, column="value", match=[], rate="1/1000").frame)[0][0] for _ in range(600))
    assert stats.binomtest(found[0], 600, 0.5).pvalue > FALSE_ALARM
    # A long sorted file comes out in an order that has nothing to do with how it came in.
    n = 3_000
    longer = frame("polars", {"rest": [i % 7 for i in range(n)], "value": list(range(n))})
    places = [value for _, value in rows(swap(longer, column="value", match=[], rate="1/1000").frame)]
    assert abs(stats.spearmanr(places, range(n)).statistic) < 6.2 / n**0.5
    del stream


class TestWhatIsStated:
    def found(self, **changes: Any) -> Swapped:
        arguments = {"column": "block", "match": ["county", "age"], "rate": "0.05", **changes}
        return swap(town("polars"), **arguments)

    def test_the_specification(self) -> None:
        found = self.found()
        spec = found.specification
        assert spec.scope == Invariants.counts(["county", "age", "race"], ["county", "age", "block"])
        assert found.invariants == spec.scope
        assert spec.unit == qx.unit.Hamming()
        assert spec.standard == qx.standard.Pure()
        assert dict(spec.domain.columns) == {"county": "text", "age": "integer", "race": "text", "block": "integer"}
        assert found.epsilon == swap_epsilon(rate="0.05", largest_stratum=4)
        assert spec.numbers == (found.epsilon.intensity,)
        assert qx.Specification.from_json(spec.to_json()) == spec

    def test_epsilon_is_stated_for_this_size_of_stratum_only(self) -> None:
        spec = self.found().specification
        assert spec.by_universe[0][0] == "the largest stratum that can swap has 4 records"
        assert "Elsewhere nothing is promised" in spec.describe()

    def test_it_fits_no_wider_scope(self) -> None:
        spec = self.found().specification
        with pytest.raises(PrivacyError, match="no finite ε exists"):
            spec.within(Everything())
        with pytest.raises(PrivacyError, match="disagree on age × county × race"):
            spec.within(Invariants({"blocks": Counts("county", "age", "block")}))
        assert spec.within(Invariants.counts(["county", "age", "race", "block"])).numbers == spec.numbers

    def test_two_swaps_compose_on_the_joined_scope(self) -> None:
        one, two = self.found().specification, self.found(column="race", match="county").specification
        both = one.compose(two)
        assert both.scope == one.scope.join(two.scope)
        assert float(both.largest) == pytest.approx(float(one.largest) + float(two.largest))

    def test_without_other_columns_one_table_is_published(self) -> None:
        given = frame("polars", {"county": ["a", "a"], "block": [1, 2]})
        with pytest.warns(QuincunxWarning, match="all of them are invariants"):
            found = swap(given, column="block", match="county", rate="1/2")
        assert found.invariants == Invariants.counts(["county", "block"])
        assert found.epsilon.exact == 0

    def test_households_publish_their_lists_of_members(self) -> None:
        homes = {"home": [1, 2, 2], "size": [1, 1, 1], "age": [5, 6, 7], "block": [8, 9, 9]}
        found = swap(frame("polars", homes), column="block", match="size", rate="1/2", household="home")
        assert [name for name, _ in found.invariants.texts] == [
            "households by size and members",
            "households by size × block",
        ]
        assert (
            "described by age; everything but block" in dict(found.invariants.texts)["households by size and members"]
        )

    def test_words(self) -> None:
        words = self.found().words()
        assert "e^(2ε)" in words
        assert "two records at once" in words
        assert "published exactly" in words

    def test_printing_shows_no_data_and_no_report(self) -> None:
        text = repr(self.found())
        assert "report" not in text
        assert "frame" not in text

    def test_the_stamp_of_injected_keys(self) -> None:
        assert self.found().injected is False
        with keyed(key_of("stamp")):
            assert self.found().injected is True

    def test_an_identifier_is_noticed(self) -> None:
        people = {name: values * 13 for name, values in TOWN.items()} | {"block": [i * 7 % 11 for i in range(104)]}
        given = frame("polars", {**people, "id": range(100, 204)})
        with pytest.warns(QuincunxWarning, match="column 'id' has a different value in every row"):
            swap(given, column="block", match="county", rate="1/2")

    def test_it_is_json(self) -> None:
        assert json.loads(self.found().specification.to_json())["unit"] == {"kind": "hamming"}

    def test_only_invariants_are_a_swaps_scope(self) -> None:
        spec = qx.Specification(
            domain=qx.domain.Histogram(cells=2),
            scope=Everything(),
            unit=qx.unit.Replace(),
            standard=qx.standard.Pure(),
            intensity=1,
        )
        with pytest.raises(DataError, match="not the specification of a swap"):
            invariants_of(spec)


class TestBadInput:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"column": "street"}, "no column 'street'"),
            ({"match": ["county", "street"]}, "no column 'street'"),
            ({"household": "home"}, "no column 'home'"),
            ({"column": "county"}, "a column is named twice; got 'county'"),
            ({"column": ["block", "block"]}, "a column is named twice; got 'block'"),
            ({"household": "age"}, "a column is named twice; got 'age'"),
            ({"column": []}, "at least one column to swap"),
            ({"column": None}, "names of columns"),
            ({"match": 3}, "names of columns"),
            ({"match": [3]}, "names of columns"),
            ({"household": 3}, "name of a column"),
        ],
    )
    def test_columns(self, changes: dict[str, Any], message: str) -> None:
        arguments = {"column": "block", "match": ["county", "age"], "rate": "0.05", **changes}
        with pytest.raises(DataError, match=message):
            swap(town("polars"), **arguments)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("name", ["county", "home"])
    def test_missing_values_in_keys(self, kind: str, name: str) -> None:
        table = {
            **TOWN,
            "home": list("aabbccdd"),
            "county": ["n"] * 8,
            "block": [1, 1, 2, 2, 3, 3, 4, 4],
            "age": [1] * 8,
        }
        table[name] = [None, *table[name][1:]]
        with pytest.raises(DataError, match=f"column '{name}' has missing values") as refusal:
            swap(frame(kind, table), column="block", match="county", rate="1/2", household="home")
        assert "no stratum" in refusal.value.hint

    def test_a_household_spread_over_strata(self) -> None:
        homes = {"home": [1, 1, 2], "size": [1, 2, 1], "age": [5, 6, 7], "block": [8, 8, 9]}
        with pytest.raises(DataError, match="members of a household differ in 'size'") as refusal:
            swap(frame("polars", homes), column="block", match="size", rate="1/2", household="home")
        assert "5" not in str(refusal.value)
        homes |= {"size": [1, 1, 1], "block": [8, 7, 9]}
        with pytest.raises(DataError, match="members of a household differ in 'block'"):
            swap(frame("polars", homes), column="block", match="size", rate="1/2", household="home")

    @pytest.mark.parametrize("rate", [0, 1, -1, 2, "x", None, float("nan")])
    def test_rates(self, rate: object) -> None:
        with keyed(key_of("untouched")) as stream:
            with pytest.raises(ParameterError) as refusal:
                swap(town("polars"), column="block", match="county", rate=rate)
            assert refusal.value.where == "rate"
            assert stream.integer(64) == KeyedBits(key_of("untouched")).integer(64)

    def test_the_uniform_kind_takes_the_rate_one(self) -> None:
        assert swap(town("polars"), column="block", match="county", rate=1, kind="uniform").epsilon.exact == 0

    def test_kinds(self) -> None:
        with pytest.raises(ParameterError, match="unknown kind"):
            swap(town("polars"), column="block", match="county", rate="1/2", kind="shuffle")

    @pytest.mark.parametrize("what", [None, 3, {"a": [1]}, [1, 2], "table.csv"], ids=repr)
    def test_what_is_no_frame(self, what: object) -> None:
        with pytest.raises(DataError, match="expected a data frame"):
            swap(what, column="a", match=[], rate="1/2")

    def test_a_lazy_frame_is_to_be_collected(self) -> None:
        with pytest.raises(DataError, match="collect a lazy one first"):
            swap(town("polars").lazy(), column="block", match="county", rate="1/2")


class TestReport:
    def test_it_counts_what_happened(self, stream: KeyedBits) -> None:
        n = 2_000
        given = frame("polars", {"rest": [i % 5 for i in range(n)], "value": list(range(n))})
        report = swap(given, column="value", match=[], rate="1/2").report
        assert (report.records, report.units, report.strata) == (n, n, 1)
        # All values differ, so whoever is selected is moved; the share is binomial.
        assert report.moved == report.selected
        assert stats.binomtest(report.moved, n, 0.5).pvalue > FALSE_ALARM
        del stream

    def test_the_error_of_a_table(self, stream: KeyedBits) -> None:
        found = swap(town("polars"), column="block", match="county", rate="9/10")
        before, after = (counts(native, ["race", "block"]) for native in (town("polars"), found.frame))
        error = found.report.table("race")
        changes = {cell: abs(after[cell] - before[cell]) for cell in set(before) | set(after)}
        assert error.columns == ("race", "block")
        assert error.cells == len(before)
        assert error.misplaced == sum(changes.values()) // 2
        assert error.mean_absolute_error == pytest.approx(sum(changes.values()) / len(changes))
        percent = [100 * changes[cell] / before[cell] for cell in before]
        assert error.mean_absolute_percentage_error == pytest.approx(sum(percent) / len(percent))
        assert [each.columns[0] for each in found.report.tables] == ["age", "race"]
        del stream

    def test_exact_tables_have_no_entry(self) -> None:
        found = swap(town("polars"), column="block", match="county", rate="1/2")
        for column in ("county", "block", "street"):
            with pytest.raises(DataError, match="are exact, or it is unknown"):
                found.report.table(column)

    def test_the_error_grows_with_the_rate(self, stream: KeyedBits) -> None:
        """Generated homes: the mean percentage error at 50 % is larger than at 1 % by far more than chance."""
        n = 20_000
        given = frame("polars", {"rest": [i % 2 for i in range(n)], "value": [(i // 2 + i % 2) % 40 for i in range(n)]})
        low, high = (
            swap(given, column="value", match=[], rate=rate).report.table("rest").mean_absolute_percentage_error
            for rate in ("0.01", "0.5")
        )
        assert low * 2 < high
        del stream


@pytest.mark.parametrize("how", ["derangement", "uniform"])
def test_real_people_keep_their_published_tables(how: str) -> None:
    """Census persons of Massachusetts: swap the area within sex and age group, exactly as published."""
    pandas = pytest.importorskip("pandas")
    people = pandas.read_csv(real_data("persons", "ma2019.csv"), dtype=str, keep_default_na=False)
    people = people[["PUMA", "SEX", "MSP", "HISP", "RAC1P"]]
    found = swap(people, column="PUMA", match=["SEX", "MSP"], rate="0.5", kind=how)
    for columns in (["SEX", "MSP", "HISP", "RAC1P"], ["SEX", "MSP", "PUMA"]):
        assert counts(found.frame, columns) == counts(people, columns)
    assert counts(found.frame, ["PUMA", "RAC1P"]) != counts(people, ["PUMA", "RAC1P"])
    sizes = people.groupby(["SEX", "MSP"]).size()
    assert found.epsilon.largest_stratum == sizes.max()
    assert found.report.records == len(people)


def test_real_households_stay_together() -> None:
    """Tax units of the CPS: swap the state of whole households within their number of tax units."""
    pandas = pytest.importorskip("pandas")
    units = pandas.read_csv(real_data("households", "cps_tax_units.csv.gz"), nrows=40_000)
    units["home"] = units["FLPDYR"] * 10**6 + units["h_seq"]
    units = units[units.groupby("home")["fips"].transform("nunique") == 1]
    units["members"] = units.groupby("home")["home"].transform("size")
    table = units[["home", "members", "fips", "MARS", "XTOT"]]
    found = swap(table, column="fips", match="members", rate="0.5", household="home")
    homes = table.drop_duplicates("home")
    assert counts(found.frame, ["members", "MARS", "XTOT"]) == counts(table, ["members", "MARS", "XTOT"])
    weighted = dict(counts(found.frame, ["members", "fips"]).items())
    assert weighted == {(m, f): m * c for (m, f), c in counts(homes, ["members", "fips"]).items()}
    assert found.report.units == len(homes)
    assert found.epsilon.largest_stratum == homes["members"].value_counts().max()
