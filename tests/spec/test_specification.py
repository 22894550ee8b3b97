"""The specification as a value: its checks, warnings, words, formula, group map."""

from __future__ import annotations

import random
import re
import warnings
from dataclasses import fields
from fractions import Fraction

import pytest
from small_worlds import just_within, random_mechanism, visits

import quincunx as qx
from quincunx import spec as room
from quincunx.errors import ParameterError, PrivacyError, QuincunxWarning, SpecificationError
from quincunx.numbers import Log
from quincunx.spec import Specification, domain, intensity, scope, standard, unit

TABLE = domain.Tables(columns={"person_id": "text", "visit_date": "date", "age": "integer"})
MULTISETS = domain.Finite.multisets("ab", range(3))
DAY = {"column": "visit_date", "period": "day"}


def spec(**changes):
    blocks = {
        "domain": TABLE,
        "scope": scope.Everything(),
        "unit": unit.AddRemove(key="person_id"),
        "standard": standard.Pure(),
        "intensity": 1,
    }
    return Specification(**{**blocks, **changes})


class TestSurface:
    def test_the_room_exports(self):
        assert set(room.__all__) == {
            "Comparison",
            "Implication",
            "Specification",
            "Verdict",
            "Witness",
            "domain",
            "intensity",
            "scope",
            "standard",
            "unit",
        }
        assert all(hasattr(room, name) for name in room.__all__)
        assert qx.Specification is Specification

    def test_nothing_has_a_default(self):
        with pytest.raises(TypeError, match="intensity"):
            Specification(domain=TABLE, scope=scope.Everything(), unit=unit.AddRemove(), standard=standard.Pure())
        with pytest.raises(TypeError):
            Specification(TABLE, scope.Everything(), unit.AddRemove(), standard.Pure(), 1)

    def test_it_is_frozen_hashable_and_equal_by_value(self):
        assert spec() == spec(intensity="1.0")
        assert hash(spec()) == hash(spec(intensity=Fraction(1)))
        assert spec() != spec(intensity=2)
        for each in fields(spec()):
            with pytest.raises(AttributeError):
                setattr(spec(), each.name, None)


REBUILT = [
    spec(),
    spec(intensity=Log("3/2"), unit=unit.Replace(key="person_id", per=DAY, group=2)),
    spec(scope=scope.Invariants({"total": "SELECT COUNT(*)"}), standard=standard.ZCDP(), intensity="1/2"),
    spec(domain=domain.Histogram(cells=3), unit=unit.AddRemove(), standard=standard.Approximate("1e-6")),
    spec(domain=MULTISETS, unit=unit.Replace(), scope=scope.Invariants({"total": len}), standard=standard.TV(),
         intensity={"total = 0": 0, "total = 1": "1/2", "total = 2": 1}),
    spec(domain=domain.Finite(datasets=["x", "y"]), unit=unit.Metric({("x", "y"): "1/2"})),
    spec(domain=domain.Finite(datasets=["x", "y"]), unit=unit.Neighbours([("x", "y")]), standard=standard.Renyi(2)),
    spec(scope=scope.OneDataset("census 2020"), standard=standard.GaussianDP()),
]  # fmt: skip


@pytest.mark.parametrize("value", REBUILT, ids=lambda value: type(value.unit).__name__ + type(value.standard).__name__)
class TestEverySpecification:
    def test_repr_rebuilds_it(self, value):
        names = {"Specification": Specification, "Fraction": Fraction, "Log": Log, "Per": unit.Per}
        names["PerUniverse"] = intensity.PerUniverse
        for module in (domain, scope, unit, standard):
            names |= {name: getattr(module, name) for name in dir(module) if name[0].isupper()}
        assert eval(repr(value), names) == value

    def test_words_have_five_paragraphs_and_a_sum(self, value):
        paragraphs = value.describe().split("\n\n")
        assert len(paragraphs) == 6
        starts = ("Who is covered", "What is compared", "What change", "How leakage", "How much may leak", "In sum: ")
        assert all(text.startswith(start) for text, start in zip(paragraphs, starts, strict=True))
        assert all(text.endswith(".") for text in paragraphs)
        assert "does not promise that nothing can be learned about a person" in paragraphs[5]

    def test_every_printed_number_has_its_symbol(self, value):
        symbol = value.standard.symbol
        text = value.describe()
        for name, number in value.stated:
            assert number.startswith(f"{symbol} = ")
            assert number in text
            assert name == "everywhere" or name in text
        assert re.search(rf"{symbol} = ", text.split("\n\n")[4])

    def test_there_is_no_hedging(self, value):
        assert not re.search(r"\b(simply|just|obviously)\b", value.describe())

    def test_latex_has_balanced_braces(self, value):
        # An escaped brace is text or a set's brace; the others must pair up.
        plain = re.sub(r"\\[{}]", "", value.latex())
        depth = 0
        for character in plain:
            depth += (character == "{") - (character == "}")
            assert depth >= 0
        assert depth == 0
        assert value.latex().count(r"\begin") == value.latex().count(r"\end")
        assert r"\mathcal{X} = " in value.latex()

    def test_it_implies_itself(self, value):
        assert value.compare(value).relation == "equal"


