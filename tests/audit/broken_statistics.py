"""Wrong statistics of the classes that broke other libraries, each beside its correct original.

Every seed is small enough to be read: what is wrong is one line, and what is right is the same line mended, or the same
statistic with the sensitivity that it has.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from quincunx.audit.spaces import Finite, Histograms, OneOf, Real, Records, Row, Space, Tables, Whole
from quincunx.mechanisms.sensitivity import Clip
from quincunx.spec import Specification, domain, scope, standard
from quincunx.spec.unit import AddRemove, Replace
from tests.audit.tables.scenes import scene

Statistic = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """name: the class and the case. part: what must break. declared: the square of the wrong seed's sensitivity.

    held: the square of the right one's, where it differs. reach: how near to it some pair must come.
    """

    name: str
    wrong: Statistic
    right: Statistic
    space: Space[Any]
    declared: object
    held: object = None
    norm: str = "l1"
    part: str = "distance"
    keys: str = "fixed"
    cases: int | None = 200
    reach: float = 1.0

    @property
    def squares(self) -> tuple[Fraction, Fraction]:
        wrong = Fraction(str(self.declared))
        return wrong, wrong if self.held is None else Fraction(str(self.held))


def clamp(x: Any, low: Any = 0, high: Any = 10) -> Any:
    return min(max(x, low), high)


def people(values: Any, unit: AddRemove | Replace | None = None, **options: Any) -> Records:
    return Records(values, unit=unit or AddRemove(), **{"giant": 100, **options})


def owned(*fields: tuple[str, Any], unit: AddRemove | Replace | None = None) -> Records:
    rows = Row({"person": Whole(0, 999), **dict(fields)})
    return Records(rows, unit=unit or AddRemove(key="person"), giant=60, size=5)


def by_person(rows: Iterable[dict[str, Any]]) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["person"], []).append(row)
    return found


def squared(value: object) -> Fraction:
    return Fraction(str(value)) ** 2


NUMBERS, SMALL = people(Whole()), people(Whole(-5, 20))
CELLS = ("a", "b", "c")
LETTERS = people(OneOf(CELLS))
COUNTS, MOVED = Histograms(CELLS, unit=AddRemove()), Histograms(CELLS, unit=Replace())
EXCHANGED = people(Whole(-5, 20), Replace())
EIGHT = people(Whole(-5, 20), Replace(), size=8, least=8)
FLOATS = people(Real())
VISITS = owned(("cost", Whole(-50, 50)), ("item", OneOf("abcdefgh")))


def total(values: Any) -> int:
    return sum(clamp(x) for x in values)


def unclipped(values: Any) -> int:
    clipped = [clamp(x) for x in values]
    return sum(values) if clipped else 0


def uncapped_square(values: Any) -> int:
    return sum(clamp(x) ** 2 for x in values)


def capped_square(values: Any) -> int:
    return sum(clamp(clamp(x) ** 2) for x in values)


def lattice_total(values: Any) -> int:
    return int(Clip(0, 10).apply(list(values), 1).sum())


def nan_total(values: Any) -> float:
    return sum((clamp(x, 0.0, 10.0) for x in values), start=0.0)


def logistic_share(values: Any) -> int:
    with np.errstate(invalid="ignore"):
        return int(Clip(-1, 1).apply([float(np.float64(x) / (1 + abs(np.float64(x)))) for x in values], 1).sum())


def scaled_by_infinity(values: Any) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        return float(sum(np.float64(x) / (1 + abs(np.float64(x))) for x in values))


def above_the_mean(values: Any) -> int:
    mean = Fraction(sum(map(clamp, values)), max(len(values), 1))
    return sum(clamp(x) for x in values if clamp(x) > mean)


def above_five(values: Any) -> int:
    return sum(clamp(x) for x in values if clamp(x) > 5)


def share_of_largest(values: Any) -> Fraction:
    largest = max((clamp(x, 1, 10) for x in values), default=1)
    return sum((Fraction(clamp(x, 1, 10), largest) for x in values), Fraction(0))


def share_of_ten(values: Any) -> Fraction:
    return sum((Fraction(clamp(x, 1, 10), 10) for x in values), Fraction(0))


def ranks(values: Any) -> int:
    return sum(i for i, x in enumerate(sorted(values)) if x >= 0)


def from_the_first(values: Any) -> int:
    return sum(clamp(x) - clamp(values[0]) for x in values)


def clipped_at_a_quantile(values: Any) -> int:
    high = sorted(map(clamp, values))[3 * len(values) // 4] if values else 0
    return sum(clamp(x, 0, high) for x in values)


def runs(values: Any) -> int:
    return sum(i == 0 or x != values[i - 1] for i, x in enumerate(values))


def rows_kept(rows: Any, most: int, fan: int = 1, limit: int = 50) -> int:
    """The costs of at most `most` rows of a person, each taken `fan` times."""
    kept = (sorted(row["cost"] for row in mine)[:most] for mine in by_person(rows).values())
    return sum(fan * clamp(cost, 0, limit) for costs in kept for cost in costs)


def one_row_too_many(rows: Any) -> int:
    found = 0
    for mine in by_person(rows).values():
        for seen, cost in enumerate(sorted(row["cost"] for row in mine)):
            if seen > 2:
                break
            found += clamp(cost, 0, 50)
    return found


def distinct_items(rows: Any) -> int:
    return len({row["item"] for row in rows})


def distinct_people(rows: Any) -> int:
    return len(by_person(rows))


def pairs_of_a_person(rows: Any) -> int:
    return sum(1 for mine in by_person(rows).values() for _ in {row["item"] for row in mine})


def weighted_by_values(rows: Any) -> Fraction:
    """A person's weight from the sum of the values, which cancel, and not from the number of rows."""
    found = Fraction(0)
    for mine in by_person(rows).values():
        size = max(1, abs(sum(clamp(row["cost"], -50, 50) for row in mine)) // 50)
        found += sum(Fraction(clamp(row["cost"], 0, 50), size) for row in mine)
    return found


def weighted_by_rows(rows: Any) -> Fraction:
    found = Fraction(0)
    for mine in by_person(rows).values():
        found += sum(Fraction(clamp(row["cost"], 0, 50), len(mine)) for row in mine)
    return found


def queries(values: Any) -> tuple[int, ...]:
    return tuple(sum(x > limit for x in values) for limit in (-1, 2, 5, 9))


def cells(values: Any) -> dict[str, int]:
    return {cell: sum(x == cell for x in values) for cell in CELLS}


def frequent_first(values: Any) -> dict[str, int]:
    return dict(sorted(cells(values).items(), key=lambda item: -item[1]))


def first_three(values: Any) -> int:
    return sum(clamp(x) for x in values[:3])


def least_three(values: Any) -> int:
    return sum(sorted(clamp(x) for x in values)[:3])


def float32_total(values: Any) -> int:
    return int(np.array(values, dtype=np.float32).sum())


def int32_total(values: Any) -> int:
    return int(np.array(values, dtype=np.int64).astype(np.int32).sum(dtype=np.int32))


def int64_total(values: Any) -> int:
    return int(np.array(values, dtype=np.int64).sum())


def unsigned_centred(values: Any) -> int:
    return int((np.array(values, dtype=np.uint8) - np.uint8(128)).sum(dtype=np.int64))


def signed_centred(values: Any) -> int:
    return sum(int(x) - 128 for x in values)


def in_order(values: Any) -> float:
    found = 0.0
    for x in values:
        found += x
    return found


def on_a_lattice(values: Any) -> int:
    return int(Clip(-(10**16), 10**16).apply(np.array(values, dtype=float), 1).astype(object).sum())


def mean(values: Any) -> Fraction:
    return Fraction(total(values), max(len(values), 1))


def mean_that_divides(values: Any) -> Fraction:
    return Fraction(total(values), len(values)) * 0


def variance(values: Any) -> Fraction:
    kept = [clamp(x) for x in values]
    middle = Fraction(sum(kept), len(kept))
    return sum(((x - middle) ** 2 for x in kept), Fraction(0)) / len(kept)


def median(values: Any) -> int:
    return sorted(map(clamp, values))[len(values) // 2]


def parsed(texts: Any) -> int:
    return sum(clamp(int(text)) for text in texts)


def parsed_totally(texts: Any) -> int:
    return sum(clamp(int(text)) if text.isdecimal() else 0 for text in texts)


def with_nulls(values: Any) -> int:
    return sum(0 if x is None else clamp(x) for x in values)


def halves(values: Any) -> Any:
    return sum(values)


def halves_as_float(values: Any) -> float:
    return float(sum(values))


def promoted(values: Any) -> Any:
    return np.array([sum(values)])


def declared_dtype(values: Any) -> Any:
    return np.array([sum(values)], dtype=np.float64)


def bincount(values: Any) -> Any:
    return np.bincount(np.array(values, dtype=np.int64))


def bincount_of_five(values: Any) -> Any:
    return np.bincount(np.array(values, dtype=np.int64), minlength=5)


def listed(values: Any) -> list[int]:
    return [0 * x for x in values]


def numpy_mean(values: Any) -> float:
    return float(0 * np.nan_to_num(np.mean(np.array(values, dtype=np.float64))))


def noisy(values: Any, source: random.Random = random.Random(0)) -> int:  # noqa: B008 - the state is the bug
    return total(values) + source.randint(0, 1)


def remembered(values: Any, seen: list[int] = []) -> int:  # noqa: B006 - the state is the bug
    seen.append(len(values))
    return total(values) + 0 * len(values) + min(len(seen), 3)


def suppressed(counts: Any) -> dict[str, int]:
    return {cell: n if n >= 5 else 0 for cell, n in counts.items()}


def rounded_to_five(counts: Any) -> dict[str, int]:
    return {cell: 5 * ((n + 2) // 5) for cell, n in counts.items()}


def as_counted(counts: Any) -> dict[str, int]:
    return dict(counts)


def cumulated(counts: Any) -> list[int]:
    return [int(each) for each in np.cumsum([counts[cell] for cell in CELLS], dtype=object)]


def parity(records: Any) -> int:
    return 3 * (sum(records) % 2)


def ones(records: Any) -> int:
    return 3 * sum(records)


def all_ages(rows: Any) -> int:
    return sum(clamp(row["age"] or 0, 0, 110) for row in rows)


def one_age_each(rows: Any) -> int:
    return sum(max(clamp(row["age"] or 0, 0, 110) for row in mine) for mine in by_person(rows).values())


def three_bits() -> Finite:
    return Finite(
        Specification(
            domain=domain.Finite.vectors((0, 1), 3),
            scope=scope.Everything(),
            unit=Replace(),
            standard=standard.Pure(),
            intensity=1,
        )
    )


SEEDS = (
    Seed(
        name="wrong bound: the upper one alone",
        wrong=lambda xs: sum(clamp(x, -5, 3) for x in xs),
        right=lambda xs: sum(clamp(x, -5, 3) for x in xs),
        space=SMALL,
        declared=9,
        held=25,
    ),
    Seed(name="a clip computed and not used", wrong=unclipped, right=total, space=SMALL, declared=100),
    Seed(
        name="a bound that survives the redefinition of its column",
        wrong=uncapped_square,
        right=capped_square,
        space=SMALL,
        declared=100,
    ),
    Seed(
        name="null: an operator that fails on it",
        wrong=total,
        right=with_nulls,
        space=people(Whole(0, 20, missing=True)),
        declared=100,
        part="exception",
    ),
    Seed(
        name="NaN: a clip that lets it through",
        wrong=nan_total,
        right=lattice_total,
        space=FLOATS,
        declared=100,
        part="undefined",
    ),
    Seed(
        name="infinity: a quotient that turns it into NaN",
        wrong=scaled_by_infinity,
        right=logistic_share,
        space=people(Real(nan=False)),
        declared="1.1",
        held=1,
        part="undefined",
    ),
    Seed(name="not row-wise: the mean of all", wrong=above_the_mean, right=above_five, space=SMALL, declared=100),
    Seed(name="not row-wise: the largest of all", wrong=share_of_largest, right=share_of_ten, space=SMALL, declared=1),
    Seed(name="not row-wise: ranks", wrong=ranks, right=len, space=SMALL, declared=1),
    Seed(name="not row-wise: the first record", wrong=from_the_first, right=total, space=SMALL, declared=100),
    Seed(
        name="not row-wise: a bound from the data",
        wrong=clipped_at_a_quantile,
        right=total,
        space=SMALL,
        declared=100,
    ),
    Seed(
        name="not row-wise: the record before",
        wrong=runs,
        right=len,
        space=people(OneOf(CELLS), ordered=True),
        declared=1,
    ),
    Seed(
        name="a limit of rows that survives a join",
        wrong=lambda rows: rows_kept(rows, 2, fan=3),
        right=lambda rows: rows_kept(rows, 2),
        space=VISITS,
        declared=squared(100),
    ),
    Seed(
        name="> for ≥ at the limit of rows",
        wrong=one_row_too_many,
        right=lambda rows: rows_kept(rows, 2),
        space=VISITS,
        declared=squared(100),
    ),
    Seed(
        name="people with many rows counted as rows",
        wrong=pairs_of_a_person,
        right=distinct_people,
        space=VISITS,
        declared=1,
    ),
    Seed(
        name="distinct values taken for people", wrong=distinct_items, right=distinct_people, space=VISITS, declared=1
    ),
    Seed(
        name="a weight from the values",
        wrong=weighted_by_values,
        right=weighted_by_rows,
        space=VISITS,
        declared=squared(50),
    ),
    Seed(name="add/remove for replace: cells", wrong=as_counted, right=as_counted, space=MOVED, declared=1, held=4),
    Seed(
        name="add/remove for replace: a signed sum",
        wrong=lambda xs: sum(clamp(x, -5, 10) for x in xs),
        right=lambda xs: sum(clamp(x, -5, 10) for x in xs),
        space=EXCHANGED,
        declared=100,
        held=225,
    ),
    Seed(
        name="add/remove for replace: a person with several rows",
        wrong=lambda rows: rows_kept(rows, 2) - rows_kept([{**row, "cost": -row["cost"]} for row in rows], 2),
        right=lambda rows: rows_kept(rows, 2) - rows_kept([{**row, "cost": -row["cost"]} for row in rows], 2),
        space=owned(("cost", Whole(-50, 50)), unit=Replace(key="person")),
        declared=squared(100),
        held=squared(200),
    ),
    Seed(name="ℓ2 for ℓ1", wrong=queries, right=queries, space=SMALL, declared=4, held=16),
    Seed(name="ℓ∞ for ℓ2", wrong=queries, right=queries, space=SMALL, declared=1, held=4, norm="l2"),
    Seed(name="ℓ2 for ℓ2 of replace", wrong=as_counted, right=as_counted, space=MOVED, declared=1, held=2, norm="l2"),
    Seed(
        name="three people taken for one",
        wrong=as_counted,
        right=as_counted,
        space=Histograms(CELLS, unit=AddRemove(group=3)),
        declared=1,
        held=9,
    ),
    Seed(
        name="k for k² in squares",
        wrong=as_counted,
        right=as_counted,
        space=Histograms(CELLS, unit=AddRemove(group=3)),
        declared=3,
        held=9,
        norm="l2",
    ),
    Seed(
        name="ordered for unordered",
        wrong=first_three,
        right=least_three,
        space=people(Whole(0, 10), Replace(), least=3),
        declared=100,
    ),
    Seed(
        name="float32 for float64",
        wrong=float32_total,
        right=sum,
        space=people(Whole(0, 2**25 - 1)),
        declared=(2**25 - 1) ** 2,
    ),
    Seed(
        name="overflow of int32",
        wrong=int32_total,
        right=int64_total,
        space=people(Whole(0, 2**30)),
        declared=4**30,
    ),
    Seed(
        name="overflow of int64",
        wrong=int64_total,
        right=sum,
        space=people(Whole(0, 2**62)),
        declared=4**62,
    ),
    Seed(
        name="overflow of unsigned bytes",
        wrong=unsigned_centred,
        right=signed_centred,
        space=people(Whole(0, 255)),
        declared=128**2,
    ),
    Seed(
        name="order of summation",
        wrong=in_order,
        right=on_a_lattice,
        space=people(Real(-1e16, 1e16, nan=False)),
        declared=10**32,
    ),
    Seed(
        name="exception: a mean of nobody",
        wrong=mean_that_divides,
        right=total,
        space=SMALL,
        declared=100,
        part="exception",
    ),
    Seed(
        name="exception: a text that is no number",
        wrong=parsed,
        right=parsed_totally,
        space=people(OneOf(("1", "10", "12", "", "x"))),
        declared=100,
        part="exception",
    ),
    Seed(
        name="type: a sum of nothing",
        wrong=halves,
        right=halves_as_float,
        space=people(OneOf((0.5, 1.0))),
        declared=1,
        part="type",
    ),
    Seed(
        name="type: a dtype from the values",
        wrong=promoted,
        right=declared_dtype,
        space=people(OneOf((0, 1, 0.5))),
        declared=1,
        part="type",
    ),
    Seed(
        name="length: as many bins as were seen",
        wrong=bincount,
        right=bincount_of_five,
        space=people(Whole(0, 4)),
        declared=1,
        part="length",
    ),
    Seed(
        name="length: a number for each record",
        wrong=listed,
        right=queries,
        space=SMALL,
        declared=0,
        held=16,
        part="length",
    ),
    Seed(
        name="row order: the most frequent first",
        wrong=frequent_first,
        right=cells,
        space=LETTERS,
        declared=1,
        part="order",
    ),
    Seed(
        name="group presence",
        wrong=lambda xs: {cell: n for cell, n in cells(xs).items() if n},
        right=cells,
        space=LETTERS,
        declared=1,
        part="keys",
    ),
    Seed(
        name="row order where keys are free to be missing",
        wrong=lambda xs: dict(Counter(xs)),
        right=lambda xs: dict(sorted(Counter(xs).items())),
        space=LETTERS,
        declared=1,
        part="order",
        keys="ordered",
    ),
    Seed(name="warning: a mean of nobody", wrong=numpy_mean, right=total, space=SMALL, declared=100, part="warning"),
    Seed(name="a mean by a private number", wrong=mean, right=total, space=SMALL, declared=squared("1.25"), held=100),
    Seed(
        name="a variance without n − 1",
        wrong=variance,
        right=variance,
        space=EIGHT,
        declared=squared(Fraction(100, 64)),
        held=squared(Fraction(700, 64)),
    ),
    Seed(
        name="a median taken for a mean",
        wrong=median,
        right=median,
        space=EIGHT,
        declared=squared("1.25"),
        held=100,
        reach=0.9,
    ),
    Seed(name="suppressed before noise", wrong=suppressed, right=as_counted, space=COUNTS, declared=1),
    Seed(name="rounded before noise", wrong=rounded_to_five, right=as_counted, space=COUNTS, declared=1),
    Seed(name="cumulated counts", wrong=cumulated, right=cumulated, space=COUNTS, declared=1, held=3, norm="l2"),
    Seed(
        name="a function of the sum: every pair",
        wrong=parity,
        right=ones,
        space=three_bits(),
        declared=4,
        held=9,
        cases=None,
    ),
    Seed(name="noise in the statistic", wrong=noisy, right=total, space=SMALL, declared=121, held=100, part="unstable"),
    Seed(
        name="a state between calls",
        wrong=remembered,
        right=total,
        space=SMALL,
        declared=169,
        held=100,
        part="unstable",
    ),
    Seed(
        name="a table: rows of a person not bounded",
        wrong=all_ages,
        right=one_age_each,
        space=Tables(scene("add-remove person", "rows").schema),
        declared=squared(110),
        cases=40,
    ),
)
