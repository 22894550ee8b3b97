"""Sensitivities against all neighbours of small worlds, each attained; clipping against its definition."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Hashable, Sequence
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quincunx as qx
from quincunx.errors import DataError, InputError, ParameterError, PrivacyError
from quincunx.mechanisms import DiscreteLaplace, Laplace, sensitivity
from quincunx.mechanisms.sensitivity import Clip, Count, Histogram, Linear, Mean, Statistic, Sum, Variance
from quincunx.numbers import ball, float_above, float_below, precision
from quincunx.spec.domain import Finite
from quincunx.spec.standard import Pure
from quincunx.spec.unit import AddRemove, Metric, Neighbours, Replace, Unit

Vector = Sequence[Fraction | int]
UNITS = [AddRemove(), AddRemove(group=2), Replace(), Replace(group=2)]
KEYED = [kind(key="person", group=group) for kind in (AddRemove, Replace) for group in (1, 2)]


def worst(unit: Unit, world: Finite, f: Callable[[Any], Vector], power: int) -> Fraction:
    """The largest Σ|f(x)_i − f(x')_i|^power over all protected pairs of a world."""
    answers = {x: f(x) for x in world.datasets}
    found = Fraction(0)
    for x, y, _ in unit.protected_pairs(world.datasets, world):
        moved = sum(abs(Fraction(a) - b) ** power for a, b in zip(answers[x], answers[y], strict=True))
        found = max(found, Fraction(moved))
    return found


def attained(statistic: Statistic, unit: Unit, world: Finite, f: Callable[[Any], Vector]) -> bool:
    return (statistic.l1(unit), statistic.l2_squared(unit)) == (worst(unit, world, f, 1), worst(unit, world, f, 2))


# Each case: a statistic without rows, what one record adds to it (independently written), and the possible records.

EDGES = Clip("-0.4", "2.6")
RAW = (-7, Fraction(-2, 5), Fraction(1, 3), 1, Fraction(7, 4), Fraction(13, 5), 100)


def clipped(x: Any, clip: Clip, step: Fraction | None) -> Fraction:
    inside = min(max(Fraction(x), clip.low), clip.high)
    return inside if step is None else math.floor(inside / step + Fraction(1, 2)) * step


def moments(clip: Clip, step: Fraction | None, centre: Fraction, powers: Sequence[int]) -> Callable[[Any], Vector]:
    return lambda x: [(clipped(x, clip, step) - centre) ** power for power in powers]


def unit_vector(size: int) -> Callable[[Any], Vector]:
    return lambda cell: [int(cell == place) for place in range(size)]


def column(matrix: Sequence[Sequence[Any]]) -> Callable[[Any], Vector]:
    return lambda cell: [Fraction(row[cell]) for row in matrix]


MATRICES: list[list[list[Any]]] = [
    [[1, 1, 1], [1, 1, 0], [1, 0, 0]],
    [["1/2", "-1/3", 0], [2, 2, "0.1"]],
    [[1, -1]],
    [[1, -1], [1, -1]],
    [[0, 0, 0]],
    [[5]],
    [[10**30, 1], [-(10**30), "1/7"]],
]
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
CASES: list[tuple[Callable[..., Statistic], Callable[[Any], Vector], tuple[Hashable, ...]]] = [
    (Count, lambda x: [x], (0, 1)),
    (lambda **rows: Histogram(3, **rows), unit_vector(3), (0, 1, 2)),
    (lambda **rows: Histogram(["a", "b"], **rows), unit_vector(2), (0, 1)),
    (lambda **rows: Histogram(1, **rows), unit_vector(1), (0,)),
    *((lambda m=m, **rows: Linear(m, **rows), column(m), tuple(range(len(m[0])))) for m in MATRICES),
    *(
        (lambda c=c, s=s, **rows: Sum(c, step=s, **rows), lambda x, c=c, s=s: [clipped(x, c, s)], RAW)
        for c in (EDGES, Clip(-2, 1), Clip(1, 2), Clip(-2, "-1/2"), Clip(1, 1), Clip(0, 0))
        for s in (None, Fraction(1), THIRD)
    ),
]
MIDDLES = [
    # The centre worked out by hand: the midpoint, or the lattice point at or below it.
    (EDGES, None, Fraction(11, 10)),
    (EDGES, Fraction(1), Fraction(1)),
    (EDGES, HALF, Fraction(1)),
    (EDGES, THIRD, Fraction(1)),
    (Clip(1, 2), Fraction(1), Fraction(1)),
    (Clip(-2, 1), Fraction(1), Fraction(-1)),
    (Clip(-2, 1), None, Fraction(-1, 2)),
    (Clip(1, 1), None, Fraction(1)),
    (Clip(0, 100), Fraction(3), Fraction(48)),
]
CASES += [
    (lambda c=c, s=s, **rows: Mean(c, step=s, **rows), moments(c, s, m, (1, 0)), (*RAW, 50, 99)) for c, s, m in MIDDLES
]
CASES += [
    (lambda c=c, s=s, **rows: Variance(c, step=s, **rows), moments(c, s, m, (1, 2, 0)), values)
    for c, s, m, values in [
        (EDGES, HALF, Fraction(1), tuple(Fraction(i, 2) for i in range(-1, 7))),
        (EDGES, THIRD, Fraction(1), tuple(Fraction(i, 3) for i in range(-1, 9))),
        (Clip(-2, 1), Fraction(1), Fraction(-1), (-2, -1, 0, 1)),
        (Clip(0, 6), Fraction(1), Fraction(3), tuple(range(7))),
        (Clip(1, 1), Fraction(1), Fraction(1), (1,)),
    ]
]


def total(contribution: Callable[[Any], Vector], records: Sequence[Any], like: Any) -> Vector:
    columns = zip(*(contribution(record) for record in records), strict=True)
    return [sum(column) for column in columns] if records else [Fraction(0)] * len(contribution(like))


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_one_record_each_is_the_enumerated_maximum(case: int, unit: Unit) -> None:
    build, contribution, records = CASES[case]
    world = Finite.multisets(records, range(4 if len(records) < 6 else 3))
    assert attained(build(), unit, world, lambda x: total(contribution, x, records[0]))


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_up_to_rows_records_each_is_the_enumerated_maximum(case: int, unit: Unit, rows: int) -> None:
    """A person is a tuple of 0 to `rows` records, of the kinds that are longest or farthest apart."""
    build, contribution, records = CASES[case]
    people = [
        person
        for size in range(rows + 1)
        for person in combinations_with_replacement(extremes(contribution, records), size)
    ]
    world = Finite.multisets(people, range(3))

    def f(x: Any) -> Vector:
        return total(contribution, [record for person in x for record in person], records[0])

    assert attained(build(rows=rows), unit, world, f)


def extremes(contribution: Callable[[Any], Vector], records: Sequence[Any]) -> list[Any]:
    """The longest and the two farthest records in each norm, found among all pairs."""

    def moved(pair: tuple[Any, Any], power: int) -> Fraction:
        both = zip(contribution(pair[0]), contribution(pair[1]), strict=True)
        return Fraction(sum(abs(Fraction(a) - b) ** power for a, b in both))

    kept: list[Any] = []
    for power in (1, 2):
        kept += max(product(records, repeat=2), key=lambda pair, p=power: moved(pair, p))  # type: ignore[misc]
        kept.append(max(records, key=lambda record, p=power: sum(abs(a) ** p for a in contribution(record))))
    return list(dict.fromkeys(kept))


@pytest.mark.parametrize("unit", KEYED, ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_rows_of_people_with_a_key(rows: int, unit: Unit) -> None:
    """Ann and Bob with up to `rows` rows each; None stands for a row that the condition leaves out."""
    values = (-1, 3, None)
    owned = [
        [[(name, value) for value in chosen] for size in range(rows + 1) for chosen in _multisets(values, size)]
        for name in ("ann", "bob")
    ]
    world = Finite(datasets=[(*a, *b) for a, b in product(*owned)], columns=("person", "value"))

    def kept(x: Any) -> list[int]:
        return [value for _, value in x if value is not None]

    clip = Clip(-1, 3)
    assert attained(Count(rows=rows), unit, world, lambda x: [len(kept(x))])
    assert attained(Sum(clip, rows=rows), unit, world, lambda x: [sum(kept(x))])
    assert attained(Histogram(2, rows=rows), unit, world, lambda x: [kept(x).count(v) for v in (-1, 3)])
    assert attained(Mean(clip, rows=rows), unit, world, lambda x: [sum(v - 1 for v in kept(x)), len(kept(x))])
    assert attained(
        Linear([[1, -2], [0, 3]], rows=rows),
        unit,
        world,
        lambda x: [kept(x).count(-1) - 2 * kept(x).count(3), 3 * kept(x).count(3)],
    )


def _multisets(values: Sequence[Any], size: int) -> list[tuple[Any, ...]]:
    return list(combinations_with_replacement(values, size))


@pytest.mark.parametrize("group", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("step", [None, 1, "2/3"])
def test_mean_and_variance_with_a_public_n(n: int, group: int, step: Any) -> None:
    clip, unit = Clip("0.4", "3.2"), Replace(group=group)
    exact = None if step is None else Fraction(step)
    records = sorted({clipped(x, clip, exact) for x in (0, 1, "1.7", 2, 4)})
    world = Finite.multisets(records, n)

    def mean(x: Any) -> list[Fraction]:
        return [sum(x) / Fraction(n)]

    def variance(x: Any) -> list[Fraction]:
        return [sum((value - mean(x)[0]) ** 2 for value in x) / Fraction(n)]

    assert attained(Mean(clip, n=n, step=step), unit, world, mean)
    assert attained(Variance(clip, n=n, step=step), unit, world, variance)


def test_positions_make_no_difference_with_a_public_n() -> None:
    world = Finite.vectors((0, 1, 3), 3)
    mean = Mean(Clip(0, 3), n=3)
    for unit in (Replace(), Replace(group=2)):
        assert attained(mean, unit, world, lambda x: [Fraction(sum(x), 3)])


def test_a_group_moves_a_variance_less_than_group_times_one_change() -> None:
    """k people: k(n − k)/n²·w² until half of them are moved, then no more."""
    variance = Variance(Clip(0, 1), n=10)
    moved = [variance.l1(Replace(group=k)) for k in (1, 2, 5, 6, 20)]
    assert moved == [Fraction(m, 100) for m in (9, 16, 25, 25, 25)]


class TestTheCourse:
    """Counts by hair colour, salaries from 20K to 200K, the average age."""

    def test_counts_by_hair_colour(self) -> None:
        colours = Histogram(["blond", "dark", "brown", "red"])
        assert (colours.l1(AddRemove()), colours.l1(Replace())) == (1, 2)
        assert (colours.l2_squared(AddRemove()), colours.l2_squared(Replace())) == (1, 2)

    def test_one_count_and_two_counts_that_overlap(self) -> None:
        """How many people have blond hair? How many males, and how many blond?"""
        assert [Count().l1(unit) for unit in (AddRemove(), Replace())] == [1, 1]
        # cells: neither, male, blond, both
        both = Linear([[0, 1, 0, 1], [0, 0, 1, 1]])
        assert [both.l1(unit) for unit in (AddRemove(), Replace())] == [2, 2]
        assert [both.l2_squared(unit) for unit in (AddRemove(), Replace())] == [2, 2]

    def test_salaries(self) -> None:
        salaries = Sum(Clip(20_000, 200_000))
        assert (salaries.l1(AddRemove()), salaries.l1(Replace())) == (200_000, 180_000)
        assert salaries.l2_squared(Replace()) == 180_000**2
        assert Sum(Clip(20_000, 200_000), rows=1).l1(Replace()) == 200_000

    def test_average_age(self) -> None:
        age = Mean(Clip(0, 100), n=50)
        assert age.l1(Replace()) == 2
        with pytest.raises(PrivacyError, match=r"adding or removing a person changes n.*leave n out"):
            age.l1(AddRemove())
        with pytest.raises(PrivacyError, match="changes n"):
            Variance(Clip(0, 100), n=50).l2_squared(AddRemove(group=2))

    def test_multiples_of_a_value(self) -> None:
        """f(x) = x + x and f(x) = 5x for x clipped to [0, 1]: a factor of the value is a factor of the sensitivity."""
        assert [Sum(Clip(0, m)).l1(AddRemove()) for m in (1, 2, 5)] == [1, 2, 5]


class TestGroups:
    """k people: k times in ℓ1, and k² times (not k) in squared ℓ2, because all k can move the same way."""

    @pytest.mark.parametrize("k", [1, 2, 3, 7])
    @pytest.mark.parametrize("kind", [AddRemove, Replace])
    def test_norms_grow_with_the_group(self, kind: Any, k: int) -> None:
        for case in range(len(CASES)):
            statistic = CASES[case][0]()
            assert statistic.l1(kind(group=k)) == k * statistic.l1(kind())
            assert statistic.l2_squared(kind(group=k)) == k**2 * statistic.l2_squared(kind())

    def test_k_times_would_be_too_little(self) -> None:
        world = Finite.multisets("ab", range(3))
        seen = worst(AddRemove(group=2), world, lambda x: [x.count("a"), x.count("b")], 2)
        assert seen == 4 == Histogram(2).l2_squared(AddRemove(group=2))
        assert seen > 2 * Histogram(2).l2_squared(AddRemove())

    def test_two_changes_are_at_least_one_replacement(self) -> None:
        for build, _, _ in CASES:
            for rows in ({}, {"rows": 3}):
                statistic = build(**rows)
                assert statistic.l1(AddRemove(group=2)) >= statistic.l1(Replace())
                assert statistic.l2_squared(AddRemove(group=2)) >= statistic.l2_squared(Replace())


numbers = st.fractions(min_value=-5, max_value=5, max_denominator=6)


class TestLinear:
    @given(st.integers(1, 4).flatmap(lambda w: st.lists(st.lists(numbers, min_size=w, max_size=w), min_size=1)))
    def test_replace_is_at_most_root_2_for_non_negative_and_twice_for_signed(self, matrix: Any) -> None:
        signed = Linear(matrix)
        positive = Linear([[abs(value) for value in row] for row in matrix])
        for one in (signed, positive):
            assert one.l1(Replace()) <= 2 * one.l1(AddRemove())
            assert one.l2_squared(Replace()) <= 4 * one.l2_squared(AddRemove())
        assert positive.l2_squared(Replace()) <= 2 * positive.l2_squared(AddRemove())

    def test_both_limits_are_attained(self) -> None:
        assert Linear([[1, 0], [0, 1]]).l2_squared(Replace()) == 2
        assert Linear([[1, -1]]).l2_squared(Replace()) == 4

    @given(st.integers(1, 4).flatmap(lambda w: st.lists(st.lists(numbers, min_size=w, max_size=w), min_size=1)))
    def test_columns_and_pairs_of_columns(self, matrix: Any) -> None:
        columns = list(zip(*matrix, strict=True))
        for power, ask in ((1, Linear.l1), (2, Linear.l2_squared)):
            lengths = [sum(abs(v) ** power for v in c) for c in columns]
            pairs = [sum(abs(v - w) ** power for v, w in zip(c, d, strict=True)) for c in columns for d in columns]
            assert ask(Linear(matrix), AddRemove()) == max(lengths)
            assert ask(Linear(matrix), Replace()) == max(pairs)
            assert ask(Linear(matrix, rows=3), AddRemove()) == 3**power * max(lengths)
            assert ask(Linear(matrix, rows=3), Replace()) == 3**power * max(pairs + lengths)

    def test_histograms_counts_and_sums_are_linear(self) -> None:
        identity = [[int(i == j) for j in range(5)] for i in range(5)]
        same = [
            (Histogram(5), Linear(identity)),
            (Count(), Linear([[0, 1]])),
            (Sum(Clip(-1, 2)), Linear([[-1, 0, 1, 2]])),
        ]
        for (one, other), unit in product(same, UNITS):
            assert one.l1(unit) == other.l1(unit)
            assert one.l2_squared(unit) == other.l2_squared(unit)

    def test_beyond_64_bits(self) -> None:
        """On both sides of what int64 holds."""
        for size in (2**31 - 1, 2**31, 2**62, 10**40):
            assert Linear([[size, -size]]).l2_squared(Replace()) == 4 * size**2
            assert Linear([[size], [size]]).l1(AddRemove()) == 2 * size

    def test_a_wide_matrix_is_quick_enough(self) -> None:
        prefix = Linear([[int(j <= i) for j in range(200)] for i in range(200)])
        assert prefix.l1(AddRemove()) == 200
        assert prefix.l2_squared(Replace()) == 199

    @pytest.mark.parametrize(
        "matrix", [[], [[]], [[1], [1, 2]], 5, [5], ["12"], "12", None, [["x"]], [[None]], [[math.nan]], [[True]]]
    )
    def test_bad_matrices(self, matrix: Any) -> None:
        with pytest.raises(ParameterError, match="matrix"):
            Linear(matrix)


class TestVarianceWithPrivateN:
    @given(
        st.integers(-30, 30),
        st.integers(0, 40),
        st.fractions(min_value=Fraction(1, 20), max_value=7, max_denominator=20),
    )
    def test_the_farthest_records_on_any_lattice(self, low: int, width: int, step: Fraction) -> None:
        """Brute force over all pairs of lattice points."""
        statistic = Variance(Clip(low * step, (low + width) * step), step=step)
        centre = low + width // 2
        assert statistic.centre == centre * step
        values = [(low + i - centre) * step for i in range(width + 1)]
        ends = [(values[0], t) for t in values] + [(values[-1], t) for t in values]
        for power, ask in ((1, Variance.l1), (2, Variance.l2_squared)):
            pairs = max(abs(t - u) ** power + abs(t * t - u * u) ** power for t, u in ends)
            single = max(abs(t) ** power + abs(t * t) ** power + 1 for t in values)
            assert ask(statistic, Replace()) == pairs
            assert ask(statistic, AddRemove()) == single

    def test_one_of_the_farthest_two_is_an_end(self) -> None:
        """What the brute force above takes from the proof note, over all pairs."""
        for low, high, step in product((-6, -5, -2, -1, 0), (0, 1, 5, 6), (1, HALF, THIRD, Fraction(1, 10))):
            values = [t * step for t in range(low, high + 1)]
            for power in (1, 2):
                moved = {
                    (t, u): abs(t - u) ** power + abs(t * t - u * u) ** power for t, u in product(values, repeat=2)
                }
                ends = max(d for (t, _), d in moved.items() if t in (values[0], values[-1]))
                assert ends == max(moved.values())

    def test_both_ends_would_be_too_little(self) -> None:
        """t = 3 and t = 0 move the two sums farther, 3 + 9, than the ends ±3, 6 + 0."""
        assert Variance(Clip(0, 6), step=1).l1(Replace()) == 12
        assert Variance(Clip(0, 6), step=1).l2_squared(Replace()) == 90

    def test_off_the_lattice_it_is_refused(self) -> None:
        with pytest.raises(ParameterError, match=r"needs a lattice.*step.*public n"):
            Variance(Clip(0, 1))


class TestParts:
    def test_a_mean_is_a_centred_sum_and_a_number(self) -> None:
        mean = Mean(Clip(20, 200), rows=3, step="0.5")
        assert mean.centre == 110
        assert mean.parts == (Sum(Clip(-90, 90), rows=3, step="0.5"), Histogram(1, rows=3))
        assert Mean(Clip(0, 1), n=4).parts == (Mean(Clip(0, 1), n=4),)
        assert Count().parts == (Count(),)

    def test_a_variance_has_the_squares_too(self) -> None:
        variance = Variance(Clip(0, "0.7"), step="0.1")
        assert variance.centre == Fraction(3, 10)
        squares = Sum(Clip(0, "0.16"), step="0.01")
        assert variance.parts == (Sum(Clip("-0.3", "0.4"), step="0.1"), squares, Histogram(1))
        assert Variance(Clip(0, 1), n=4).parts == (Variance(Clip(0, 1), n=4),)

    @pytest.mark.parametrize("unit", UNITS, ids=str)
    @pytest.mark.parametrize("rows", [None, 1, 3])
    def test_together_they_cover_the_whole(self, unit: Unit, rows: int | None) -> None:
        """Each coordinate's own maximum; under add/remove all are reached by one record, so they add up."""
        for clip, step in ((Clip(0, 7), 1), (Clip(-3, "0.4"), "0.1")):
            for whole in (Mean(clip, rows=rows, step=step), Variance(clip, rows=rows, step=step)):
                together = sum(part.l1(unit) for part in whole.parts)
                squares = sum(part.l2_squared(unit) for part in whole.parts)
                assert whole.l1(unit) <= together
                assert whole.l2_squared(unit) <= squares
                if isinstance(unit, AddRemove):
                    assert (whole.l1(unit), whole.l2_squared(unit)) == (together, squares)

    def test_replacing_people_of_one_record_keeps_their_number(self) -> None:
        assert Mean(Clip(0, 1)).parts[-1].l1(Replace()) == 0
        assert Mean(Clip(0, 1), rows=1).parts[-1].l1(Replace()) == 1


class TestWithAMechanism:
    @pytest.mark.parametrize("unit", UNITS, ids=str)
    def test_noise_for_the_stated_sensitivity_gives_exactly_epsilon(self, unit: Unit) -> None:
        """Raw values → clip and lattice → sum → discrete Laplace, enumerated: ε is reached and not exceeded."""
        step, clip, raw = Fraction(1, 2), Clip(-1, "1.3"), (-9, 0, Fraction(3, 4), 50)
        moved = Sum(clip, step=step).l1(unit)
        mechanism = DiscreteLaplace(scale=2 * moved, sensitivity=moved, step=step)
        world = Finite.multisets(raw, range(3))
        sums = {x: int(clip.apply(list(x), step).sum()) for x in world.datasets}
        laws = mechanism.finite(sorted(set(sums.values())), reach=4)
        with precision(512):
            pairs = {(sums[x], sums[y]) for x, y, _ in unit.protected_pairs(world.datasets, world)}
            found = [Pure().least(laws.law(a), laws.law(b)) for a, b in pairs if a != b]
            assert max(float_above(ball(each.upper)) for each in found) == pytest.approx(0.5, rel=1e-12)
            assert all(float_below(ball(each.lower)) <= 0.5 * (1 + 1e-12) for each in found)
        assert mechanism.loss.pure() == 0.5

    def test_a_lattice_can_raise_the_sensitivity(self) -> None:
        """0.6 is rounded up to 1: bounds before the map would be too small."""
        clip = Clip(0, "0.6")
        assert Sum(clip).l1(AddRemove()) == Fraction(3, 5)
        assert Sum(clip, step=1).l1(AddRemove()) == 1 == clip.apply(9, 1)

    def test_squares_stay_rational(self) -> None:
        moved = Histogram(4).l2_squared(Replace())
        assert qx.mechanisms.Gaussian(sigma=2, sensitivity2=moved).loss.zcdp() == 0.25
        assert Laplace(scale=4, sensitivity=Histogram(4).l1(Replace())).loss.pure() == 0.5


class TestUnits:
    @pytest.mark.parametrize("unit", [Neighbours([(0, 1)]), Metric({(0, 1): 2}), "replace", None, Replace])
    def test_other_units_are_refused(self, unit: Any) -> None:
        for build, _, _ in (CASES[0], CASES[-1]):
            with pytest.raises(PrivacyError, match="no sensitivity is known"):
                build().l1(unit)
            with pytest.raises(PrivacyError, match="AddRemove and Replace"):
                build().l2_squared(unit)

    def test_a_key_needs_a_bound_on_rows(self) -> None:
        """A person with a key has all rows of that value, and nothing bounds their number."""
        for statistic in (Count(), Histogram(2), Sum(Clip(0, 1)), Mean(Clip(0, 1)), Mean(Clip(0, 1), n=3)):
            with pytest.raises(PrivacyError, match=r"any number of rows.*key='person'.*rows="):
                statistic.l1(Replace(key="person"))
        assert Count(rows=4).l1(AddRemove(key="person")) == 4

    def test_a_period_bounds_the_rows_of_one_period(self) -> None:
        unit = AddRemove(key="person", per={"column": "day", "period": "day"}, group=2)
        assert Count(rows=3).l1(unit) == 6


VALUES: list[Statistic] = [build(**rows) for build, _, _ in CASES for rows in ({}, {"rows": 2})]
VALUES += [Mean(Clip(0, 1), n=3), Variance(Clip(0, 1), n=3, step="0.1")]


@pytest.mark.parametrize("value", [*VALUES, Clip("-1/3", 2)], ids=repr)
def test_frozen_equal_and_rebuilt_by_repr(value: Any) -> None:
    names = {name: getattr(sensitivity, name) for name in sensitivity.__all__} | {"Fraction": Fraction}
    assert eval(repr(value), names) == value
    assert hash(copy.deepcopy(value)) == hash(value)
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(FrozenInstanceError):
        setattr(value, fields(value)[0].name, 1)
    assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_norms_agree_and_are_exact(value: Statistic) -> None:
    for unit in (Replace(), AddRemove(), Replace(group=3)):
        if isinstance(unit, AddRemove) and getattr(value, "n", None):
            continue
        one, two = value.l1(unit), value.l2_squared(unit)
        assert (type(one), type(two)) == (Fraction, Fraction)
        # ‖v‖₂ ≤ ‖v‖₁ for every vector, so also for the maxima.
        assert 0 <= two <= one**2


@pytest.mark.parametrize(
    "build",
    [
        lambda: Clip(1, 0),
        lambda: Clip(math.nan, 1),
        lambda: Clip(0, math.inf),
        lambda: Clip(None, 1),
        lambda: Clip(0, "one"),
        lambda: Clip(0, True),
        lambda: Count(rows=0),
        lambda: Count(rows=1.5),
        lambda: Histogram(0),
        lambda: Histogram([]),
        lambda: Histogram(["a", "a"]),
        lambda: Histogram(2.5),
        lambda: Histogram(2, rows=-1),
        lambda: Sum((0, 1)),
        lambda: Sum(None),
        lambda: Sum(Clip(0, 1), step=0),
        lambda: Sum(Clip(0, 1), step=-1),
        lambda: Sum(Clip(0, 1), rows="many"),
        lambda: Mean(5),
        lambda: Mean(Clip(0, 1), n=0),
        lambda: Mean(Clip(0, 1), n="3/2"),
        lambda: Mean(Clip(0, 1), n=3, rows=1),
        lambda: Variance(Clip(0, 1), n=3, rows=1),
        lambda: Variance(Clip(0, 1), n=None),
        lambda: Variance(Clip(0, 1), n=2, step=math.nan),
        lambda: Clip(0, 1).bounds_on_lattice(0),
        lambda: Clip(0, 1).apply([1], 0),
        lambda: Clip(0, 1).apply([1], "x"),
        lambda: Clip(0, 2**62).apply([1], 1),
        lambda: Clip(-(2**70), 0).apply(np.array([1.0]), 1),
    ],
)
def test_bad_parameters(build: Callable[[], object]) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert len(str(caught.value)) > 20


# Clipping.

STEPS = st.sampled_from(["1", "0.1", "0.01", "1/3", "7", "1/1024", "3e-8", "1e12", "1e-400", "1e400", "2/7"])
BOUNDS = st.sampled_from([(0, 1), (-1, 1), ("-0.35", "2.25"), (-1000, 1000), (-7, -2), (3, 3), ("-1e9", "1e11")])


def nearest(x: Fraction, clip: Clip, step: Fraction) -> int:
    return math.floor(min(max(x, clip.low), clip.high) / step + HALF)


def fits(clip: Clip, step: str) -> bool:
    return max(abs(end) for end in clip.bounds_on_lattice(step)) < 2**62


class TestClip:
    def test_bounds_are_those_after_the_map(self) -> None:
        assert Clip("-0.4", "2.6").bounds_on_lattice(1) == (0, 3)
        assert Clip("-0.5", "2.5").bounds_on_lattice(1) == (0, 3)
        assert Clip("-0.51", "2.49").bounds_on_lattice(1) == (-1, 2)
        assert Clip(0, 10).bounds_on_lattice("0.3") == (0, 33)

    @given(
        st.lists(st.floats() | st.floats(-3, 3) | st.floats(-(2.0**51), 2.0**51)),
        BOUNDS | st.sampled_from([(-(2**50), 2**50), (-(2**50), 5), (2**50 - 3, 2**50 + 1)]),
        STEPS,
    )
    def test_float_arrays_by_their_binary_value(self, values: list[float], bounds: Any, step: str) -> None:
        clip = Clip(*bounds)
        if not fits(clip, step):
            return
        found = clip.apply(np.array(values, dtype=np.float64), step)
        low, high = clip.bounds_on_lattice(step)
        assert found.dtype == np.int64
        for x, answer in zip(values, found.tolist(), strict=True):
            if math.isfinite(x):
                assert answer == nearest(Fraction(x), clip, Fraction(step))
            else:
                assert answer == (high if x > 0 else low)

    @given(st.integers(-3000, 3000), st.integers(-3, 3), st.sampled_from(["1", "0.1", "0.01", "1/3", "2/7", "3e-8"]))
    def test_floats_next_to_a_tie(self, k: int, ulps: int, step: str) -> None:
        """The boundaries (k + 1/2)·step are where a float quotient errs."""
        x = float(k + HALF) * float(Fraction(step))
        for _ in range(abs(ulps)):
            x = math.nextafter(x, math.copysign(math.inf, ulps))
        clip = Clip(-(10**4), 10**4)
        assert clip.apply(np.array([x]), step)[0] == nearest(Fraction(x), clip, Fraction(step))

    @given(
        st.lists(st.integers(-(2**63), 2**64 - 1) | st.integers(-130, 300)),
        st.sampled_from([np.int8, np.int64, np.uint64, np.uint8, np.int32]),
        BOUNDS | st.sampled_from([("-1e30", "1e30"), (10**20, 10**21), (-(10**21), -(10**20))]),
        STEPS | st.sampled_from(["1e15", "7e19"]),
    )
    def test_integer_arrays(self, values: list[int], dtype: Any, bounds: Any, step: str) -> None:
        clip, limits = Clip(*bounds), np.iinfo(dtype)
        inside = [x for x in values if limits.min <= x <= limits.max]
        if fits(clip, step):
            found = clip.apply(np.array(inside, dtype=dtype), step)
            assert found.dtype == np.int64
            assert found.tolist() == [nearest(Fraction(x), clip, Fraction(step)) for x in inside]

    @given(
        st.lists(
            st.integers()
            | st.fractions()
            | st.decimals(allow_nan=False, allow_infinity=False)
            | st.floats(allow_nan=False, allow_infinity=False)
        ),
        BOUNDS,
        STEPS,
    )
    def test_python_numbers_as_typed(self, values: list[Any], bounds: Any, step: str) -> None:
        clip = Clip(*bounds)
        if fits(clip, step):
            typed = [Fraction(repr(x)) if isinstance(x, float) else Fraction(x) for x in values]
            expected = [nearest(x, clip, Fraction(step)) for x in typed]
            assert clip.apply(values, step).tolist() == expected
            assert clip.apply(tuple(values), step).tolist() == expected
            assert [clip.apply(x, step) for x in values] == expected

    def test_a_python_float_is_its_decimal_and_a_numpy_float_its_bits(self) -> None:
        """0.15 typed is a tie on the lattice of 0.1; as a float64 it lies below."""
        clip = Clip(0, 1)
        assert clip.apply([0.15], "0.1").tolist() == [2]
        data = np.array([0.15])
        assert clip.apply(data, "0.1").tolist() == [1] == clip.apply(list(data), "0.1").tolist()

    def test_what_is_missing_becomes_low_and_infinities_the_ends(self) -> None:
        clip = Clip(2, 9)
        odd = [None, math.nan, "7", b"7", 7j, object(), [7], Decimal("nan"), Decimal("sNaN"), np.float32("nan"), np.nan]
        odd += [
            np.timedelta64("NaT"),
            np.timedelta64(7, "D"),
            np.datetime64("2024-01-01"),
            np.complex64(7),
            np.str_("7"),
        ]
        assert set(clip.apply(odd, 1).tolist()) == {2}
        assert clip.apply([math.inf, Decimal("Infinity"), np.float64(np.inf)], 1).tolist() == [9, 9, 9]
        assert clip.apply([-math.inf, Decimal("-Infinity"), np.float32(-np.inf)], 1).tolist() == [2, 2, 2]
        assert clip.apply(np.array(odd, dtype=object), 1).tolist() == [2] * len(odd)
        assert clip.apply(np.array([np.nan, np.inf, -np.inf, 5.5]), 1).tolist() == [2, 9, 2, 6]
        assert clip.apply(None, 1) == 2
        assert clip.apply([True, False], 1).tolist() == [2, 2]

    def test_masked_entries_are_missing(self) -> None:
        clip = Clip(1, 9)
        for dtype in (float, int, object):
            hidden = np.ma.masked_array(np.array([5, 6, 7], dtype=dtype), mask=[False, True, False])
            assert clip.apply(hidden, 1).tolist() == [5, 1, 7]
            assert type(clip.apply(hidden, 1)) is np.ndarray

    def test_every_record_keeps_its_place(self) -> None:
        """Dropping the missing would let a value decide how many records there are: a replaced person would count."""
        clip, values = Clip(20, 200), [None, 50, math.nan, 500]
        assert clip.apply(values, 1).tolist() == [20, 50, 20, 200]
        table = np.array([[1.5, np.nan], [3.0, 1e300]])
        assert clip.apply(table, 1).shape == (2, 2)
        world = Finite.multisets((None, 20, 200), 2)
        assert attained(Sum(clip), Replace(), world, lambda x: [int(clip.apply(list(x), 1).sum())])

    def test_enormous_exponents_cost_nothing(self) -> None:
        clip = Clip(-5, 5)
        huge = [Decimal("1e999999"), Decimal("-1e999999"), Decimal("1e-999999"), Decimal("0e999999"), 10**5000]
        assert clip.apply(huge, "0.5").tolist() == [10, -10, 0, 0, 10]
        tiny = Clip("1e-30", "1e-20")
        assert tiny.apply([Decimal("-1e-999999"), Decimal("1e999")], "1e-30").tolist() == [1, 10**10]
        assert Clip(0, "1e-20").apply([Decimal("4.9e-31"), Decimal("5e-31")], "1e-30").tolist() == [0, 1]

    def test_shapes_and_types(self) -> None:
        clip = Clip(0, 10)
        assert clip.apply([], 1).shape == (0,)
        assert clip.apply(np.zeros((0, 3)), 1).shape == (0, 3)
        assert clip.apply(np.array(3.4), 1) == 3
        assert isinstance(clip.apply(np.array(3.4), 1), int)
        assert isinstance(clip.apply(np.float32(3.4), 1), int)
        assert clip.apply(np.array([[True], [False]]), 1).tolist() == [[1], [0]]
        assert clip.apply(np.array([0.1, 99], dtype=np.float16), "1e-5").tolist() == [9998, 10**6]
        assert clip.apply(np.array([3.5, np.nan], dtype=np.longdouble), 1).tolist() == [4, 0]
        data = np.array([1.0, np.nan])
        clip.apply(data, 1)
        assert np.isnan(data[1])

    def test_the_widest_lattice(self) -> None:
        clip = Clip(-(2**62) + 1, 2**62 - 1)
        values = [2.0**61 + 2**10, -(2.0**70), 0.5, math.inf, math.nan]
        expected = [2**61 + 2**10, -(2**62) + 1, 1, 2**62 - 1, -(2**62) + 1]
        assert clip.apply(np.array(values), 1).tolist() == expected

    @pytest.mark.parametrize(
        "values",
        ["12", b"1", {1: 2}, {1}, 3j, object(), np.array(["1"]), np.array([1j]), np.array(["2024-01-01"], "M8[D]")],
    )
    def test_types_of_the_whole_are_refused(self, values: Any) -> None:
        with pytest.raises(DataError, match="values must be numbers"):
            Clip(0, 1).apply(values, 1)

    def test_doubtful_floats_are_decided_exactly_and_only_those(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[float] = []
        one = Clip._one
        monkeypatch.setattr(Clip, "_one", lambda self, value, step: asked.append(value) or one(self, value, step))
        clip = Clip(0, 100)
        ties = np.tile(np.arange(0, 100, dtype=float) + 0.5, 50)
        assert clip.apply(ties, 1).tolist() == (ties + 0.5).tolist()
        assert len(asked) == 100
        asked.clear()
        clip.apply(np.linspace(0.01, 99.01, 100_000), "0.37")
        assert len(asked) < 5