class TestWords:
    def test_a_lawyer_can_read_it(self):
        paragraphs = (
            "Who is covered (domain). Everyone who is, or could have been, in a table with the columns person_id",
            " (text), visit_date (date) and age (integer).\n\n",
            "What is compared (scope). Any dataset may be compared with any other; no fact is set aside as already",
            " published.\n\n",
            "What change is hidden (unit). One person, with all their rows, being added to the data or removed from",
            " them. Rows that share one value of person_id belong to one person.\n\n",
            f"How leakage is measured (standard). {standard.Pure().words(Fraction(1))}\n\n",
            "How much may leak (intensity). ε = 1. A smaller number protects more. Further releases about the same",
            " people add to it.\n\n",
            "In sum: whoever sees the release learns no more than the bound ε = 1 allows about whether one person,",
            " with all their rows, is in the data or not; the guarantee does not promise that nothing can be learned",
            " about a person from what is true of people in general, nor hide equally well what several people show",
            " together.",
        )
        assert spec().describe() == "".join(paragraphs)

    def test_delta_and_order_are_never_left_out(self):
        text = spec(standard=standard.Approximate("1e-6")).describe()
        assert text.count("ε = 1, δ = 1e-6") >= 3
        assert "ε = 1, α = 2" in spec(standard=standard.Renyi(2)).describe()
        assert "δ" not in spec(standard=standard.ZCDP()).describe()

    def test_published_facts_are_named_as_unprotected(self):
        text = spec(scope=scope.Invariants({"total": "number of people"})).describe()
        assert text.endswith("nor protect the published facts (total) or what follows from them.")

    def test_a_fixed_number_of_people_is_not_hidden(self):
        assert "nor hide how many people are in the data" in spec(unit=unit.Replace(key="person_id")).describe()

    def test_intensities_by_universe(self):
        text = REBUILT[4].describe()
        assert "TV = 0 where total = 0; TV = 0.5 where total = 1; TV = 1 where total = 2." in text
        assert "Elsewhere" not in text
        assert r"\begin{cases}" in REBUILT[4].latex()

    def test_universes_without_an_entry_get_no_promise(self):
        where = scope.Invariants({"state": "the state"})
        text = spec(scope=where, intensity={"state = 'Ohio'": 1}).describe()
        assert "ε = 1 where state = 'Ohio'. Elsewhere nothing is promised." in text


