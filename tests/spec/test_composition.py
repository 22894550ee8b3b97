"""Several releases together, and one guarantee in another scope."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from quincunx.errors import PrivacyError, SpecificationError
from quincunx.finite import Mechanism, adaptive, sequential
from quincunx.numbers import Log
from quincunx.spec import Specification, standard, unit
from quincunx.spec.composition import plus
from quincunx.spec.domain import Finite, Histogram, Tables
from quincunx.spec.scope import Counts, Everything, Invariants, OneDataset
from quincunx.spec.unit import Hamming

TABLE = Tables(columns={"county": "text", "age": "integer"})
WORLD = Finite(datasets=["x", "y", "z"])
STEPS = unit.Neighbours([("x", "y"), ("y", "z")])


def spec(how=None, intensity: object = 1, where=None, on=TABLE, what=None) -> Specification:
    return Specification(
        domain=on,
        scope=where or Everything(),
        unit=what or unit.Replace(),
        standard=how or standard.Pure(),
        intensity=intensity,
    )


class TestCompose:
    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            ((standard.Pure(), 1), (standard.Pure(), "1/2"), (standard.Pure(), Fraction(3, 2))),
            ((standard.Pure(), Log(3)), (standard.Pure(), Log(2)), (standard.Pure(), Log(6))),
            ((standard.Approximate("1/4"), 1), (standard.Approximate("1/8"), 2), (standard.Approximate("3/8"), 3)),
            ((standard.Pure(), 1), (standard.Approximate("1/8"), 2), (standard.Approximate("1/8"), 3)),
            ((standard.ZCDP(), "1/2"), (standard.ZCDP("1/9"), "1/3"), (standard.ZCDP("1/9"), Fraction(5, 6))),
            ((standard.Renyi(3), 1), (standard.Renyi(3), 2), (standard.Renyi(3), 3)),
            ((standard.GaussianDP(), 3), (standard.GaussianDP(), 4), (standard.GaussianDP(), 5)),
            ((standard.GaussianDP(), 0), (standard.GaussianDP(), 4), (standard.GaussianDP(), 4)),
            ((standard.KL(), 1), (standard.KL(), 2), (standard.KL(), 3)),
            ((standard.TV(), "1/2"), (standard.TV(), "1/3"), (standard.TV(), Fraction(5, 6))),
            ((standard.TV(), "2/3"), (standard.TV(), "2/3"), (standard.TV(), 1)),
            (
                (standard.Tradeoff(((0, 1), ("1/4", "1/4"), (1, 0))), 1),
                (standard.Tradeoff(((0, 1), ("1/4", "1/4"), (1, 0))), 1),
                (standard.Tradeoff(((0, 1), ("1/16", "7/16"), ("7/16", "1/16"), (1, 0))), 1),
            ),
            (
                (standard.Tradeoff(((0, 1), ("1/4", "1/4"), (1, 0))), 0),
                (standard.Tradeoff(((0, 1), ("1/4", "1/4"), (1, 0))), 1),
                (standard.Tradeoff(((0, 1), ("1/4", "1/4"), (1, 0))), 1),
            ),
        ],
    )
    def test_rules(self, first, second, expected):
        total = spec(*first).compose(spec(*second))
        assert total.standard == expected[0]
        assert total.numbers[0] == expected[1] or abs(float(total.numbers[0]) - float(expected[1])) < 2e-12

    def test_a_pure_release_costs_zcdp_what_it_implies(self):
        total = spec(standard.Pure(), 1).compose(spec(standard.ZCDP(), 1))
        assert total.standard == standard.ZCDP()
        # ε·tanh(ε/2) = 0.46212
        assert 1.46211 < float(total.largest) < 1.46213

    def test_three_at_once_and_one_alone(self):
        assert spec().compose(spec(), spec()).largest == 3
        assert spec().compose() == spec()

    def test_the_scope_is_joined(self):
        one = spec(where=Invariants.counts(["county"]))
        two = spec(where=Invariants.counts(["county", "age"]))
        assert one.compose(two).scope == two.scope == two.compose(one).scope
        assert one.compose(spec()).scope == one.scope
        other = Invariants({"total": "number of people"})
        assert one.compose(spec(where=other)).scope == one.scope.join(other)

    def test_sums_of_unlike_numbers_are_rounded_up(self):
        total = plus(Log(3), Fraction(1))
        assert isinstance(total, Fraction)
        assert 0 <= total - Fraction("2.09861228866810969139") < Fraction(1, 10**11)

    @pytest.mark.parametrize(
        ("other", "error", "message"),
        [
            (spec(on=Histogram(cells=2)), SpecificationError, "domains differ"),
            (spec(what=unit.AddRemove()), SpecificationError, "units differ"),
            (spec(standard.Divergence("chi-squared")), PrivacyError, "no rule composes"),
            (spec(standard.Renyi(2)), None, ""),
        ],
    )
    def test_what_cannot_be_composed_is_refused(self, other, error, message):
        if error is None:
            assert spec().compose(other).standard == standard.Renyi(2)
            return
        with pytest.raises(error, match=message):
            spec(standard.KL() if other.standard.kind == "divergence" else None).compose(other)

    def test_different_orders_are_refused(self):
        with pytest.raises(PrivacyError, match="no rule composes"):
            spec(standard.Renyi(2)).compose(spec(standard.Renyi(3)))

    def test_too_much_delta_is_refused(self):
        half = spec(standard.Approximate("1/2"))
        with pytest.raises(PrivacyError, match="add up to 1 or more"):
            half.compose(half)

    def test_intensities_per_universe(self):
        facts = Invariants({"b": "largest stratum"})
        small, large = "b is 2", "b is 3"
        one = spec(where=facts, intensity={small: 1, large: 2})
        assert dict(one.compose(one).by_universe) == {small: 2, large: 4}
        assert dict(one.compose(spec(intensity=5)).by_universe) == {small: 6, large: 7}
        assert dict(spec(intensity=5).compose(one).by_universe) == {small: 6, large: 7}
        other = spec(where=Invariants({"c": "another"}), intensity={"c is 1": 3})
        assert dict(one.compose(other).by_universe) == {f"{small}; c is 1": 4, f"{large}; c is 1": 5}

    @pytest.mark.parametrize("how", [standard.Pure(), standard.TV(), standard.ZCDP(), standard.Approximate("1/20")])
    def test_enumeration(self, how):
        """Random releases, one after the other and the second chosen by the first: the sum holds."""
        source = random.Random(f"compose {how!r}")

        def release() -> Mechanism:
            rows = {}
            for x in WORLD.datasets:
                weights = [source.randint(1, 9) for _ in range(3)]
                rows[x] = {o: Fraction(w, sum(weights)) for o, w in zip("abc", weights, strict=True)}
            return Mechanism(rows)

        def tight(m: Mechanism) -> Specification:
            base = spec(how, 0, on=WORLD, what=STEPS)
            top = Fraction(base.tightest(m).intensity).limit_denominator(10**6) + Fraction(1, 10**5)
            return spec(how, min(top, 1) if how == standard.TV() else top, on=WORLD, what=STEPS)

        for _ in range(20):
            first, second, third = release(), release(), release()
            total = tight(first).compose(tight(second))
            assert total.holds(sequential(first, second))
            worse = max(tight(second).largest, tight(third).largest)
            chosen = adaptive(first, {"a": second, "b": third, "c": second})
            assert tight(first).compose(spec(how, worse, on=WORLD, what=STEPS)).holds(chosen)


class TestWithin:
    COUNTS = Invariants.counts(["county"])

    def test_finer_invariants_are_weaker(self):
        strong = spec(where=self.COUNTS, what=Hamming())
        weak = strong.within(Invariants.counts(["county", "age"]))
        assert weak.scope == Invariants.counts(["county", "age"])
        assert weak.numbers == strong.numbers
        assert strong.implies(weak)
        assert strong.compare(weak).relation == "stronger"
        assert spec().within(self.COUNTS).scope == self.COUNTS
        assert strong.within(self.COUNTS) is strong

    def test_a_wider_scope_is_refused_and_explained(self):
        with pytest.raises(PrivacyError) as caught:
            spec(where=self.COUNTS).within(Everything())
        assert caught.value.exit_code == 4
        assert "compares datasets that disagree on county" in str(caught.value)
        assert "no finite ε exists" in str(caught.value)

    def test_the_missing_facts_are_named(self):
        scope = Invariants({"by county": Counts("county"), "by age": Counts("age")})
        with pytest.raises(PrivacyError, match="disagree on by age;"):
            spec(where=scope).within(Invariants({"other": Counts("county")}))

    @pytest.mark.parametrize(
        ("how", "text"),
        [
            (standard.Pure(), "no finite ε exists"),
            (standard.Approximate("1/100"), "no finite ε exists"),
            (standard.ZCDP(), "no finite ρ exists"),
            (standard.GaussianDP(), "no finite μ exists"),
            (standard.KL(), "no finite KL exists"),
            (standard.TV(), "Nothing is known about the TV"),
            (standard.Divergence("squared-hellinger"), "Nothing is known about the D"),
        ],
    )
    def test_necessity_is_claimed_only_for_standards_that_are_infinite_on_singular_laws(self, how, text):
        with pytest.raises(PrivacyError, match=text):
            spec(how, where=self.COUNTS).within(Everything())

    def test_one_dataset(self):
        with pytest.raises(PrivacyError, match="datasets that are not compared here"):
            spec(where=OneDataset("x")).within(Everything())
        assert spec().within(OneDataset("x")).scope == OneDataset("x")

    def test_finite_worlds_are_looked_up(self):
        """Different functions that fix each other: rules do not know it, enumeration does."""
        rows = list(itertools.product("ab", (0, 1)))
        world = Finite.multisets(rows, 2, columns=["county", "age"])
        one = Invariants({"a": ("number of a", lambda x: sum(r[0] == "a" for r in x))})
        two = Invariants({"b": ("number of b", lambda x: sum(r[0] == "b" for r in x))})
        assert spec(where=one, on=world).within(two).scope == two
        with pytest.raises(PrivacyError):
            spec(where=one, on=world).within(Invariants.counts(["age"]))

    def test_numbers_per_universe(self):
        world = Finite.multisets("ab", [1, 2])
        total = Invariants({"total": len})
        one = spec(where=total, on=world, intensity={"total = 1": 1, "total = 2": 2})
        fine = Invariants({"total": len, "a": ("number of a", lambda x: x.count("a"))})
        with pytest.warns(match="promises nothing"):
            assert one.within(fine).intensity == 2
        unlisted = spec(where=Invariants({"total": "n"}), intensity={"total = 1": 1})
        assert unlisted.within(Invariants({"total": "n", "a": "m"})).by_universe == (("total = 1", 1),)

    def test_what_is_no_scope_is_refused(self):
        with pytest.raises(SpecificationError, match="expected a scope"):
            spec().within("everything")
