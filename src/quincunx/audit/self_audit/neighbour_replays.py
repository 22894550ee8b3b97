"""Neighbour replay in the self-audit: every operator of tables, every statistic with a declared sensitivity.

A replay has no noise and no chance: two generated neighbours, their exact results, and the distance that was declared.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Final

from quincunx.audit.self_audit import statistics
from quincunx.audit.self_audit.outcome import Replayed
from quincunx.audit.statistic import StatisticReplay
from quincunx.audit.tables import Replay, replay
from quincunx.audit.tables.relations import RELATIONS, Ground
from quincunx.errors import VerificationError
from quincunx.spec import AddRemove, Replace
from quincunx.table import AGGREGATES, ColumnSchema, Content, Limits, Link, Schema, TableSchema

# draws on each side that the audit asks for → pairs of neighbouring worlds for each question
_PAIRS: Final = ((10**7, 64), (10**6, 16), (0, 4))
_UNITS: Final[Mapping[str, AddRemove | Replace]] = {
    "add or remove a person": AddRemove(key="person"),
    "replace a person": Replace(key="person"),
    "add or remove 3 people": AddRemove(key="person", group=3),
    "replace a person's day": Replace(key="person", per={"column": "day", "period": "day"}),
    "add or remove a row": AddRemove(),
    "replace a row": Replace(),
}
# The first alone in the smallest audit.
_LIMITS: Final = (
    Limits(rows=8, groups=3, per_group=3),
    Limits(rows=3),
    Limits(groups=2, per_group=2),
    Limits(auto=5, groups=2),
)
_COLUMNS: Final = (
    ColumnSchema(name="person", type="integer"),
    ColumnSchema(name="region", type="text", keys=("a", "süd", "東京", None)),
    ColumnSchema(name="age", type="integer", bounds=(Fraction(0), Fraction(110))),
    ColumnSchema(name="cost", type="decimal", bounds=(Fraction("-57.77"), Fraction("50.05")), step=Fraction("0.1")),
    ColumnSchema(name="note", type="text"),
    ColumnSchema(name="day", type="date"),
    ColumnSchema(name="flag", type="boolean", keys=(True, False)),
)
# Beside the visits, in a dataset of several tables: rows of the same people, rows that lead to them, and public ones.
_BESIDE: Final = (
    TableSchema(
        name="encounters",
        columns=(
            ColumnSchema(name="person", type="integer"),
            ColumnSchema(name="day", type="date"),
            ColumnSchema(name="encounter", type="integer"),
        ),
        limits=_LIMITS[0],
    ),
    TableSchema(
        name="bills",
        columns=(
            ColumnSchema(name="encounter", type="integer"),
            ColumnSchema(name="amount", type="integer", bounds=(Fraction(-5), Fraction(90))),
        ),
        limits=_LIMITS[0],
        link=Link(via="encounters", on="encounter"),
    ),
    TableSchema(
        name="regions",
        columns=(ColumnSchema(name="region", type="text"), ColumnSchema(name="beds", type="integer")),
        public=True,
        content=Content(
            digest="",
            types=(("region", "VARCHAR"), ("beds", "BIGINT")),
            rows=4,
            columns=(("a", "a", "süd", None), ("1", "2", "3", "4")),
        ),
    ),
)
_KEYS: Final = ((), ("region",), ("note",), ("region", "note"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaying:
    """One replay of the catalogue. function: (draws asked for, series) → what was found; control: must be refuted."""

    name: str
    words: str
    function: Callable[[int, str], tuple[int, float, int, str]]
    control: bool = False

    def run(self, samples: int, series: str | None) -> Replayed:
        """The replay, larger where more draws are asked for."""
        started = time.perf_counter()
        cases, largest, violations, shown = self.function(samples, f"self audit {series}")
        if not cases:
            raise VerificationError("nothing was compared, so nothing was shown", where=self.name)
        return Replayed(
            name=self.name,
            words=self.words,
            cases=cases,
            largest=largest,
            violations=violations,
            shown=shown,
            seconds=time.perf_counter() - started,
            control=self.control,
        )


@cache
def replays() -> Mapping[str, Replaying]:
    """Every replay by its name."""
    return MappingProxyType({each.name: each for each in (*_tables(), *_statistics())})


def _tables() -> Iterator[Replaying]:
    for name, unit in _UNITS.items():
        yield Replaying(
            name=f"replay of tables, {name}",
            words="questions with every aggregate and kind of keys, and generated ones, under four kinds of limits",
            function=_asking(unit),
        )
        if unit.key is not None:
            yield Replaying(
                name=f"replay of several tables, {name}",
                words="joins, links, public tables, roll-ups, windows, sets and subqueries, each once and generated",
                function=_relating(unit),
            )


def _asking(unit: AddRemove | Replace) -> Callable[[int, str], tuple[int, float, int, str]]:
    def run(samples: int, series: str) -> tuple[int, float, int, str]:
        pairs = next(many for least, many in _PAIRS if samples >= least)
        found = Replay(cases=0, refused=0, cells=(), violations=())
        for place, limits in enumerate(_LIMITS[: 1 if pairs < 16 else None]):
            table = TableSchema(name="visits", columns=_COLUMNS, limits=limits)
            schema = Schema(tables={"visits": table}, unit=unit)
            each = f"{series}, {place}"
            found += replay(schema, _questions(unit), pairs=pairs, giants=1, series=each)
            found += replay(schema, pairs=pairs, giants=0, count=max(1, pairs // 4), series=each)
        largest = max((cell.largest for cell in found.cells), default=0.0)
        shown = str(found.violations[0]) if found.violations else ""
        return found.cases, largest, len(found.violations), shown

    return run


def _relating(unit: AddRemove | Replace) -> Callable[[int, str], tuple[int, float, int, str]]:
    """Every construct over several tables, of visits and of what is linked; and generated questions."""

    def run(samples: int, series: str) -> tuple[int, float, int, str]:
        pairs = next(many for least, many in _PAIRS if samples >= least)
        tables = {
            each.name: each for each in (TableSchema(name="visits", columns=_COLUMNS, limits=_LIMITS[0]), *_BESIDE)
        }
        schema = Schema(tables=tables, unit=unit)
        found = replay(schema, _constructs(schema, series), pairs=pairs, giants=1, series=series)
        found += replay(schema, pairs=pairs, giants=0, count=max(1, pairs // 4), series=series)
        largest = max((cell.largest for cell in found.cells), default=0.0)
        return found.cases, largest, len(found.violations), str(found.violations[0]) if found.violations else ""

    return run


def _constructs(schema: Schema, series: str) -> list[str]:
    """What each construct makes of the visits and of the bills, counted."""
    asked = []
    for name in ("visits", "bills"):
        ground = Ground(schema=schema, table=schema.tables[name], source=random.Random(f"{series} {name}"))
        made = (construct(ground) for construct in RELATIONS.values())
        asked += [f"SELECT COUNT(*) AS n FROM ({below.sql}) AS q" for below in made if below is not None]
    return asked


def _statistics() -> Iterator[Replaying]:
    for each in statistics.declared():
        yield Replaying(
            name=f"replay of sensitivity, {each.name}",
            words="records of every kind, added, removed and replaced, one and three at a time, in ℓ1 and ℓ2",
            function=_counting(lambda cases, series, each=each: statistics.replayed(each, cases, series)),  # type: ignore[misc]
        )
    yield Replaying(
        name="sensitivity from the wrong bound",
        words="a sum of values from −5.3 to 10.1 that declares 5.3",
        function=_counting(statistics.broken),
        control=True,
    )


def _counting(
    ask: Callable[[int, str], list[StatisticReplay]],
) -> Callable[[int, str], tuple[int, float, int, str]]:
    def run(samples: int, series: str) -> tuple[int, float, int, str]:
        found = ask(25 * next(many for least, many in _PAIRS if samples >= least), series)
        kinds = [kind for each in found for kind in each.kinds]
        shown = [str(each) for report in found for each in report.counterexamples]
        largest = max((kind.largest for kind in kinds), default=0.0)
        cases, violations = sum(kind.cases for kind in kinds), sum(kind.violations for kind in kinds)
        return cases, largest, violations, shown[0] if shown else ""

    return run


def _questions(unit: AddRemove | Replace) -> list[str]:
    """Every aggregate with every kind of keys; people are counted where the unit is a person."""
    asked = []
    for names in _KEYS:
        selected = "".join(f"{name}, " for name in names)
        group = f" GROUP BY {', '.join(names)}" if names else ""
        asked.append(f"SELECT {selected}{_calls('cost', key=False)} FROM visits{group}")
        if unit.key is not None and unit.per is None:
            asked.append(f"SELECT {selected}{_calls('person', ' FILTER (WHERE flag)', key=True)} FROM visits{group}")
    return asked


def _calls(argument: str, *filters: str, key: bool) -> str:
    """Every aggregate: of the key, or of a number; plain, and with each of the filters."""
    forms = [form for each in AGGREGATES for form in each.forms if (form.needs == "key") == key]
    calls = [f"{form.written.format(argument)}{after}" for form in forms for after in ("", *filters)]
    return ", ".join(f"{call} AS a{i}" for i, call in enumerate(calls))
