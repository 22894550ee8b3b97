"""A person whom no invariant counts, made up from the declarations: rows are tried, and no data are read.

Candidates are values at and around everything that the invariants compare with, and NULL where a column may hold it.
What is found is a proof; that nothing is found is one only where the invariants compare columns with constants.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import islice, product
from math import floor, prod
from typing import Any, Final

from quincunx.table import ColumnSchema, Expression, Literal, Program, Query, Schema, Slot, TableSchema, Value, evaluate
from quincunx.table.operators import apply

# Rows that are tried: all combinations where there are no more, else a fixed sample of them.
_ROWS: Final = 20_000
_CANDIDATES: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A person who changes no invariant: `rows` of `table`, columns → values; columns not named are free."""

    table: str
    rows: tuple[Mapping[str, Value], ...]

    def words(self) -> str:
        """Who that is, for the curator."""
        shown = " and ".join(
            ", ".join(f"{name} {'NULL' if value is None else value}" for name, value in row.items()) or "any values"
            for row in self.rows
        )
        return f"a person with {'one row' if len(self.rows) == 1 else 'two rows'} in {self.table}: {shown}"


def witness(programs: Sequence[Program], schema: Schema) -> Witness | None:
    """A possible person whom no invariant counts; None where none was found."""
    for table in schema.tables.values():
        asked = [program for program in programs if _reads(program, table)]
        # Nobody is in a linked table alone.
        if table.public or table.link is not None:
            continue
        found = _person(asked, table, schema) if asked else Witness(table=table.name, rows=({},))
        if found is not None:
            return found
    return None


def _person(programs: Sequence[Program], table: TableSchema, schema: Schema) -> Witness | None:
    roots = [root for program in programs for root in expressions_of(program.query)]
    literals = [node.value for root in roots for node in root.walk() if isinstance(node, Literal)]
    used = {column.name.lower() for root in roots for column in root.columns()}
    unit = schema.unit
    # Rows without an owner are left out of everything.
    owner = {name.lower() for name in unit.columns}
    columns = [column for column in table.columns if column.name.lower() in used]
    choices = [_candidates(column, literals, owner=column.name.lower() in owner) for column in columns]
    # Two rows of one person may cancel in a sum.
    several = unit.per is None and unit.key is not None
    known: dict[frozenset[tuple[Any, Fraction]], dict[str, Value]] = {}
    for chunk in _chunks(_rows(choices)):
        rows = [dict(zip((column.name for column in columns), row, strict=True)) for row in chunk]
        for row, (counted, sums) in zip(rows, _contributions(programs, rows), strict=True):
            if counted:
                continue
            if not sums:
                return Witness(table=table.name, rows=(row,))
            opposite = known.get(frozenset((place, -amount) for place, amount in sums.items()))
            if opposite is not None and several:
                return Witness(table=table.name, rows=(opposite, row))
            known.setdefault(frozenset(sums.items()), row)
    return None


def _contributions(
    programs: Sequence[Program], rows: Sequence[Mapping[str, Value]]
) -> list[tuple[bool, dict[Any, Fraction]]]:
    """For each row: whether a count includes it, and what it adds to which sum, nothing where that is 0."""
    counted, sums = [False] * len(rows), [dict[Any, Fraction]() for _ in rows]
    given = {Slot(name): [row[name] for row in rows] for name in rows[0]} if rows and rows[0] else {}
    for number, program in enumerate(programs):
        query = program.query
        condition, *_ = _conditions(query)
        # A row without columns still is a row.
        true = [[True] * len(rows)]
        passes = _values([condition], given, len(rows)) if condition is not None else true
        keys = _values([query.rows.base(key.expression) for key in query.keys], given, len(rows))
        inside = [
            passes[0][row] is True
            and all(key.values is None or keys[i][row] in key.values for i, key in enumerate(query.keys))
            for row in range(len(rows))
        ]
        for index, aggregate in enumerate(query.aggregates):
            where = true if aggregate.where is None else _values([query.rows.base(aggregate.where)], given, len(rows))
            argument = None if aggregate.argument is None else query.rows.base(aggregate.argument)
            values = [[Fraction(0)] * len(rows)] if argument is None else _values([argument], given, len(rows))
            (lattice,) = program.lattices(index)
            for row in range(len(rows)):
                if not inside[row] or where[0][row] is not True or values[0][row] is None:
                    continue
                if aggregate.counts:
                    counted[row] = True
                    continue
                step = min(
                    max(floor(Fraction(values[0][row]) / lattice.step + Fraction(1, 2)), lattice.low), lattice.high
                )
                if step:
                    place = (number, index, tuple(keys[i][row] for i in range(len(query.keys))))
                    sums[row][place] = sums[row].get(place, Fraction(0)) + step
    return list(zip(counted, sums, strict=True))


