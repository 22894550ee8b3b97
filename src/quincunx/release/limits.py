"""The limits report: how far the limits of a table are from its people, measured privately. See limits.md.

Three histograms of people on a public ladder (rows, groups, the most rows in one group) and the rows that the present
limits lose, each a question of its own, asked through the same door as any other: stored, replayed for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from quincunx.chart import Bar, Chart, bars
from quincunx.errors import ParameterError
from quincunx.numbers import stated
from quincunx.release.answer import Answer
from quincunx.table import ColumnSchema, Limits, Program, Schema, TableSchema, Value

# How much of a person's rows beyond the limit is looked at, in limits, where nobody says it.
BEYOND: Final = 4
# The root of z in (0, 1] by Newton's steps, from (1 + z)/2: five of them are right to a thousandth down to 1/400.
_STEPS: Final = 5
_SHOWN: Final = ("rung", "people", "people_low", "people_high")
KINDS: Final = ("rows", "groups", "per_group")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of the report. limits: those under which it is asked."""

    name: str
    sql: str
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsReport:
    """What limits do to a table, measured privately.

    table: its name. by: the keys of the groups. present: the limits now. bound: C, what one person counts for at most
    in a count by these keys. people: for rows, groups and per_group an answer with the number of people on each rung; a
    rung is the largest number that it holds, and the last one, 0, is open. lost: the rows that the present limits lose,
    by the keys, of each person at most `beyond`. spent: what the report cost now. symbol: ε or ρ. counted: the plan of
    a count by these keys, which it is about.
    """

    table: str
    by: tuple[str, ...]
    present: Limits
    bound: float
    beyond: int
    people: Mapping[str, Answer]
    lost: Answer
    spent: Fraction
    symbol: str
    counted: Program = field(repr=False, compare=False)

    def over(self, kind: str, limit: int) -> float:
        """The estimated share of people who have more than `limit` rows, groups, or rows in one group."""
        counts = self._counts(kind)
        total = sum(count for _, count in counts)
        more = sum(count for rung, count in counts if rung is None or rung > limit)
        return min(max(more / total, 0.0), 1.0) if total > 0 else math.nan

    def _counts(self, kind: str) -> list[tuple[int | None, float]]:
        found = self.people[kind]
        return [(rung or None, max(float(n), 0.0)) for rung, n in zip(found["rung"], found["people"], strict=True)]

    @property
    def recommended(self) -> dict[str, int]:
        """For each kind the smallest rung that at most one person in a hundred exceeds, by the noisy histogram."""
        found = {}
        for kind in self.people:
            rungs = [rung for rung, _ in self._counts(kind) if rung is not None]
            found[kind] = next((rung for rung in rungs if self.over(kind, rung) <= 0.01), rungs[-1])
        return found

    @property
    def costs(self) -> list[dict[str, Any]]:
        """For each rung of rows: the share of people over it, the rows lost at least, and the noise beside now.

        The rows lost are a lower bound from the rungs whose people are beyond twice their error; noise grows as C does.
        """
        found, answer = [], self.people["rows"]
        rows = list(zip(answer["rung"], answer["people"], answer["people_se"], strict=True))
        edges = [0, *(rung for rung, _, _ in rows if rung)]
        for rung in edges[1:]:
            lost = sum(
                n * max(edges[place] + 1 - rung, 0) for place, (_, n, se) in enumerate(rows) if n > 2 * (se or 0)
            )
            noise = rung / self.present.rows if self.present.rows else math.nan
            found.append({"rows": rung, "over": self.over("rows", rung), "lost_at_least": lost, "noise": noise})
        return found

    def chart(self) -> Chart:
        """People by rows, groups and the most rows in one group."""
        data = [
            Bar(label=_label(kind, rung), value=float(n), low=float(low), high=float(high))
            for kind, answer in self.people.items()
            for rung, n, low, high in zip(
                *(answer[c] for c in ("rung", "people", "people_low", "people_high")), strict=True
            )
        ]
        note = f"Limits now: {_words(self.present)}. 0 stands for more than the rung above it."
        return bars(data, title=f"People of {self.table} by what they hold", x="people", note=note)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "table": self.table,
            "by": list(self.by),
            "limits": {kind: getattr(self.present, kind) for kind in KINDS},
            "beyond": self.beyond,
            "spent": str(self.spent),
            "symbol": self.symbol,
            "people": {kind: answer.to_dict()["rows"] for kind, answer in self.people.items()},
            "lost": self.lost.to_dict()["rows"],
            "recommended": self.recommended,
            "costs": self.costs,
        }

    def __str__(self) -> str:
        now = {kind: getattr(self.present, kind) for kind in self.people}
        over = [
            f"more than {limit} {_NAMES[kind]}: {self.over(kind, limit):.1%} of people"
            for kind, limit in now.items()
            if limit is not None
        ]
        told = [
            f"limits of {self.table}: {_words(self.present)}; spent {stated(self.symbol, self.spent)}",
            *over,
            f"rows lost to them, of each person at most {self.beyond:,}:",
            "\n".join(str(self.lost).split("\n\n")[0].splitlines()),
            "recommended: " + ", ".join(f"{kind} = {limit}" for kind, limit in self.recommended.items()),
            *(
                f"rows = {each['rows']:,}: {each['over']:.1%} of people over it, at least "
                f"{max(each['lost_at_least'], 0):,.0f} rows lost, noise {each['noise']:.3g} times that of now"
                for each in self.costs
            ),
        ]
        return "\n".join(told)

    __repr__ = __str__


