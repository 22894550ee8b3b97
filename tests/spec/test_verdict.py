"""Verdicts: the smallest intensity by enumeration, decided exactly, with a witness that anyone can check."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import pytest
from small_worlds import blended, deterministic, random_mechanism

from quincunx.errors import SpecificationError
from quincunx.finite import Mechanism
from quincunx.numbers import Ball, Log, ball, precision
from quincunx.spec import Specification, Verdict, Witness, domain, scope, standard, unit
from quincunx.spec.intensity import PerUniverse

TWO = domain.Finite(datasets=[0, 1])
APART = unit.Neighbours([(0, 1)])
RESPONSE = Mechanism({0: {"no": "3/4", "yes": "1/4"}, 1: {"no": "1/4", "yes": "3/4"}})


def on_two(measure, intensity, unit_=APART, scope_=None):
    return Specification(
        domain=TWO, scope=scope_ or scope.Everything(), unit=unit_, standard=measure, intensity=intensity
    )


class TestRandomizedResponse:
    def test_it_satisfies_exactly_ln_3(self):
        verdict = on_two(standard.Pure(), Log(3)).holds(RESPONSE)
        assert verdict.status == "holds"
        assert verdict.holds
        assert bool(verdict) is True
        assert verdict.exact == Log(3)

    @pytest.mark.parametrize(
        ("intensity", "status"),
        [
            (0, "fails"),
            (1, "fails"),
            ("1.0986", "fails"),
            ("1.0987", "holds"),
            (2, "holds"),
            (Log("299999999999999999999/100000000000000000000"), "fails"),
            (Log("300000000000000000001/100000000000000000000"), "holds"),
        ],
    )
    def test_it_is_decided_however_near(self, intensity, status):
        verdict = on_two(standard.Pure(), intensity).holds(RESPONSE)
        assert verdict.status == status
        assert verdict.holds is (status == "holds")
        assert verdict.exact == Log(3)

    def test_the_float_is_on_the_safe_side(self):
        verdict = on_two(standard.Pure(), 0).tightest(RESPONSE)
        lower, upper = verdict.bounds
        with precision(256):
            true = ball(Log(3))
            assert ball(lower) <= true <= ball(upper)
        assert verdict.intensity == upper
        assert upper - lower < 1e-15
        assert math.isclose(upper, math.log(3), rel_tol=1e-15)

    def test_the_witness_can_be_checked_by_hand(self):
        witness = on_two(standard.Pure(), 1).holds(RESPONSE).witness
        assert witness in (
            Witness(x=0, x_prime=1, event=("no",), universe="everything", probability=Fraction(3, 4),
                    probability_prime=Fraction(1, 4)),
            Witness(x=1, x_prime=0, event=("yes",), universe="everything", probability=Fraction(3, 4),
                    probability_prime=Fraction(1, 4)),
        )  # fmt: skip
        assert witness.probability / witness.probability_prime == 3
        assert "has probability 0.75 under" in str(witness)

    @pytest.mark.parametrize(
        ("measure", "exact"),
        [
            (standard.Pure(), Log(3)),
            (standard.Approximate(0), Log(3)),
            (standard.Approximate("1/4"), Log(2)),
            (standard.Approximate("1/2"), Fraction(0)),
            (standard.TV(), Fraction(1, 2)),
        ],
    )
    def test_exact_values(self, measure, exact):
        verdict = on_two(measure, exact).holds(RESPONSE)
        assert verdict.exact == exact
        assert verdict.holds
        assert on_two(measure, exact).tightest(RESPONSE).exact == exact

    @pytest.mark.parametrize(
        ("measure", "value"),
        [
            (standard.KL(), math.log(3) / 2),
            (standard.Renyi(2), math.log(Fraction(9, 4) + Fraction(1, 12))),
            (standard.ZCDP(), math.log(3) / 2),
        ],
    )
    def test_irrational_values_are_enclosed(self, measure, value):
        verdict = on_two(measure, 5).tightest(RESPONSE)
        assert verdict.exact is None
        assert verdict.bounds[0] <= value * (1 + 1e-12)
        assert verdict.bounds[1] >= value * (1 - 1e-12)
        assert verdict.bounds[1] - verdict.bounds[0] <= 1e-5 * value
        above, below = Fraction(verdict.bounds[1]), Fraction(verdict.bounds[0]) * Fraction(999, 1000)
        assert on_two(measure, above).holds(RESPONSE).status == "holds"
        assert on_two(measure, below).holds(RESPONSE).status == "fails"


class TestTotalVariationAgainstLogarithms:
    def test_a_rational_against_a_logarithm_is_decided(self):
        # TV = 1/2; ln(1.6487) < 1/2 < ln(1.6488), since √e = 1.64872…
        assert on_two(standard.TV(), Log("1.6487")).holds(RESPONSE).status == "fails"
        assert on_two(standard.TV(), Log("1.6488")).holds(RESPONSE).status == "holds"


class TestInfinite:
    REVEAL = deterministic([0, 1], lambda x: x)

    @pytest.mark.parametrize("measure", [standard.Pure(), standard.Approximate("1/10"), standard.ZCDP(), standard.KL()])
    def test_no_intensity_is_enough_for_a_plain_release(self, measure):
        for verdict in (on_two(measure, 1000).holds(self.REVEAL), on_two(measure, 1).tightest(self.REVEAL)):
            assert verdict.status == "fails"
            assert not verdict
            assert verdict.intensity == math.inf
            assert verdict.bounds == (math.inf, math.inf)
            assert verdict.exact is None
            assert verdict.witness.probability == 1
            assert verdict.witness.probability_prime == 0

    def test_total_variation_stays_finite(self):
        verdict = on_two(standard.TV(), 1).holds(self.REVEAL)
        assert verdict.holds
        assert verdict.exact == 1


class TestNothing:
    def test_equal_laws_leak_nothing(self):
        verdict = on_two(standard.Pure(), 0).holds(deterministic([0, 1], lambda _: "same"))
        assert verdict.holds
        assert verdict.exact == 0
        assert verdict.intensity == 0
        assert verdict.witness is not None
        assert {verdict.witness.x, verdict.witness.x_prime} == {0, 1}

    def test_without_pairs_there_is_no_witness(self):
        with pytest.warns(UserWarning, match="promises nothing"):
            spec = on_two(standard.Pure(), 0, unit.Neighbours([]))
        assert spec.holds(TestInfinite.REVEAL) == Verdict(
            status="holds", intensity=0.0, bounds=(0.0, 0.0), exact=Fraction(0), witness=None
        )
        assert spec.tightest(TestInfinite.REVEAL).witness is None


class TestMetric:
    WORLD = domain.Finite(datasets=["x", "y", "z"])
    LAWS = Mechanism(
        {
            "x": {0: "8/9", 1: "1/9"},
            "y": {0: "2/3", 1: "1/3"},
            "z": {0: "1/3", 1: "2/3"},
        }
    )

    def spec(self, distances, intensity):
        return Specification(
            domain=self.WORLD,
            scope=scope.Everything(),
            unit=unit.Metric(distances),
            standard=standard.Pure(),
            intensity=intensity,
        )

    def test_each_pair_is_divided_by_its_distance(self):
        # x–y: ln 3; y–z: ln 2; x–z: ln 6.
        distances = {("x", "y"): 1, ("y", "z"): "1/2", ("x", "z"): 3}
        verdict = self.spec(distances, 1).tightest(self.LAWS)
        assert verdict.exact == Log(4)
        assert {verdict.witness.x, verdict.witness.x_prime} == {"y", "z"}
        assert self.spec(distances, Log(4)).holds(self.LAWS).status == "holds"
        assert self.spec(distances, Log("399999/100000")).holds(self.LAWS).status == "fails"

    def test_a_root_of_a_ratio_is_decided_without_an_exact_value(self):
        # ln 6 at distance 2 is ln √6: not the logarithm of a rational.
        verdict = self.spec({("x", "z"): 2}, Log(3)).holds(self.LAWS)
        assert verdict.exact is None
        assert verdict.holds
        assert math.isclose(verdict.intensity, math.log(6) / 2, rel_tol=1e-14)
        assert self.spec({("x", "z"): 2}, Log(2)).holds(self.LAWS).status == "fails"

    def test_a_tie_at_a_root_is_decided(self):
        # ln 4 at distance 2 is exactly ln 2.
        laws = Mechanism({"x": {0: "4/5", 1: "1/5"}, "y": {0: "1/2", 1: "1/2"}, "z": {0: "1/5", 1: "4/5"}})
        assert self.spec({("x", "z"): 2}, Log(2)).holds(laws).status == "holds"
        assert self.spec({("x", "z"): 2}, Log("19999999/10000000")).holds(laws).status == "fails"

    def test_pairs_that_are_not_listed_do_not_count(self):
        assert self.spec({("y", "z"): 1}, Log(2)).holds(self.LAWS).holds


class TestUniverses:
    WORLD = domain.Finite.multisets("ab", range(1, 3))
    LAWS = Mechanism(
        {
            ("a",): {0: "3/4", 1: "1/4"},
            ("b",): {0: "1/4", 1: "3/4"},
            ("a", "a"): {0: "2/3", 1: "1/3"},
            ("b", "a"): {0: "1/2", 1: "1/2"},
            ("b", "b"): {0: "1/3", 1: "2/3"},
        }
    )

    def spec(self, intensity):
        return Specification(
            domain=self.WORLD,
            scope=scope.Invariants({"total": len}),
            unit=unit.Replace(),
            standard=standard.Pure(),
            intensity=intensity,
        )

    def test_each_universe_has_its_own_intensity(self):
        exact = {"total = 1": Log(3), "total = 2": Log("3/2")}
        verdict = self.spec(exact).holds(self.LAWS)
        assert verdict.holds
        assert verdict.exact == Log(3)

    @pytest.mark.parametrize(
        ("intensity", "universe"),
        [
            ({"total = 1": Log("29/10"), "total = 2": Log("3/2")}, "total = 1"),
            ({"total = 1": Log(3), "total = 2": Log("14/10")}, "total = 2"),
        ],
    )
    def test_the_witness_breaks_the_specification(self, intensity, universe):
        verdict = self.spec(intensity).holds(self.LAWS)
        assert verdict.status == "fails"
        assert verdict.witness.universe == universe
        # The smallest number that would do everywhere is reported all the same.
        assert verdict.exact == Log(3)

    def test_one_number_is_for_all(self):
        assert self.spec(Log(3)).holds(self.LAWS).holds
        assert not self.spec(Log(2)).holds(self.LAWS).holds

    def test_multisets_are_recognised_in_any_order(self):
        witness = self.spec({"total = 1": 9, "total = 2": 0}).holds(self.LAWS).witness
        assert witness.universe == "total = 2"
        assert max(witness.probability, witness.probability_prime) in (Fraction(1, 2), Fraction(2, 3))

    def test_around_one_dataset(self):
        spec = Specification(
            domain=self.WORLD,
            scope=scope.OneDataset(("a", "a")),
            unit=unit.Replace(),
            standard=standard.Pure(),
            intensity=Log("3/2"),
        )
        verdict = spec.holds(self.LAWS)
        assert verdict.holds
        assert verdict.witness.universe == "('a', 'b')"


class TestBalls:
    def test_a_world_of_balls_is_enclosed(self):
        with precision(256):
            high = Ball(1).exp() / (Ball(1).exp() + 1)
            laws = {0: {"no": high, "yes": 1 - high}, 1: {"no": 1 - high, "yes": high}}
        mechanism = Mechanism(laws)
        assert on_two(standard.Pure(), "1.0000001").holds(mechanism).status == "holds"
        assert on_two(standard.Pure(), "0.9999999").holds(mechanism).status == "fails"
        # ε = 1 exactly: no ball can tell.
        verdict = on_two(standard.Pure(), 1).holds(mechanism)
        assert verdict.status == "undecided"
        assert not verdict.holds
        assert verdict.exact is None
        assert verdict.bounds[0] <= 1 <= verdict.bounds[1]
        assert verdict.intensity >= 1
        assert "about 0.731059" in str(verdict.witness)


@dataclass
class Bare:
    """The least that a mechanism must offer."""

    inputs: tuple
    outputs: tuple
    laws: dict

    def law(self, x):
        return self.laws[x]


class TestProtocol:
    def test_anything_with_laws_will_do(self):
        bare = Bare((0, 1), ("no", "yes"), {x: RESPONSE.law(x) for x in (0, 1)})
        assert on_two(standard.Pure(), Log(3)).holds(bare) == on_two(standard.Pure(), Log(3)).holds(RESPONSE)

    def test_further_inputs_are_ignored(self):
        more = Mechanism({**RESPONSE.table(), 2: {"no": 1}})
        assert on_two(standard.Pure(), Log(3)).holds(more).holds

    def test_a_missing_dataset_is_refused(self):
        with pytest.raises(SpecificationError, match="1 of 2 missing"):
            on_two(standard.Pure(), 1).holds(Mechanism({0: {"no": 1}}))

    def test_two_orders_of_one_multiset_are_refused(self):
        world = domain.Finite.multisets("ab", 2)
        spec = Specification(
            domain=world, scope=scope.Everything(), unit=unit.Replace(), standard=standard.Pure(), intensity=1
        )
        mechanism = deterministic([("a", "b"), ("b", "a"), ("a", "a"), ("b", "b")], lambda x: x[0])
        with pytest.raises(SpecificationError, match="ordered=True"):
            spec.tightest(mechanism)

    def test_only_finite_worlds_are_enumerated(self):
        spec = Specification(
            domain=domain.Histogram(cells=2),
            scope=scope.Everything(),
            unit=unit.AddRemove(),
            standard=standard.Pure(),
            intensity=1,
        )
        for method in (spec.holds, spec.tightest):
            with pytest.raises(SpecificationError, match="only a finite world"):
                method(RESPONSE)

    def test_a_scope_without_functions_cannot_be_checked(self):
        spec = Specification(
            domain=domain.Finite.multisets("ab", 1),
            scope=scope.Invariants({"total": "number of people"}),
            unit=unit.Replace(),
            standard=standard.Pure(),
            intensity=1,
        )
        with pytest.raises(SpecificationError, match="no function"):
            spec.holds(deterministic([("a",), ("b",)], lambda _: 0))


def brute_force(steps, mechanism):
    """sup of |ln P(S)/P'(S)| over all events, pair by pair, by listing every event; None is infinite."""
    worst = Fraction(1)
    outputs = range(len(mechanism.outputs))
    events = [event for size in range(1, len(outputs) + 1) for event in combinations(outputs, size)]
    for x, y in steps:
        for p, q in ((mechanism.law(x), mechanism.law(y)), (mechanism.law(y), mechanism.law(x))):
            for event in events:
                top, bottom = sum(p[i] for i in event), sum(q[i] for i in event)
                if top and not bottom:
                    return None
                if bottom:
                    worst = max(worst, top / bottom)
    return worst