class TestFit:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"domain": "tables"}, "expected a domain; got a text. Take one from quincunx.spec.domain"),
            ({"scope": scope.Everything}, "expected a scope; got Everything"),
            ({"unit": None}, "expected a unit; got nothing"),
            ({"standard": 1}, "expected a standard; got int"),
            ({"unit": unit.AddRemove(key="household")}, "no column 'household'"),
            ({"unit": unit.Replace(key="person_id", per={"column": "age", "period": "day"})}, "has no calendar"),
            ({"unit": unit.Neighbours([("x", "y")])}, "need a Finite domain"),
            ({"unit": unit.Metric({("x", "y"): 1})}, "need a Finite domain"),
            ({"scope": scope.OneDataset((("ann", "2024-01-01", 3),))}, "must not contain the data"),
            ({"domain": MULTISETS, "unit": unit.Replace(), "scope": scope.OneDataset(("c",))}, "not in the domain"),
            ({"domain": domain.Finite(datasets=["x", "y"]), "unit": unit.AddRemove()}, "a label without records"),
            ({"intensity": {"somewhere": 1}}, "1 missing \\('everything'\\)"),
        ],
    )
    def test_blocks_that_do_not_fit_are_refused(self, changes, message):
        with pytest.raises(SpecificationError, match=message):
            spec(**changes)

    @pytest.mark.parametrize(
        "measure", [standard.ZCDP(), standard.Approximate("1/100"), standard.Renyi(2), standard.KL()]
    )
    def test_a_metric_needs_a_linear_standard(self, measure):
        with pytest.raises(SpecificationError, match="does not grow in proportion"):
            spec(domain=domain.Finite(datasets=["x", "y"]), unit=unit.Metric({("x", "y"): 1}), standard=measure)

    @pytest.mark.parametrize("value", [-1, "one", None, float("inf"), float("nan"), Log("1/2")])
    def test_intensities_that_mean_nothing_are_refused(self, value):
        with pytest.raises(ParameterError):
            spec(intensity=value)

    def test_each_entry_is_checked(self):
        where = scope.Invariants({"total": "people"})
        with pytest.raises(ParameterError):
            spec(scope=where, intensity={"a": 1, "b": -1})
        with pytest.raises(ParameterError):
            spec(standard=standard.TV(), scope=where, intensity={"a": 1, "b": 2})

    def test_labels_must_be_all_universes(self):
        blocks = {"domain": MULTISETS, "unit": unit.Replace(), "scope": scope.Invariants({"total": len})}
        with pytest.raises(SpecificationError, match=r"2 missing \('total = 0', 'total = 1'\) and 0 unknown"):
            spec(**blocks, intensity={"total = 2": 1})
        many = {f"total = {i}": 1 for i in range(9)}
        with pytest.raises(SpecificationError, match=r"6 unknown \(.* and 1 more\)"):
            spec(**blocks, intensity=many)