_NAMES: Final = {"rows": "rows", "groups": "groups", "per_group": "rows in one group"}


def _label(kind: str, rung: int) -> str:
    return f"{_NAMES[kind]}: {f'up to {rung:,}' if rung else 'more'}"


def _words(limits: Limits) -> str:
    stated = [f"{kind} {getattr(limits, kind):,}" for kind in KINDS if getattr(limits, kind) is not None]
    return ", ".join(stated) or "none"


def ladder(limits: Limits, kind: str) -> tuple[int, ...]:
    """1, 2, 5, 10, … up to ten times the largest limit, or 1,000, and the limit itself: from what is declared alone."""
    top = 10 * max((each for each in (limits.rows, limits.groups, limits.per_group) if each is not None), default=100)
    found: list[int] = []
    power = 1
    while not found or found[-1] < top:
        found += [power, 2 * power, 5 * power]
        power *= 10
    own = getattr(limits, kind)
    return tuple(sorted({*(each for each in found if each < 10 * top), *((own,) if own is not None else ())}))


def questions(
    table: TableSchema, key: str, by: Sequence[ColumnSchema], counted: Program, beyond: int
) -> tuple[Asked, ...]:
    """The four questions, or two where there are no groups. counted: the plan of a count by the same keys."""
    inner = _windows(table.name, key, by)
    one = Limits(groups=1)
    columns = {"rows": "k", "groups": "g", "per_group": "top"} if by else {"rows": "k"}
    found = [
        Asked(name=kind, limits=one, sql=_histogram(inner, name, key, ladder(table.limits, kind)))
        for kind, name in columns.items()
    ]
    vector = counted.measures[0].vector
    bound = math.isqrt(int(vector.bound2))
    keys = ", ".join(_quoted(each.name) for each in by)
    chosen, group = (f"{keys}, ", f" GROUP BY {keys}") if by else ("", "")
    share, source = _share(inner, vector.bound2, vector.norm if by else 1)
    most = Limits(rows=bound + beyond, groups=table.limits.groups)
    sql = f"SELECT {chosen}SUM(CLAMP(1 - {share}, 0, 1)) AS lost FROM ({source}) AS t{group}"
    return (*found, Asked(name="lost", sql=sql, limits=most))


def _windows(table: str, key: str, by: Sequence[ColumnSchema]) -> str:
    """Every row with what its person has: k rows, g groups, v rows in this one, at most top, and Σ v² = sq."""
    person, names = _quoted(key), [_quoted(each.name) for each in by]
    within = ", ".join([person, *names])
    listed = " AND ".join(_among(each) for each in by if each.keys is not None)
    where = f" WHERE {listed}" if listed else ""
    chosen = "".join(f", {name}" for name in names)
    if not by:
        return f"SELECT {person}, COUNT(*) OVER (PARTITION BY {person}) AS k FROM {_quoted(table)}"
    rows = (
        f"SELECT {person}{chosen}, COUNT(*) OVER (PARTITION BY {person}) AS k, "
        f"COUNT(*) OVER (PARTITION BY {within}) AS v, "
        f"DENSE_RANK() OVER (PARTITION BY {person} ORDER BY {', '.join(names)}) AS r FROM {_quoted(table)}{where}"
    )
    return (
        f"SELECT {person}{chosen}, k, MAX(v) OVER (PARTITION BY {person}) AS top, "
        f"MAX(r) OVER (PARTITION BY {person}) AS g, SUM(v) OVER (PARTITION BY {person}) AS sq FROM ({rows}) AS a"
    )


