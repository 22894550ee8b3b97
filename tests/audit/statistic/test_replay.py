"""Replay of a statistic: right ones hold, wrong ones are shown small, and nothing passes that was not compared."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from quincunx.audit import Counterexample, Gap, Kind, StatisticReplay, replay_statistic
from quincunx.audit.spaces import Finite, Histograms, Real, Records, Row, Space, Whole
from quincunx.audit.spaces.literal import literal
from quincunx.errors import DataError, ParameterError, VerificationError
from quincunx.spec import Specification, domain, scope, standard
from quincunx.spec.unit import AddRemove, Metric, Replace

TEN = Records(Whole(0, 10), unit=AddRemove(), giant=100)


def total(ages: Any) -> int:
    return sum(ages)


def replayed(statistic: Any, sensitivity: object = 10, space: Space[Any] = TEN, **options: Any) -> StatisticReplay:
    return replay_statistic(
        statistic, **{"space": space, "norm": "l1", "sensitivity": sensitivity, "cases": 100, **options}
    )


def test_a_right_statistic_holds_and_is_tight() -> None:
    report = replayed(total)
    assert (report.holds, report.cases, report.violations, report.largest, report.raised) == (True, 100, 0, 1.0, 0)
    assert report.check(reach=1) is report
    assert sum(kind.cases for kind in report.kinds) == 100
    assert {"empty", "giant", "ordinary", "equal records"} == {kind.name for kind in report.kinds}


def test_a_wrong_sensitivity_is_shown_by_the_smallest_pair() -> None:
    report = replayed(total, 9, cases=300)
    assert not report.holds
    assert report.largest == pytest.approx(10 / 9)
    (shown,) = report.counterexamples
    assert sorted([literal(shown.before), literal(shown.after)]) == ["[10]", "[]"]
    assert shown.gap == Gap(part="distance", distance2=Fraction(100), allowed2=Fraction(81))
    with pytest.raises(VerificationError, match="of 300 neighbouring pairs broke the declared sensitivity") as caught:
        report.check()
    assert caught.value.exit_code == 6
    assert str(shown) in str(caught.value)


def test_what_is_shown_can_be_pasted() -> None:
    space = Records(Real(), unit=AddRemove())
    (shown,) = replayed(lambda x: float(max((0.0, *x))) * 0, 0, space, name="highest", cases=300).counterexamples
    lines = str(shown).splitlines()
    assert lines[0].startswith("highest: undefined: no noise hides a number")
    names: dict[str, Any] = {"np": np}
    for line in lines[1:3]:
        exec(line.strip(), names)
    assert literal(names["before"]) == literal(shown.before)
    assert literal(names["after"]) == literal(shown.after)
    assert [line.strip().split("  # ")[0] for line in lines[3:]] == ["highest(before)", "highest(after)"]


def test_sensitivities_may_be_squares() -> None:
    counts = Histograms(3, unit=Replace())
    assert replay_statistic(dict, space=counts, norm="l2", sensitivity2=2, cases=100).check(reach=1).holds
    below = replay_statistic(dict, space=counts, norm="l2", sensitivity="1.414", cases=100)
    assert below.violations == 100
    assert "√2 apart in ℓ2, declared 707/500" in str(below)


@pytest.mark.parametrize(("norm", "sensitivity"), [("l1", 2), ("l2", 2), ("linf", 1)])
def test_norms(norm: Any, sensitivity: int) -> None:
    report = replay_statistic(
        lambda counts: list(counts.values()),
        space=Histograms(2, unit=Replace()),
        norm=norm,
        sensitivity=sensitivity,
        cases=50,
    )
    assert report.holds
    assert report.largest == pytest.approx(1 if norm != "l2" else 2**0.5 / 2)


def test_equal_series_give_equal_reports_and_others_do_not() -> None:
    seen: list[Any] = []

    def statistic(ages: Any) -> int:
        seen.append(tuple(ages))
        return len(ages)

    runs = []
    for series in (1, 1, 2):
        seen.clear()
        runs.append((replayed(statistic, 1, series=series), tuple(seen)))
    assert runs[0] == runs[1]
    assert runs[0][1] != runs[2][1]
    # More cases begin with the same ones.
    seen.clear()
    replayed(statistic, 1, series=1, cases=30)
    assert runs[0][1][: len(seen)] == tuple(seen)


def test_no_world_is_compared_with_itself() -> None:
    pairs: list[Any] = []
    space = Records(Whole(0, 1), unit=Replace(), size=3)
    replayed(lambda ages: pairs.append(sorted(ages)) or 0, 0, space, cases=200)
    # The first five worlds are asked a second time, after their pair.
    repeated = pairs[:15]
    rest = [tuple(pairs[i : i + 2]) for i in range(15, len(pairs), 2)]
    assert all(repeated[i] == repeated[i + 2] != repeated[i + 1] for i in range(0, 15, 3))
    assert len(rest) == 195
    assert all(first != second for first, second in rest)


def test_a_space_without_neighbours_is_refused() -> None:
    with pytest.raises(ParameterError, match="40 worlds in a row were their own neighbours"):
        replayed(total, 1, Records(Whole(3, 3), unit=Replace()))


def test_a_statistic_that_changes_what_it_is_given_changes_nothing() -> None:
    def popped(ages: list[int]) -> int:
        found = 0
        while ages:
            found += ages.pop()
        return found

    assert replayed(popped).check(reach=1).holds


def test_exceptions_on_both_worlds_are_counted_and_not_compared() -> None:
    def crowded(ages: Any) -> int:
        if len(ages) > 90:
            raise ValueError("too many")
        return 0

    report = replayed(crowded, 0, cases=300)
    assert report.raised > 0
    assert report.cases + report.raised == 300
    assert f"{report.raised} raised on both worlds" in str(report)
    # Nobody is near the limit: the giants have 100.
    assert report.holds


def test_nothing_compared_is_not_a_check_that_passed() -> None:
    report = replayed(lambda ages: ages.nowhere)
    assert (report.cases, report.raised, report.holds) == (0, 100, False)
    with pytest.raises(VerificationError, match="nothing was compared: the statistic raised on all 100 pairs"):
        report.check()


def test_worlds_that_are_too_easy_are_no_check() -> None:
    with pytest.raises(VerificationError, match=r"no pair came farther than 0\.010000"):
        replayed(total, 1_000).check(reach=0.5)


def test_noise_and_state_are_found() -> None:
    source = random.Random(5)
    noisy = replayed(lambda ages: sum(ages) + source.randint(0, 9), 19)
    assert {each.part for each in noisy.counterexamples} == {"unstable"}
    assert "draws noise or keeps a state" in str(noisy)


def test_data_dependent_keys_are_refused_or_allowed() -> None:
    counts = Histograms(["a", "b"], unit=AddRemove(), sparse=True)
    assert not replayed(dict, 1, counts).holds
    assert replayed(dict, 1, counts, keys="ordered").check(reach=1).holds
    backwards = replayed(
        lambda h: dict(sorted(h.items(), key=lambda item: item[1])), 1, counts, keys="ordered", cases=300
    )
    assert {each.part for each in backwards.counterexamples} == {"order"}
    assert replayed(lambda h: dict(sorted(h.items(), key=lambda item: item[1])), 1, counts, keys="free").holds


def specification(**blocks: Any) -> Specification:
    return Specification(scope=scope.Everything(), standard=standard.Pure(), intensity=1, **blocks)


def test_a_finite_world_is_tried_in_full() -> None:
    """Against the largest distance over all pairs, by brute force."""
    world = domain.Finite.multisets((0, 1, 5), range(4))
    space = Finite(specification(domain=world, unit=AddRemove()))

    def spread(records: Any) -> int:
        return max(records, default=0) - min(records, default=0)

    largest = max(abs(spread(a) - spread(b)) for a, b, _ in AddRemove().protected_pairs(world.datasets, world))
    report = replay_statistic(spread, space=space, norm="l1", sensitivity=largest)
    assert report.check(reach=1).cases == len(space.listed())
    below = replay_statistic(spread, space=space, norm="l1", sensitivity=largest - 1)
    assert [each.before for each in below.counterexamples] == [(0,)]
    with pytest.raises(ParameterError, match="the pairs are listed; got cases=5"):
        replay_statistic(spread, space=space, norm="l1", sensitivity=1, cases=5)


def test_a_metric_allows_the_sensitivity_for_each_unit_of_distance() -> None:
    metric = Metric({("a", "b"): 1, ("b", "c"): 1, ("a", "c"): 2})
    space = Finite(specification(domain=domain.Finite(datasets="abc"), unit=metric))
    assert replay_statistic("abc".index, space=space, norm="l1", sensitivity=1).check(reach=1).cases == 3
    far = replay_statistic(lambda x: {"a": 0, "b": 1, "c": 3}[x], space=space, norm="l1", sensitivity=1)
    assert far.violations == 2


class Graph(Space[frozenset[tuple[int, int]]]):
    """Graphs on eight nodes; neighbours differ in one edge."""

    EDGES = tuple((i, j) for i in range(8) for j in range(i))

    def draw(self, source: random.Random) -> frozenset[tuple[int, int]]:
        return frozenset(source.sample(self.EDGES, source.randint(0, len(self.EDGES))))

    def neighbour(self, world: frozenset[tuple[int, int]], source: random.Random) -> frozenset[tuple[int, int]]:
        return world ^ {source.choice(self.EDGES)}

    def smaller(self, before: frozenset[tuple[int, int]], after: frozenset[tuple[int, int]]) -> Any:
        for edge in sorted(before & after):
            yield before - {edge}, after - {edge}


def triangles(edges: Any) -> int:
    near = {frozenset(edge) for edge in edges}
    return sum(
        all(frozenset(side) in near for side in ((a, b), (b, c), (a, c)))
        for a in range(8)
        for b in range(a)
        for c in range(b)
    )


def test_graphs_may_join() -> None:
    assert replayed(len, 1, Graph()).check(reach=1).holds
    assert replayed(triangles, 6, Graph(), cases=200).holds
    (shown,) = replayed(triangles, 1, Graph(), cases=200).counterexamples
    # Two triangles that share the edge: five edges, and the same without it.
    assert sorted((len(shown.before), len(shown.after))) == [4, 5]


def test_shrinking_keeps_the_part_and_the_unit() -> None:
    rows = Row({"person": Whole(0, 99), "x": Whole(0, 9)})
    space = Records(rows, unit=Replace(key="person"), giant=50)

    def worst(found: Any) -> int:
        return max(
            (sum(row["x"] for row in found if row["person"] == p) for p in {r["person"] for r in found}), default=0
        )

    (shown,) = replayed(worst, 9, space, cases=200).counterexamples
    assert [len({row["person"] for row in world}) for world in (shown.before, shown.after)] == [1, 1]
    assert abs(worst(shown.before) - worst(shown.after)) > 9
    assert len(shown.before) + len(shown.after) <= 4


def test_reports_are_tables() -> None:
    report = replayed(total, 9, cases=60, series="page")
    lines = str(report).splitlines()
    assert lines[0] == "total, ℓ1 9, add-remove one record"
    assert lines[1].split() == ["pairs", "cases", "largest", "violations"]
    assert any(line.startswith("60 cases, ") and line.endswith(" violations") for line in lines)


def test_roots_and_rounding_in_words() -> None:
    def words(distance2: object, allowed2: object) -> str:
        gap = Gap(part="distance", distance2=Fraction(distance2), allowed2=Fraction(allowed2))  # type: ignore[arg-type]
        shown = Counterexample(
            statistic="f", part="distance", words="", norm="l2", gap=gap, before=[], after=[1], results=("0", "1")
        )
        return str(shown).splitlines()[0]

    assert words(2, 1) == "f: distance: √2 apart in ℓ2, declared 1"
    assert words("3/2", "1/4") == "f: distance: √(3/2) apart in ℓ2, declared 1/2"
    assert words(10**800 + 1, 1).endswith("declared 1")
    assert "about 10^400" in words(10**800 + 1, 1)
    assert "1 apart in ℓ2, as declared, and 5.0e-21 of it more" in words(1 + Fraction(1, 10**20), 1)
    assert "lattice" in words(1 + Fraction(1, 10**20), 1)
    assert words(1, 0) == "f: distance: 1 apart in ℓ2, declared 0"
    assert Kind(name="a", cases=1, largest=0.5, violations=0).largest == 0.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"norm": "l3"}, "unknown norm; got 'l3'. Choose among l1, l2, linf"),
        ({"keys": "any"}, "unknown keys; got 'any'"),
        ({"cases": 0}, "1 or greater"),
        ({"sensitivity": None}, "give sensitivity or sensitivity2, its square; got neither"),
        ({"sensitivity2": 4}, "its square; got both"),
        ({"sensitivity": -1}, "0 or greater"),
        ({"sensitivity": float("inf")}, "expected a finite number"),
        ({"space": 3}, "space: a parameter is of a wrong kind; got int"),
    ],
)
def test_bad_parameters_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        replay_statistic(total, **{"space": TEN, "norm": "l1", "sensitivity": 1, **options})


def test_what_is_no_statistic_is_refused() -> None:
    with pytest.raises(ParameterError, match="statistic: a parameter is of a wrong kind; got int"):
        replay_statistic(3, space=TEN, norm="l1", sensitivity=1)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="the result is no number as a whole; got str for"):
        replayed(str)


def test_pairs_come_in_both_directions() -> None:
    sizes: list[int] = []
    replayed(lambda ages: sizes.append(len(ages)) or 0, 0, cases=200)
    steps = [second - first for first, second in list(pairwise(sizes))[15::2]]
    assert min(steps.count(1), steps.count(-1)) > 40