class TestWarnings:
    """Something is allowed but promises nothing."""

    def test_vectors_have_no_add_remove_neighbours(self):
        world = domain.Finite.vectors((20, 40, 60), 2)
        with pytest.warns(QuincunxWarning, match="no two datasets are at distance 1 under AddRemove in 'everything'"):
            spec(domain=world, unit=unit.AddRemove())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            spec(domain=world, unit=unit.Replace())

    def test_it_points_at_the_caller(self):
        with pytest.warns(QuincunxWarning) as caught:
            Specification(
                domain=domain.Finite.vectors("ab", 2),
                scope=scope.Everything(),
                unit=unit.AddRemove(),
                standard=standard.Pure(),
                intensity=1,
            )
        assert caught[0].filename == __file__

    def test_it_says_which_universe(self):
        where = scope.Invariants({"total": len})
        with pytest.warns(QuincunxWarning, match="'total = 0', 'total = 1', 'total = 2'"):
            spec(domain=MULTISETS, scope=where, unit=unit.AddRemove())
        world = domain.Finite(datasets=["x0", "x1", "y0", "y1"])
        where = scope.Invariants({"letter": ("first letter", lambda x: x[0])})
        with pytest.warns(QuincunxWarning, match="in \"letter = 'y'\": there"):
            spec(domain=world, scope=where, unit=unit.Neighbours([("x0", "x1")]))

    def test_a_universe_of_one_dataset_is_no_surprise(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            spec(domain=MULTISETS, scope=scope.Invariants({"total": len}), unit=unit.Replace())
            spec(domain=MULTISETS, scope=scope.OneDataset(()), unit=unit.AddRemove())

    def test_one_dataset_without_any_neighbour_is(self):
        with pytest.warns(QuincunxWarning, match="promises nothing"):
            spec(domain=MULTISETS, scope=scope.OneDataset(()), unit=unit.Replace())

    def test_large_domains_are_silent(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            spec(scope=scope.Invariants({"total": "people"}))


class TestGroup:
    @pytest.mark.parametrize(
        ("measure", "value", "k", "standard_then", "intensity_then"),
        [
            (standard.Pure(), 1, 3, standard.Pure(), Fraction(3)),
            (standard.Pure(), Log(2), 3, standard.Pure(), Log(8)),
            (standard.ZCDP(), "1/2", 3, standard.ZCDP(), Fraction(9, 2)),
            (standard.GaussianDP(), "1/2", 4, standard.GaussianDP(), Fraction(2)),
            (standard.TV(), "1/4", 2, standard.TV(), Fraction(1, 2)),
            (standard.Approximate("1/100"), 0, 3, standard.Approximate("3/100"), Fraction(0)),
            # δ(1 + e^ε) with e^ε = 3
            (standard.Approximate("1/100"), Log(3), 2, standard.Approximate("4/100"), Log(9)),
        ],
    )
    def test_group_maps(self, measure, value, k, standard_then, intensity_then):
        grown = spec(standard=measure, intensity=value).group(k)
        assert grown.standard == standard_then
        assert grown.intensity == intensity_then
        assert grown.unit == unit.AddRemove(key="person_id", group=k)
        assert grown.domain == TABLE

    @pytest.mark.parametrize("measure", [standard.KL(), standard.Renyi(2), standard.ZCDP("1/100")])
    def test_without_a_group_map_it_is_refused(self, measure):
        with pytest.raises(PrivacyError, match="no group map") as caught:
            spec(standard=measure).group(2)
        assert caught.value.got.startswith(f"{measure.symbol} = 1")
        assert caught.value.exit_code == 4

    def test_when_delta_would_reach_one_it_is_refused(self):
        with pytest.raises(PrivacyError, match="no group map"):
            spec(standard=standard.Approximate("1/4"), intensity=Log(3)).group(2)

    def test_one_is_itself(self):
        value = spec(standard=standard.KL())
        assert value.group(1) is value

    @pytest.mark.parametrize("k", [0, -1, 1.5])
    def test_k_is_a_whole_number(self, k):
        with pytest.raises(ParameterError, match="k"):
            spec().group(k)

    def test_groups_multiply(self):
        assert spec(unit=unit.AddRemove(group=2)).group(3).unit.group == 6
        assert spec().group(2).group(3) == spec().group(6)

    @pytest.mark.parametrize("where", [scope.Invariants({"total": "people"}), scope.OneDataset("census")])
    def test_steps_may_leave_the_universe(self, where):
        with pytest.raises(PrivacyError, match="outside their universe"):
            spec(scope=where).group(2)

    def test_finite_worlds_are_searched(self):
        whole = spec(domain=MULTISETS, unit=unit.AddRemove())
        assert whole.group(2).unit == unit.AddRemove(group=2)
        # Without the empty dataset, {a} and {b} are joined only through {a, b}, which is there.
        assert spec(domain=domain.Finite.multisets("ab", (1, 2)), unit=unit.AddRemove()).group(2)
        gap = domain.Finite(datasets=[("a",), ("b",), ("a", "a")])
        with pytest.raises(PrivacyError, match="outside their universe"):
            spec(domain=gap, unit=unit.AddRemove()).group(2)

    def test_neighbours_take_two_steps(self):
        chain = spec(
            domain=domain.Finite(datasets="abc"), unit=unit.Neighbours([("a", "b"), ("b", "c")]), intensity=1
        ).group(2)
        assert chain.unit == unit.Neighbours([("a", "b"), ("b", "c"), ("a", "c")])
        assert chain.intensity == 2

    def test_a_metric_already_grows(self):
        world = domain.Finite(datasets=["x", "y"])
        with pytest.raises(SpecificationError, match="no group of steps"):
            spec(domain=world, unit=unit.Metric({("x", "y"): 1})).group(2)

    def test_universe_by_universe(self):
        where = {"domain": MULTISETS, "scope": scope.Invariants({"total": len}), "unit": unit.Replace()}
        value = spec(**where, standard=standard.Approximate("1/100"),
                     intensity={"total = 0": 0, "total = 1": 0, "total = 2": Log(3)})  # fmt: skip
        grown = value.group(2)
        # The larger δ of the two is one that both universes satisfy.
        assert grown.standard == standard.Approximate("4/100")
        assert grown.intensity == intensity.PerUniverse({"total = 0": 0, "total = 1": 0, "total = 2": Log(9)})

    @pytest.mark.parametrize(
        ("measure", "value"),
        [
            (standard.Pure(), Log(2)),
            (standard.Approximate("1/20"), Log("3/2")),
            (standard.TV(), "1/5"),
            (standard.ZCDP(), "1/8"),
        ],
        ids=repr,
    )
    def test_group_maps_hold_on_random_mechanisms(self, measure, value):
        one = spec(domain=visits(), unit=unit.AddRemove(), standard=measure, intensity=value)
        two = one.group(2)
        source = random.Random(7)
        for _ in range(3):
            mechanism = just_within(one, random_mechanism(source, visits().datasets, 3))
            assert one.holds(mechanism)
            assert two.holds(mechanism).status != "fails"
