"""Comparison: a table of pairs with the expected relation, each proved direction tried on random mechanisms."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from small_worlds import ROWS, VISITS, just_within, random_mechanism

from quincunx.numbers import Log
from quincunx.spec import Comparison, Implication, Specification, domain, scope, standard, unit

TABLE = domain.Tables(columns={"person": "text", "day": "date"})
CELLS = domain.Histogram(cells=3)
WORLD = domain.Finite.multisets(ROWS, range(4), columns=VISITS)
SMALL = domain.Finite.multisets(ROWS, range(3), columns=VISITS)
GAP = domain.Finite.multisets(ROWS, (1, 3), columns=VISITS)
LINE = domain.Finite(datasets="abcd")
CHAIN = unit.Neighbours([("a", "b"), ("b", "c"), ("c", "d")])
DAY = {"column": "day", "period": "day"}
PURE, TV, KL, GDP = standard.Pure(), standard.TV(), standard.KL(), standard.GaussianDP()
ZCDP, APPROXIMATE, RENYI = standard.ZCDP, standard.Approximate, standard.Renyi


def people(dataset):
    return len({row[0] for row in dataset})


TOTAL = scope.Invariants({"total": len})
BOTH = scope.Invariants({"total": len, "people": people})
NAMED = scope.Invariants({"total": "number of rows"})
NAMED_MORE = scope.Invariants({"total": "number of rows", "people": "number of people"})


def spec(measure=PURE, intensity=1, unit_=None, domain_=TABLE, scope_=None):
    return Specification(
        domain=domain_,
        scope=scope_ or scope.Everything(),
        unit=unit_ or unit.AddRemove(),
        standard=measure,
        intensity=intensity,
    )


@dataclass(frozen=True)
class Case:
    """`twin`: a finite world on which a pair over a large domain is tried."""

    name: str
    ours: Specification
    other: Specification
    relation: str
    twin: domain.Finite | None = None


AR, RP = unit.AddRemove, unit.Replace

CASES = [
    # intensity alone
    Case("same", spec(), spec(intensity="1.0"), "equal", WORLD),
    Case("less ε", spec(intensity="1/2"), spec(), "stronger", WORLD),
    Case("more ε", spec(intensity=2), spec(), "weaker", WORLD),
    Case("ln 3 is within 1.0987", spec(intensity=Log(3)), spec(intensity="1.0987"), "stronger", WORLD),
    Case("ln 3 is above 1.0986", spec(intensity=Log(3)), spec(intensity="1.0986"), "weaker", WORLD),
    Case("less ρ", spec(ZCDP(), "1/4"), spec(ZCDP(), "1/3"), "stronger", SMALL),
    # the unit
    Case("add/remove ε = 1 implies replace ε = 2", spec(), spec(intensity=2, unit_=RP()), "stronger", WORLD),
    Case("add/remove ε = 1 does not give replace ε = 1.9", spec(), spec(intensity="1.9", unit_=RP()), "unknown"),
    Case("replace never implies add/remove", spec(unit_=RP()), spec(intensity=100), "unknown"),
    Case("two people from one", spec(), spec(intensity=2, unit_=AR(group=2)), "stronger", WORLD),
    Case("one person from two", spec(unit_=AR(group=2)), spec(), "stronger", WORLD),
    Case("a pair covers a replacement", spec(unit_=AR(group=2)), spec(unit_=RP()), "stronger", WORLD),
    Case("ρ over two steps is 4ρ", spec(ZCDP(), "1/8"), spec(ZCDP(), "1/2", RP()), "stronger", SMALL),
    Case("ρ over two steps is not 3ρ", spec(ZCDP(), "1/8"), spec(ZCDP(), "3/8", RP()), "unknown"),
    Case("a person implies a person-day",
         spec(unit_=AR(key="person")), spec(intensity=2, unit_=AR(key="person", per=DAY)), "stronger", WORLD),
    Case("a person at ε is not a person-day at ε",
         spec(unit_=AR(key="person")), spec(unit_=AR(key="person", per=DAY)), "unknown"),
    Case("a person implies four steps of an exchanged person-day",
         spec(unit_=AR(key="person"), intensity="1/4"), spec(unit_=RP(key="person", per=DAY)), "stronger", WORLD),
    Case("a person-day does not imply a person",
         spec(unit_=AR(key="person", per=DAY)), spec(intensity=50, unit_=AR(key="person")), "unknown"),
    Case("other keys", spec(unit_=AR(key="person")), spec(unit_=AR(key="day")), "unknown"),
    # the standard
    Case("pure implies approximate", spec(), spec(APPROXIMATE("1/1000")), "stronger", WORLD),
    Case("pure is approximate with δ = 0", spec(), spec(APPROXIMATE(0)), "equal", WORLD),
    Case("less δ", spec(APPROXIMATE("1/100")), spec(APPROXIMATE("1/50")), "stronger", WORLD),
    Case("ε against δ", spec(APPROXIMATE("1/100"), 1), spec(APPROXIMATE("1/50"), "1/2"), "unknown"),
    Case("pure implies zCDP by ε·tanh(ε/2)", spec(), spec(ZCDP(), "0.4622"), "stronger", SMALL),
    Case("pure does not give less ρ than that", spec(), spec(ZCDP(), "0.4621"), "unknown"),
    Case("zCDP never implies pure", spec(ZCDP(), "1/1000000"), spec(intensity=100), "unknown"),
    Case("zCDP implies KL", spec(ZCDP(), "1/4"), spec(KL, "1/4"), "stronger", SMALL),
    Case("zCDP implies Rényi", spec(ZCDP(), "1/4"), spec(RENYI(2), "1/2"), "stronger", SMALL),
    Case("zCDP implies approximate", spec(ZCDP(), "1/10"), spec(APPROXIMATE("1/1000"), 2), "stronger", SMALL),
    Case("GDP implies zCDP", spec(GDP, 1), spec(ZCDP(), "1/2"), "stronger", SMALL),
    Case("pure implies TV", spec(intensity=Log(3)), spec(TV, "1/2"), "stronger", WORLD),
    Case("KL implies TV by Pinsker", spec(KL, "1/8"), spec(TV, "1/4"), "stronger", WORLD),
    Case("TV implies approximate with ε = 0", spec(TV, "1/10"), spec(APPROXIMATE("1/10"), 0), "equal", WORLD),
    Case("KL over two steps by way of TV", spec(KL, "1/8"), spec(TV, "1/2", RP()), "stronger", WORLD),
    Case("KL over two steps has no map", spec(KL, "1/8"), spec(KL, 10, RP()), "unknown"),
    Case("pure over two steps, then converted", spec(intensity=Log(3)), spec(TV, "4/5", RP()), "stronger", WORLD),
    # the scope
    Case("everything covers invariants", spec(unit_=RP()), spec(unit_=RP(), scope_=NAMED), "stronger"),
    Case("fewer invariants protect more",
         spec(unit_=RP(), scope_=NAMED), spec(unit_=RP(), scope_=NAMED_MORE), "stronger"),
    Case("an invariant of the same name and another text",
         spec(scope_=NAMED), spec(scope_=scope.Invariants({"total": "x"})), "unknown"),
    Case("steps may leave the level set", spec(scope_=NAMED), spec(intensity=2, unit_=RP(), scope_=NAMED), "unknown"),
    Case("everything covers one dataset", spec(), spec(scope_=scope.OneDataset("census")), "stronger"),
    Case("the same dataset", spec(scope_=scope.OneDataset("x")), spec(scope_=scope.OneDataset("x")), "equal"),
    Case("another dataset", spec(scope_=scope.OneDataset("x")), spec(scope_=scope.OneDataset("y")), "unknown"),
    # the domain
    Case("tables and histograms", spec(), spec(domain_=CELLS), "unknown"),
    Case("histograms", spec(domain_=CELLS), spec(intensity=2, domain_=CELLS, unit_=RP()), "stronger"),
    Case("a larger world", spec(domain_=WORLD), spec(domain_=SMALL), "stronger", WORLD),
    Case("a world with gaps",
         spec(domain_=GAP, unit_=AR(group=2)), spec(domain_=GAP, unit_=RP(), intensity=1), "stronger", GAP),
    # intensities per universe
    Case("one number is within each", spec(scope_=NAMED), spec(scope_=NAMED, intensity={"a": 1, "b": 2}), "stronger"),
    Case("one number is above one of them",
         spec(scope_=NAMED), spec(scope_=NAMED, intensity={"a": "1/2", "b": 2}), "unknown"),
    Case("pointwise",
         spec(scope_=NAMED, intensity={"a": 1, "b": 2}), spec(scope_=NAMED, intensity={"a": 1, "b": 3}), "stronger"),
    Case("crossing",
         spec(scope_=NAMED, intensity={"a": 1, "b": 2}), spec(scope_=NAMED, intensity={"a": 2, "b": 1}), "unknown"),
    Case("a universe without an entry",
         spec(scope_=NAMED, intensity={"a": 1}), spec(scope_=NAMED, intensity={"a": 1, "b": 1}), "weaker"),
    Case("a list against one number everywhere", spec(scope_=NAMED, intensity={"a": 1}), spec(scope_=NAMED), "weaker"),
    Case("the whole domain by its name", spec(intensity={"everything": 1}), spec(), "equal", WORLD),
    Case("lists under other scopes",
         spec(scope_=NAMED, intensity={"a": 1}), spec(scope_=NAMED_MORE, intensity={"b": 1}), "unknown"),
    # finite worlds, by search
    Case("level sets, found", spec(domain_=WORLD, unit_=RP(), scope_=TOTAL),
         spec(domain_=WORLD, unit_=RP(), scope_=BOTH), "stronger", WORLD),
    Case("everything and the total are one under replace",
         spec(domain_=WORLD, unit_=RP()), spec(domain_=WORLD, unit_=RP(), scope_=TOTAL), "equal", WORLD),
    Case("per universe, by search",
         spec(domain_=SMALL, unit_=RP(), scope_=TOTAL, intensity={"total = 0": 0, "total = 1": 1, "total = 2": 2}),
         spec(domain_=SMALL, unit_=RP(), scope_=TOTAL, intensity=2), "stronger", SMALL),
    Case("a chain of neighbours", spec(domain_=LINE, unit_=CHAIN),
         spec(domain_=LINE, unit_=unit.Neighbours([("a", "d")]), intensity=3), "stronger", LINE),
    Case("a chain is not shorter", spec(domain_=LINE, unit_=CHAIN),
         spec(domain_=LINE, unit_=unit.Neighbours([("a", "d")]), intensity="2.9"), "unknown"),
    Case("neighbours imply a metric", spec(domain_=LINE, unit_=CHAIN),
         spec(domain_=LINE, unit_=unit.Metric({("a", "c"): 2, ("a", "d"): 3})), "stronger", LINE),
    Case("a metric implies neighbours", spec(domain_=LINE, unit_=unit.Metric({("a", "b"): "1/2", ("b", "c"): "1/3"})),
         spec(domain_=LINE, unit_=unit.Neighbours([("a", "c")]), intensity="5/6"), "stronger", LINE),
    Case("a metric and its double", spec(domain_=LINE, unit_=unit.Metric({("a", "b"): 1})),
         spec(domain_=LINE, unit_=unit.Metric({("a", "b"): 2}), intensity="1/2"), "equal", LINE),
    Case("a metric with logarithms", spec(domain_=LINE, unit_=unit.Metric({("a", "b"): "1/2"}), intensity=Log(9)),
         spec(domain_=LINE, unit_=unit.Neighbours([("a", "b")]), intensity="1.0987"), "stronger", LINE),
    Case("a metric implies TV", spec(domain_=LINE, unit_=unit.Metric({("a", "b"): 2}), intensity=Log(3)),
         spec(TV, "4/5", unit.Neighbours([("a", "b")]), LINE), "stronger", LINE),
    Case("around one of the datasets", spec(domain_=LINE, unit_=CHAIN),
         spec(domain_=LINE, unit_=CHAIN, scope_=scope.OneDataset("b")), "stronger", LINE),
    Case("two replacements on a sparse world",
         spec(domain_=GAP, unit_=RP()), spec(domain_=GAP, unit_=RP(group=2), intensity=2), "stronger", GAP),
]  # fmt: skip

OPPOSITE = {"stronger": "weaker", "weaker": "stronger", "equal": "equal", "unknown": "unknown"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
class TestTable:
    def test_relation(self, case):
        found = case.ours.compare(case.other)
        assert isinstance(found, Comparison)
        assert found.relation == case.relation
        assert found.reason[0].isupper()
        assert found.reason.endswith(".")

    def test_the_other_way_round(self, case):
        assert case.other.compare(case.ours).relation == OPPOSITE[case.relation]

    def test_implies_agrees(self, case):
        forth, back = case.ours.implies(case.other), case.other.implies(case.ours)
        assert isinstance(forth, Implication)
        assert forth.holds is bool(forth) is (case.relation in ("stronger", "equal"))
        assert back.holds is (case.relation in ("weaker", "equal"))


def test_the_table_is_large_enough():
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.relation for case in CASES} == set(OPPOSITE)


def on_a_finite_world(value: Specification, world: domain.Finite) -> Specification:
    """The same blocks on a world that can be enumerated."""
    if isinstance(value.domain, domain.Finite):
        return value
    return Specification(
        domain=world, scope=value.scope, unit=value.unit, standard=value.standard, intensity=value.intensity
    )


PROVED = [
    (case.name, *(pair if case.relation != "weaker" else pair[::-1]), case.twin)
    for case in CASES
    if case.relation != "unknown" and case.twin is not None
    for pair in [(case.ours, case.other)]
]


@pytest.mark.parametrize(("name", "strong", "weak", "world"), PROVED, ids=[case[0] for case in PROVED])
def test_what_satisfies_the_stronger_satisfies_the_weaker(name, strong, weak, world):
    strong, weak = on_a_finite_world(strong, world), on_a_finite_world(weak, world)
    source = random.Random(name)
    for statistic in (None, len, people):
        mechanism = just_within(strong, random_mechanism(source, strong.domain.datasets, 3, statistic))
        assert strong.holds(mechanism)
        verdict = weak.holds(mechanism)
        assert verdict.status != "fails"
        if isinstance(weak.standard, standard.Pure | standard.Approximate | standard.TV):
            assert verdict.status == "holds"


class TestTheExperimentCanFail:
    """The same experiment refutes claims that are false, so its silence above means something."""

    @pytest.mark.parametrize(
        ("ours", "false_claim"),
        [
            (spec(domain_=WORLD), spec(domain_=WORLD, unit_=RP())),
            (spec(domain_=WORLD, unit_=RP()), spec(domain_=WORLD)),
            (spec(domain_=WORLD, unit_=RP(), scope_=BOTH), spec(domain_=WORLD, unit_=RP(), scope_=TOTAL)),
            (spec(domain_=WORLD, unit_=AR(key="person", per=DAY)), spec(domain_=WORLD, unit_=AR(key="person"))),
            (spec(APPROXIMATE("1/10"), domain_=WORLD), spec(domain_=WORLD)),
            (spec(TV, "1/4", domain_=WORLD), spec(KL, "1/8", domain_=WORLD)),
            (spec(domain_=WORLD, intensity=2), spec(domain_=WORLD, intensity="1.9")),
        ],
        ids=["two steps as one", "replace as add/remove", "finer as coarser", "a day as a person", "δ as 0",
             "Pinsker reversed", "ε"],
    )  # fmt: skip
    def test_false_claims_are_refuted(self, ours, false_claim):
        assert not ours.implies(false_claim)
        source = random.Random(11)
        statuses = []
        for statistic in (None, len, people) * 2:
            mechanism = just_within(ours, random_mechanism(source, WORLD.datasets, 3, statistic))
            assert ours.holds(mechanism)
            statuses.append(false_claim.holds(mechanism).status)
        assert "fails" in statuses


class TestReasons:
    @pytest.mark.parametrize(
        ("ours", "other", "text"),
        [
            (spec(), spec(intensity=2, unit_=RP()), "one change of it is at most 2 changes here"),
            (spec(), spec(intensity=2), "one change of it is one change here"),
            (spec(), spec(domain_=CELLS), "the domain of the one is not known to contain"),
            (spec(scope_=NAMED), spec(), "no rule puts the universes of the other inside"),
            (spec(unit_=RP()), spec(), "no number of protected changes here always makes"),
            (spec(scope_=NAMED), spec(intensity=2, unit_=RP(), scope_=NAMED), "may leave the universe"),
            (spec(ZCDP()), spec(), "no rule leads from the standard ZCDP"),
            (spec(intensity=2), spec(), "is not known to be within the intensity of the other"),
            (spec(), spec(intensity="1.9", unit_=RP()), "over 2 changes is not known to be within"),
            (spec(intensity=1), spec(TV, "1/2"), "after conversion of the standard its intensity is not exceeded"),
            (
                spec(scope_=NAMED, intensity={"a": 1}),
                spec(scope_=NAMED_MORE, intensity={"b": 1}),
                "compared only for equal scopes",
            ),
            (spec(domain_=LINE, unit_=CHAIN), spec(domain_=LINE, unit_=CHAIN, intensity=2), "was found"),
            (
                spec(domain_=LINE, unit_=unit.Neighbours([("a", "b")])),
                spec(domain_=LINE, unit_=CHAIN),
                "no chain of changes protected here",
            ),
            (
                spec(KL, domain_=LINE, unit_=CHAIN),
                spec(KL, domain_=LINE, unit_=CHAIN.times(2)),
                "no rule leads from the standard KL",
            ),
            (
                spec(domain_=LINE, unit_=CHAIN, intensity=2),
                spec(domain_=LINE, unit_=CHAIN),
                "is not known to be within",
            ),
        ],
    )
    def test_the_rule_is_named(self, ours, other, text):
        reason = ours.implies(other).reason
        assert text in reason[0].lower() + reason[1:]

    def test_unknown_gives_both_reasons(self):
        reason = spec(unit_=RP()).compare(spec()).reason
        assert "No number of protected changes" in reason
        assert "Conversely, what follows from the intensity here over 2 changes" in reason

    def test_one_reason_is_said_once(self):
        reason = spec().compare(spec(domain_=CELLS)).reason
        assert "Conversely" not in reason


class TestVacuous:
    def test_what_protects_nothing_is_implied_by_anything(self):
        vectors = domain.Finite.vectors((0, 1), 2)
        with pytest.warns(UserWarning, match="promises nothing"):
            empty = spec(domain_=vectors, intensity=0)
        ours = spec(domain_=vectors, unit_=RP(), intensity=5)
        assert ours.implies(empty)
        assert "protects no pair" in ours.implies(empty).reason
        assert not empty.implies(ours)


class TestWithoutFunctions:
    """A scope read back from JSON is compared by its texts, in one step only."""

    def read(self, value):
        return Specification.from_json(value.to_json())

    def test_it_still_equals_itself(self):
        value = self.read(spec(domain_=SMALL, unit_=RP(), scope_=TOTAL))
        assert value.compare(value).relation == "equal"
        finer = self.read(spec(domain_=SMALL, unit_=RP(), scope_=BOTH))
        assert value.compare(finer).relation == "stronger"

    def test_several_steps_are_not_believed(self):
        value = self.read(spec(domain_=SMALL, unit_=RP(), scope_=TOTAL))
        two = replace_unit(value, RP(group=2), 2)
        assert value.compare(two).relation == "unknown"
        # With the functions, the search finds the way.
        assert spec(domain_=SMALL, unit_=RP(), scope_=TOTAL).compare(
            spec(domain_=SMALL, unit_=RP(group=2), scope_=TOTAL, intensity=2)
        ).relation in ("stronger", "equal")


def replace_unit(value: Specification, unit_: unit.Unit, intensity: int) -> Specification:
    return Specification(
        domain=value.domain, scope=value.scope, unit=unit_, standard=value.standard, intensity=intensity
    )


class TestFrozen:
    def test_results_are_values(self):
        found = spec().compare(spec())
        assert replace(found, relation="unknown").relation == "unknown"
        with pytest.raises(AttributeError):
            found.relation = "stronger"

    def test_transitive_on_the_table_of_pure_intensities(self):
        values = [spec(intensity=x) for x in (Fraction(1, 2), Log(3), Fraction(11, 10), 2)]
        for i, one in enumerate(values):
            for j, two in enumerate(values):
                assert one.implies(two).holds is (i <= j)
