"""The library's own sensitivities, replayed: every statistic of mechanisms.sensitivity under every unit it knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from quincunx.audit import replay_statistic
from quincunx.audit.spaces import OneOf, Real, Records, Row, Values, Whole
from quincunx.mechanisms import sensitivity
from quincunx.mechanisms.sensitivity import Clip, Count, Histogram, Linear, Mean, Statistic, Sum, Variance
from quincunx.spec.unit import AddRemove, Replace

CLIP, STEP = Clip(-3, "8.2"), Fraction(1, 2)
MATRIX = ((0, 1, 0, 1), (0, 0, 1, 1), (2, -1, "1/2", 0))
ANYTHING = Real(missing=True)
# Where the sums of squares are farthest apart: an end, and just below the centre.
TELLING = OneOf((-3, 2, 2.5, 8.2, 100, None, float("nan")))


def lattice(values: Any) -> list[Fraction]:
    return [int(each) * STEP for each in CLIP.apply(list(values), STEP)]


def centred(statistic: Mean | Variance) -> Callable[[Any], list[Fraction]]:
    return lambda values: [each - statistic.centre for each in lattice(values)]


def moments(values: Any, power: int) -> list[Fraction]:
    return [sum((each**i for each in values), Fraction(0)) for i in range(power, -1, -1)]


def linear(values: Any) -> list[Fraction]:
    counts = [values.count(cell) for cell in range(4)]
    return [sum((Fraction(w) * n for w, n in zip(row, counts, strict=True)), Fraction(0)) for row in MATRIX]


def variance(values: Any) -> Fraction:
    kept = lattice(values)
    middle = sum(kept, Fraction(0)) / len(kept)
    return sum(((each - middle) ** 2 for each in kept), Fraction(0)) / len(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """declared: the library's statistic. computed: the same by hand. n: a public number of people."""

    declared: Statistic
    computed: Callable[[Any], Any]
    values: Values
    n: int | None = None


MEAN, VARIANCE = Mean(CLIP, step=STEP), Variance(CLIP, step=STEP)
CASES = {
    "count": Case(declared=Count(), computed=lambda xs: sum(x > 3 for x in xs), values=Whole(0, 9)),
    "histogram": Case(
        declared=Histogram(4), computed=lambda xs: [xs.count(cell) for cell in range(4)], values=OneOf(range(4))
    ),
    "linear": Case(declared=Linear(MATRIX), computed=linear, values=OneOf(range(4))),
    "sum": Case(declared=Sum(CLIP, step=STEP), computed=lambda xs: sum(lattice(xs), Fraction(0)), values=ANYTHING),
    "mean": Case(declared=MEAN, computed=lambda xs: moments(centred(MEAN)(xs), 1), values=ANYTHING),
    "variance": Case(declared=VARIANCE, computed=lambda xs: moments(centred(VARIANCE)(xs), 2), values=TELLING),
    "mean of a public number": Case(
        declared=Mean(CLIP, n=4, step=STEP), computed=lambda xs: sum(lattice(xs), Fraction(0)) / 4, values=ANYTHING, n=4
    ),
    "variance of a public number": Case(
        declared=Variance(CLIP, n=4, step=STEP), computed=variance, values=TELLING, n=4
    ),
}
UNITS = {
    "add/remove": AddRemove(),
    "replace": Replace(),
    "add/remove x 3": AddRemove(group=3),
    "replace x 2": Replace(group=2),
}
PAIRS = [(name, unit) for name, case in CASES.items() for unit in UNITS if case.n is None or unit.startswith("replace")]


def space(case: Case, unit: AddRemove | Replace) -> Records:
    if case.n is not None:
        return Records(case.values, unit=unit, size=case.n, least=case.n)
    return Records(case.values, unit=unit, size=5, giant=50)


@pytest.mark.parametrize(("name", "unit"), PAIRS)
def test_the_declared_sensitivity_holds_and_is_tight(name: str, unit: str, full: bool) -> None:
    case, protected = CASES[name], UNITS[unit]
    cases = 5_000 if full else 250
    for norm, declared in (("l1", case.declared.l1(protected) ** 2), ("l2", case.declared.l2_squared(protected))):
        report = replay_statistic(
            case.computed,
            space=space(case, protected),
            norm=norm,  # type: ignore[arg-type]
            sensitivity2=declared,
            cases=cases,
            series=f"{name} {unit}",
        )
        assert report.check(reach=0.99).cases == cases


@pytest.mark.parametrize(("name", "unit"), PAIRS)
def test_a_tenth_less_is_refuted(name: str, unit: str) -> None:
    """The same worlds, so that the test above says something."""
    case, protected = CASES[name], UNITS[unit]
    report = replay_statistic(
        case.computed,
        space=space(case, protected),
        norm="l1",
        sensitivity2=case.declared.l1(protected) ** 2 * Fraction(81, 100),
        cases=250,
        series=f"{name} {unit}",
    )
    assert report.violations > 0
    assert {each.part for each in report.counterexamples} == {"distance"}


@pytest.mark.parametrize("unit", [AddRemove(key="person"), Replace(key="person"), AddRemove(key="person", group=2)])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_people_with_several_rows(unit: AddRemove | Replace, norm: str) -> None:
    """At most two rows of a person, chosen by value: `rows=2`."""
    declared = Histogram(3, rows=2)

    def cells(rows: Any) -> list[int]:
        kept: dict[Any, list[int]] = {}
        for row in rows:
            kept.setdefault(row["person"], []).append(row["cell"])
        counted = [cell for mine in kept.values() for cell in sorted(mine)[:2]]
        return [counted.count(cell) for cell in range(3)]

    rows = Row({"person": Whole(0, 999), "cell": OneOf(range(3))})
    report = replay_statistic(
        cells,
        space=Records(rows, unit=unit, size=4, giant=60),
        norm=norm,  # type: ignore[arg-type]
        sensitivity2=declared.l1(unit) ** 2 if norm == "l1" else declared.l2_squared(unit),
        cases=250,
    )
    assert report.check(reach=0.99).holds


def test_every_statistic_of_the_library_is_replayed() -> None:
    known = {name for name in sensitivity.__all__ if name not in ("Clip", "Statistic")}
    assert {type(case.declared).__name__ for case in CASES.values()} == known