def _share(inner: str, bound2: Fraction, norm: int) -> tuple[str, str]:
    """w, how much of a row counts: C/‖v‖, at most 1; and the relation that holds it."""
    if norm == 1:
        return f"{math.isqrt(int(bound2))} / k", inner
    source = f"SELECT *, CLAMP({int(bound2)} / sq, 0, 1) AS z FROM ({inner}) AS z0"
    source = f"SELECT *, (1 + z) / 2 AS y FROM ({source}) AS y0"
    step = "y"
    for number in range(_STEPS):
        source = f"SELECT *, ({step} + z / {step}) / 2 AS y{number} FROM ({source}) AS s{number}"
        step = f"y{number}"
    return f"CLAMP({step}, 0, 1)", source


def _histogram(inner: str, name: str, key: str, rungs: Sequence[int]) -> str:
    chosen = f"{_rung(name, rungs)} AS rung, COUNT(DISTINCT {_quoted(key)}) AS people"
    return f"SELECT {chosen} FROM ({inner}) AS t GROUP BY rung"


def _rung(name: str, rungs: Sequence[int]) -> str:
    cases = " ".join(f"WHEN {name} <= {rung} THEN {rung}" for rung in rungs)
    return f"CASE {cases} ELSE 0 END"


def _among(column: ColumnSchema) -> str:
    """Rows with another key are in no group, and count in nothing."""
    keys = [each for each in column.keys or () if each is not None]
    inside = f"{_quoted(column.name)} IN ({', '.join(map(_literal, keys))})"
    null = f" OR {_quoted(column.name)} IS NULL" if None in (column.keys or ()) else ""
    return f"({inside}{null})"


def _literal(value: Value) -> str:
    if isinstance(value, bool | int):
        return str(value).upper()
    if isinstance(value, Fraction):
        return f"{value.numerator} / {value.denominator}" if value.denominator != 1 else str(value.numerator)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    kind = "TIMESTAMP" if hasattr(value, "hour") else "DATE"
    return f"{kind} '{value}'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def chosen_columns(table: TableSchema, by: object) -> tuple[ColumnSchema, ...]:
    """The columns of `by`; where nobody says them, all that have public keys."""
    if by is None:
        return tuple(column for column in table.columns if column.keys is not None)
    names = [by] if isinstance(by, str) else list(by) if isinstance(by, Sequence) else None
    found = [table.column(str(name)) for name in names or ()]
    known = [column.name for column in table.columns if column.keys is not None]
    hint = f"Columns with public keys: {', '.join(known) or 'none'}."
    columns = tuple(each for each in found if each is not None and each.keys is not None)
    if names is None or len(columns) < len(found):
        raise ParameterError(
            "groups of a limits report are columns with public keys", where="by", got=repr(by)[:80], hint=hint
        )
    return columns


def beyond_of(given: object, counted: Program) -> int:
    """How many rows beyond the limit are looked at of each person."""
    bound = math.isqrt(int(counted.measures[0].vector.bound2))
    if given is None:
        return BEYOND * bound
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 2**20:
        raise ParameterError("expected a whole number from 1 to 2^20", where="beyond", got=str(given)[:40])
    return given


def reported(schema: Schema, table: object) -> tuple[TableSchema, str]:
    """The table of a report, and the column that identifies its people."""
    found = schema.table(table) if isinstance(table, str) else None
    private = [each.name for each in schema.tables.values() if not each.public]
    if found is None or found.public:
        hint = f"Private tables: {', '.join(private)}."
        raise ParameterError("a limits report is about a private table", where="table", got=repr(table)[:80], hint=hint)
    key = schema.unit.key
    if key is None or schema.unit.per is not None:
        hint = "Protect people by their key: each row, or each period of a person, has no histogram of people."
        raise ParameterError("a limits report is about people", where="unit", got=schema.unit.words()[:80], hint=hint)
    return found, key


def count_text(table: TableSchema, by: Sequence[ColumnSchema]) -> str:
    """The count whose limits are looked at."""
    keys = ", ".join(_quoted(each.name) for each in by)
    return f"SELECT COUNT(*) AS n FROM {_quoted(table.name)}" + (f" GROUP BY {keys}" if keys else "")
