"""Swapping and TopDown on one table: the demonstration of the slides, with both methods side by side.

Bailie, Gong and Meng, "Can swapping be differentially private?", Georgetown 2024: dwellings by county, owned or rented,
before and after, and the mean absolute percentage error of the two-way table over repeated runs. The two methods
protect different things: swapping keeps the numbers of its strata by place and by the other column and is stated in
pure ε for each record, TopDown keeps the total alone and is stated in zCDP.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np

from quincunx.errors import DataError, ParameterError
from quincunx.invariant.swapping.file import FileTable
from quincunx.invariant.swapping.swap import draw
from quincunx.invariant.topdown import TopDown
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.schema import Integers
from quincunx.numbers import Number, above, positive, positive_integer, stated
from quincunx.spec import Replace

RATES: Final = ("1/100", "5/100", "10/100", "30/100", "50/100")
RHOS: Final = ("1/1000", "1/100", "1/10", "1", "2.56")
RUNS: Final = 20
# The counties of Massachusetts, their part of its dwellings and how many of these are owned, about as in 1940.
_COUNTIES: Final = (
    ("Barnstable", 1.0, 0.61), ("Berkshire", 2.8, 0.46), ("Bristol", 8.6, 0.41), ("Dukes", 0.2, 0.66),
    ("Essex", 11.6, 0.42), ("Franklin", 1.2, 0.55), ("Hampden", 7.7, 0.37), ("Hampshire", 1.6, 0.54),
    ("Middlesex", 22.2, 0.42), ("Nantucket", 0.1, 0.60), ("Norfolk", 7.4, 0.53), ("Plymouth", 4.2, 0.57),
    ("Suffolk", 20.2, 0.22), ("Worcester", 11.2, 0.44),
)  # fmt: skip
_SIZES: Final = (7, 24, 22, 18, 12, 8, 5, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One method at one setting. cost: what it promises, in words. errors: the mean absolute percentage error of each
    run. table: the two-way table of the first run."""

    name: str
    setting: str
    cost: str
    errors: tuple[float, ...]
    table: Integers

    @property
    def median(self) -> float:
        """The median error."""
        return float(np.median(self.errors))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The table before, by place and value, and every method."""

    places: tuple[str, ...]
    values: tuple[str, ...]
    before: Integers
    methods: tuple[Method, ...]


def write_dwellings(file: Path, count: object = 60_000) -> Path:
    """A CSV file of dwellings that do not exist: county, persons and tenure, in proportions about those of 1940."""
    number, source = positive_integer(count, "count"), np.random.default_rng(1940)
    shares = np.array([share for _, share, _ in _COUNTIES])
    county = source.choice(len(_COUNTIES), number, p=shares / shares.sum())
    size = source.choice(len(_SIZES), number, p=np.array(_SIZES) / sum(_SIZES))
    # Larger households own a little more often.
    chance = np.array([owned for _, _, owned in _COUNTIES])[county] + 0.01 * (size - 3)
    owned = source.random(number) < chance
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("county", "persons", "tenure"))
        for place, persons, own in zip(county, size, owned, strict=True):
            writer.writerow((_COUNTIES[place][0], persons + 1, "owned" if own else "rented"))
    return file


def compare(
    file: str | Path,
    *,
    place: str,
    rest: str,
    match: Sequence[str],
    rates: Sequence[Number] = RATES,
    rhos: Sequence[Number] = RHOS,
    runs: Number = RUNS,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Swap `place` among records that agree on `match`, and measure `rest` by `place` with TopDown, `runs` times each.

    file: CSV or Parquet, one row for each record. The errors compare with the truth: for the curator's eyes, or for
    data that do not exist.
    """
    times = positive_integer(runs, "runs")
    budgets = [positive(rho, "rhos") for rho in rhos]
    table = FileTable(file)
    for name in (place, rest, *match):
        if name not in table.types:
            hint = f"Its columns: {', '.join(table.types)}."
            raise DataError(f"the file has no column {name!r}", where=Path(file).name, hint=hint)
    if place in match or rest in match or place == rest:
        raise ParameterError("a column has two parts", where="compare", got=f"{place}, {rest}, {', '.join(match)}")
    place_names, place_codes = table.texts(place)
    rest_names, rest_codes = table.texts(rest)
    places, values = tuple(place_names), tuple(rest_names)
    shape = (len(places), len(values))
    before = _counted(place_codes, rest_codes, shape)
    methods = []
    told = progress or (lambda _: None)
    for rate in rates:
        share = Fraction(str(rate)) if not isinstance(rate, Fraction) else rate
        name = f"{float(100 * share):g} %"
        told(f"swapping at {name}")
        errors, first, cost = [], before, ""
        for run in range(times):
            drawn = draw(table, column=place, match=list(match), rate=rate, kind="derangement", household=None)
            after = _counted(place_codes[drawn.source], rest_codes, shape)
            errors.append(percentage_error(before, after))
            if run == 0:
                first, cost = after, f"ε ≤ {above(drawn.epsilon.exact, 4)} for each record"
        methods.append(Method(name="swapping", setting=name, cost=cost, errors=tuple(errors), table=first))
    for rho in budgets:
        name = stated("ρ", rho)
        told(f"TopDown at {name}")
        planned = _planned(before, places, values, rho, rest)
        errors, first = [], before
        for run in range(times):
            after = planned.run().tables[1]
            errors.append(percentage_error(before, after))
            first = after if run == 0 else first
        cost = f"{name} for each record replaced"
        methods.append(Method(name="TopDown", setting=name, cost=cost, errors=tuple(errors), table=first))
    return Comparison(places=places, values=values, before=before, methods=tuple(methods))


def percentage_error(before: Integers, after: Integers) -> float:
    """The mean of 100·|after − before|/before over cells that are not empty before, in percent."""
    known = before > 0
    return float((100 * np.abs(after - before)[known] / before[known]).mean()) if known.any() else 0.0


def _planned(before: Integers, places: Sequence[str], values: Sequence[str], rho: Fraction, rest: str) -> TopDown:
    """One level above the places; a quarter of ρ for it, the rest for the places."""
    leaves = Geography.of([("all", name) for name in places], ["all", "place"], "place")
    order = np.array([places.index(code) for code in leaves.codes[1]])
    return TopDown(
        dataset="comparison",
        version="1",
        ledger=":memory:",
        source=before[order],
        geography=leaves,
        attributes={rest: list(values)},
        shares={"all": {"share": "1/4", "detailed": 1}, "place": {"share": "3/4", "total": "1/5", "detailed": "4/5"}},
        rho=rho,
        unit=Replace(),
        invariants=[("all", "total")],
    )


def _counted(places: Integers, rest: Integers, shape: tuple[int, int]) -> Integers:
    return np.bincount(places * shape[1] + rest, minlength=shape[0] * shape[1]).reshape(shape)