class TestAgainstBruteForce:
    @pytest.mark.parametrize("seed", range(25))
    def test_pure_on_random_worlds(self, seed):
        source = random.Random(seed)
        world = domain.Finite.multisets("ab", range(3))
        mechanism = random_mechanism(source, world.datasets, source.randint(2, 4))
        steps = [(x, y) for x, y in combinations(world.datasets, 2) if abs(len(x) - len(y)) == 1
                 and sum(abs(x.count(c) - y.count(c)) for c in "ab") == 1]  # fmt: skip
        spec = Specification(
            domain=world, scope=scope.Everything(), unit=unit.AddRemove(), standard=standard.Pure(), intensity=1
        )
        ratio = brute_force(steps, mechanism)
        verdict = spec.tightest(mechanism)
        if ratio is None:
            assert verdict.intensity == math.inf
            return
        assert verdict.exact == (Log(ratio) if ratio > 1 else Fraction(0))
        assert spec.holds(mechanism).holds is (math.log(ratio) <= 1)

    @pytest.mark.parametrize("seed", range(12))
    def test_the_witness_shows_the_ratio(self, seed):
        source = random.Random(1000 + seed)
        world = domain.Finite.vectors((0, 1), 2)
        mechanism = blended(random_mechanism(source, world.datasets, 3), Fraction(1, 5))
        spec = Specification(
            domain=world, scope=scope.Everything(), unit=unit.Replace(), standard=standard.Pure(), intensity=0
        )
        verdict = spec.tightest(mechanism)
        witness = verdict.witness
        index = [mechanism.outputs.index(output) for output in witness.event]
        assert witness.probability == sum(mechanism.law(witness.x)[i] for i in index)
        assert witness.probability_prime == sum(mechanism.law(witness.x_prime)[i] for i in index)
        if verdict.exact:
            assert Log(witness.probability / witness.probability_prime) == verdict.exact


class TestPerUniverseValue:
    def test_names_must_be_those_of_the_scope(self):
        with pytest.raises(SpecificationError, match="1 missing \\('everything'\\) and 1 unknown \\('all'\\)"):
            on_two(standard.Pure(), PerUniverse({"all": 1}))
        assert on_two(standard.Pure(), {"everything": Log(3)}).holds(RESPONSE).holds