def _values(
    expressions: Sequence[Expression], given: Mapping[Slot, Sequence[Value]], count: int
) -> list[Sequence[Any]]:
    if not expressions:
        return []
    if not given:
        return [list(found) * count for found in evaluate(expressions, {})]
    return list(evaluate(expressions, given))


def expressions_of(query: Query) -> Iterator[Expression]:
    """Every expression of an invariant, over the columns of its table."""
    yield from _conditions(query)[1:]
    for part in (*(key.expression for key in query.keys), *(each.argument for each in query.aggregates)):
        if part is not None:
            yield query.rows.base(part)
    yield from (query.rows.base(each.where) for each in query.aggregates if each.where is not None)


def _conditions(query: Query) -> tuple[Any, ...]:
    """All conditions of the rows as one, or None, and then each by itself."""
    rows = query.rows.fused()
    found = [part for relation in rows.walk() for part in relation.expressions]
    if not found:
        return (None,)
    return (found[0] if len(found) == 1 else apply("and", *found), *found)


def _reads(program: Program, table: TableSchema) -> bool:
    return any(each.name.lower() == table.name.lower() for each in program.query.rows.tables.values())


def columns_of(expression: Expression) -> set[str]:
    return {column.name.lower() for column in expression.columns()}


def _rows(choices: Sequence[Sequence[Value]]) -> Iterator[tuple[Value, ...]]:
    if prod(len(each) for each in choices) <= _ROWS:
        yield from product(*choices)
        return
    # Rows that differ from the first in one place, then a fixed sample.
    first = tuple(each[0] for each in choices)
    for place, each in enumerate(choices):
        yield from ((*first[:place], value, *first[place + 1 :]) for value in each)
    source = random.Random("rows of a witness")
    for _ in range(_ROWS):
        yield tuple(source.choice(each) for each in choices)


def _chunks(rows: Iterator[tuple[Value, ...]]) -> Iterator[list[tuple[Value, ...]]]:
    # The first rows mostly do.
    size = 64
    while chunk := list(islice(rows, size)):
        yield chunk
        size = 4096


def _candidates(column: ColumnSchema, literals: Sequence[Value], *, owner: bool) -> list[Value]:
    """Values of the column's type at and around everything that the invariants compare with; NULL first."""
    near: list[Value] = [] if owner or not column.nullable else [None]
    near += _AROUND[column.type](literals, column)
    listed = [] if column.keys is None else [key for key in column.keys[:4] if key is not None]
    kept = [value for value in dict.fromkeys([*near, *listed]) if _possible(value, column)]
    return kept[:_CANDIDATES] or list(column.span or [None])


def _possible(value: Value, column: ColumnSchema) -> bool:
    if column.span is not None and isinstance(value, date):
        return column.span[0] <= value <= column.span[1]
    if column.bounds is None or not isinstance(value, int | Fraction):
        return True
    return column.bounds[0] <= value <= column.bounds[1]


def _numbers(literals: Sequence[Value], column: ColumnSchema) -> list[Value]:
    written = [Fraction(each) for each in literals if isinstance(each, int | Fraction) and not isinstance(each, bool)]
    ends = list(column.bounds or ())
    step = column.step or Fraction(1)
    wanted = [Fraction(0), Fraction(1), Fraction(-1), *written, *ends]
    wanted += [value + move for value in (*written, *ends) for move in (step, -step)]
    if column.type == "integer":
        return [floor(value) for value in wanted]
    return [*wanted, *(value + Fraction(1, 3) for value in written)]


def _texts(literals: Sequence[Value], _: ColumnSchema) -> list[Value]:
    written = [each for each in literals if isinstance(each, str)]
    return ["", *written, *(each + "~" for each in written), "~", "Zz 9"]


def _moments(literals: Sequence[Value], column: ColumnSchema) -> list[Value]:
    written = [each for each in literals if isinstance(each, date)] + [date(1900, 1, 1), date(2000, 2, 29)]
    written += column.span or ()
    days = [each + timedelta(days=move) for each in written for move in (0, 1, -1)]
    if column.type == "date":
        return [each.date() if isinstance(each, datetime) else each for each in days]
    return [each if isinstance(each, datetime) else datetime(each.year, each.month, each.day) for each in days]


def _truths(_: Sequence[Value], __: ColumnSchema) -> list[Value]:
    return [True, False]


_AROUND: Final[Mapping[str, Any]] = {
    "integer": _numbers,
    "decimal": _numbers,
    "text": _texts,
    "date": _moments,
    "timestamp": _moments,
    "boolean": _truths,
}
