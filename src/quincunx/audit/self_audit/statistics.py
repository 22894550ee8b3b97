"""Statistics in the self-audit: `mechanisms.sensitivity` on generated neighbours, and one that is wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from quincunx.audit.spaces import OneOf, Real, Records
from quincunx.audit.spaces.values import Values
from quincunx.audit.statistic import StatisticReplay, replay_statistic
from quincunx.mechanisms import sensitivity as known
from quincunx.spec import AddRemove, Replace

_STEP: Final = Fraction(1, 4)
_CLIP: Final = known.Clip("-5.3", "10.1")
# More than can be clipped to, and everything that is no number at all.
_NUMBERS: Final = Real(missing=True)
_CELLS: Final = ("a", "b", "c")
_MATRIX: Final = ((Fraction(1), Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(-2), Fraction(3)))
_GIANT: Final = 200
_UNITS: Final = (AddRemove(), Replace(), AddRemove(group=3), Replace(group=3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A statistic: what computes it, what declares its sensitivity, what records may hold, how many are public."""

    name: str
    function: Callable[[list[Any]], Any]
    statistic: known.Statistic
    values: Values
    people: int | None = None


def declared() -> Iterator[Declared]:
    """Every statistic of `mechanisms.sensitivity`, computed on the lattice as releases do."""
    yield Declared(name="Count", function=_positive, statistic=known.Count(), values=_NUMBERS)
    cells = OneOf(_CELLS)
    yield Declared(name="Histogram", function=_cells, statistic=known.Histogram(_CELLS), values=cells)
    yield Declared(name="Linear", function=_queries, statistic=known.Linear(_MATRIX), values=cells)
    yield Declared(name="Sum", function=_sum, statistic=known.Sum(_CLIP, step=_STEP), values=_NUMBERS)
    mean, spread = known.Mean(_CLIP, step=_STEP), known.Variance(_CLIP, step=_STEP)
    yield Declared(name="Mean", function=_powers(mean.centre, 1), statistic=mean, values=_NUMBERS)
    yield Declared(name="Variance", function=_powers(spread.centre, 2), statistic=spread, values=_NUMBERS)
    public = known.Mean(_CLIP, n=6, step=_STEP)
    yield Declared(name="Mean, n public", function=_mean, statistic=public, values=_NUMBERS, people=6)
    variance = known.Variance(_CLIP, n=6, step=_STEP)
    yield Declared(name="Variance, n public", function=_variance, statistic=variance, values=_NUMBERS, people=6)


def replayed(each: Declared, cases: int, series: str) -> list[StatisticReplay]:
    """The statistic under every unit that it has a sensitivity for, in both norms."""
    found = []
    for unit in _UNITS:
        if each.people is not None and not unit.moves_between_parts:
            continue
        people = (0, 8) if each.people is None else (each.people, each.people)
        space = Records(each.values, unit=unit, least=people[0], size=people[1], giant=_GIANT)
        found.append(_replay(each, space, "l1", cases, series, {"sensitivity": each.statistic.l1(unit)}))
        found.append(_replay(each, space, "l2", cases, series, {"sensitivity2": each.statistic.l2_squared(unit)}))
    return found


def broken(cases: int, series: str) -> list[StatisticReplay]:
    """A sum that declares its lower bound's size under add or remove: sensitivity from the wrong bound."""
    each = Declared(name="wrong bound", function=_sum, statistic=known.Sum(_CLIP), values=_NUMBERS)
    return [_replay(each, Records(_NUMBERS, unit=AddRemove()), "l1", cases, series, {"sensitivity": "5.3"})]


def _replay(
    each: Declared, space: Records, norm: Literal["l1", "l2"], cases: int, series: str, amount: dict[str, Any]
) -> StatisticReplay:
    return replay_statistic(
        each.function, space=space, norm=norm, cases=cases, series=f"{series} {each.name}", name=each.name, **amount
    )


def _lattice(values: list[Any]) -> list[Fraction]:
    return [int(steps) * _STEP for steps in _CLIP.apply(values, _STEP)] if values else []


def _positive(values: list[Any]) -> int:
    return sum(value > 0 for value in _lattice(values))


def _cells(values: list[Any]) -> list[int]:
    return [values.count(cell) for cell in _CELLS]


def _queries(values: list[Any]) -> list[Fraction]:
    counts = _cells(values)
    return [sum((w * n for w, n in zip(row, counts, strict=True)), Fraction(0)) for row in _MATRIX]


def _sum(values: list[Any]) -> Fraction:
    return sum(_lattice(values), Fraction(0))


def _powers(centre: Fraction, most: int) -> Callable[[list[Any]], list[Fraction]]:
    """Σ (x − centre)^k for k from 1 to `most`, and the number of records."""

    def sums(values: list[Any]) -> list[Fraction]:
        moved = [value - centre for value in _lattice(values)]
        totals = [sum((value**power for value in moved), Fraction(0)) for power in range(1, most + 1)]
        return [*totals, Fraction(len(moved))]

    return sums


def _mean(values: list[Any]) -> Fraction:
    return _sum(values) / len(values)


def _variance(values: list[Any]) -> Fraction:
    found = _lattice(values)
    return sum((value**2 for value in found), Fraction(0)) / len(found) - _mean(values) ** 2
