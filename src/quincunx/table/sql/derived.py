"""Keys whose values follow from declared facts: an image of the key's expression that holds whatever a row may hold.

A column with bounds, or a truth value, has a list of values; a function of listed values has a list, computed on all of
them; a date part, a whole number with proved bounds, and FLOOR, CEIL and ROUND of a bounded number have one by
themselves. NULL is in a list unless it cannot occur. Nothing is read from the data. See derived.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Final

from quincunx.table.expression import Call, Column, Expression, Literal, Slot, Value
from quincunx.table.plan import Key
from quincunx.table.schema import ColumnSchema
from quincunx.table.sql import grid
from quincunx.table.sql.keys import COMBINATIONS, GROUPS, Declared, Evaluate
from quincunx.table.sql.names import Rows

Values = list[Value]

# Whole numbers up to here are the same in every type of an engine.
EXACT: Final = 2**53


def completed(keys: tuple[Key, ...], rows: Rows, evaluate: Evaluate | None) -> tuple[Key, ...]:
    """The keys with the lists that follow from declarations, if all of them have lists then; else as they were."""
    if evaluate is None or all(key.values is not None for key in keys):
        return keys
    found = []
    for key in keys:
        if key.values is not None:
            found.append(key)
            continue
        base = rows.relation.traced(key.expression)
        listed = values(base, rows.relation.declared, evaluate)
        if listed is None:
            return keys
        found.append(replace(key, values=listed, complete=not _listed(base, rows.relation.declared)))
    return tuple(found) if math.prod(len(key.values or ()) for key in found) <= GROUPS else keys


def values(base: Expression, declared: Declared, evaluate: Evaluate) -> tuple[Value, ...] | None:
    """All values that the expression can have, in order and NULL last; None where they do not follow."""
    found = _Image(declared=declared, evaluate=evaluate).of(base)
    if found is None or len(set(found)) > GROUPS:
        return None
    return tuple(sorted(set(found), key=lambda value: (value is None, 0 if value is None else value)))


def _listed(base: Expression, declared: Declared) -> bool:
    """Whether declared keys take part, so that rows with others are left out."""
    used = [declared(column) for column in base.columns()]
    return any(each is not None and each.keys is not None for each in used)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Image:
    """What expressions over scanned columns can be."""

    declared: Declared
    evaluate: Evaluate

    def of(self, node: Expression) -> Values | None:
        """A list that holds every value of the node on every row; None where there is none."""
        if isinstance(node, Literal):
            return [node.value]
        if isinstance(node, Column):
            return column(self.declared(node))
        if not isinstance(node, Call) or (node.type == "decimal" and not grid.whole_steps(node)):
            return None
        if node.operator in _CHOICES:
            return self._union(node, _CHOICES[node.operator](node))
        if node.type == "boolean":
            return [True, False, *([None] if node.nullable else [])]
        for way in (self._whole, self._calendar, self._parts, self._range):
            found = way(node)
            if found is not None:
                return found
        return None

    def _union(self, node: Call, parts: Iterable[Expression]) -> Values | None:
        found: Values = []
        for part in parts:
            outcomes = self.of(part)
            if outcomes is None:
                return self._whole(node) or self._range(node)
            found += outcomes
        if node.operator == "coalesce" and not node.nullable:
            return [value for value in found if value is not None]
        return [*found, None] if node.operator == "nullif" else found

    def _whole(self, node: Call) -> Values | None:
        """On all combinations of the columns below."""
        columns = {part.slot: part for part in node.columns()}
        return self._computed(node, {slot: column(self.declared(columns[slot])) for slot in sorted(columns)})

    def _parts(self, node: Call) -> Values | None:
        """On all combinations of what the arguments can be, as if they had nothing to do with one another."""
        named: dict[Slot, Values | None] = {}
        arguments: list[Expression] = []
        for place, part in enumerate(node.arguments):
            if isinstance(part, Literal):
                arguments.append(part)
                continue
            argument = Column(name=f"part{place}", **part.facts)
            named[argument.slot] = self.of(part)
            arguments.append(argument)
        return self._computed(replace(node, arguments=tuple(arguments)), named)

    def _computed(self, node: Call, lists: Mapping[Slot, Values | None]) -> Values | None:
        known = [each for each in lists.values() if each is not None]
        if not lists or len(known) < len(lists) or math.prod(map(len, known)) > COMBINATIONS:
            return None
        rows = list(itertools.product(*known))
        columns = {slot: [row[i] for row in rows] for i, slot in enumerate(lists)}
        return list(dict.fromkeys(self.evaluate([node], columns)[0]))

    def _calendar(self, node: Call) -> Values | None:
        """A date part, a period or the day of a timestamp with bounds, on one moment of each day or smaller unit."""
        inner = node.arguments[-1]
        declared = self.declared(inner) if isinstance(inner, Column) else None
        if declared is None or declared.type != "timestamp" or declared.span is None:
            return None
        unit = _unit(node)
        moments = None if unit is None else _moments(declared.span, unit)
        if moments is None or not isinstance(inner, Column):
            return None
        nothing: Values = [None] if declared.nullable else []
        if node.operator == "date_trunc" and unit is not None and unit < _DAY:
            return [_floor(moments[0], unit), *moments[1:], *nothing]
        return self._computed(node, {inner.slot: [*moments, *nothing]})

    def _range(self, node: Call) -> Values | None:
        """All steps between two ends."""
        ends = grid.ends(node, self._at)
        if ends is None:
            return None
        first, last, step = ends
        if last - first >= GROUPS or max(abs(first), abs(last)) * max(step, Fraction(1)) >= EXACT:
            return None
        found: Values = [int(k * step) if node.type == "integer" else k * step for k in range(first, last + 1)]
        return [*found, *([None] if self._missing(node) else [])]

    def _at(self, node: Expression) -> Sequence[Value] | None:
        """The node at the ends of the bounds of its only column, as the engine computes it."""
        (changing,) = set(node.columns())
        declared = self.declared(changing)
        if declared is None or declared.bounds is None:
            return None
        low, high = declared.bounds
        ends: tuple[Value, Value] = (low, high)
        if declared.type == "integer":
            ends = (math.ceil(low), math.floor(high))
        return self.evaluate([node], {changing.slot: ends})[0]

    def _missing(self, node: Expression) -> bool:
        """Whether NULL is possible. A date part is NULL where its date is, and nowhere else."""
        if isinstance(node, Call) and node.operator in ("date_part", "date_trunc"):
            return self._missing(node.arguments[1])
        return node.nullable


def column(declared: ColumnSchema | None) -> Values | None:
    """The values of a column as it is scanned: its keys, or all between its bounds; NULL unless it is declared not."""
    if declared is None or declared.type == "decimal":
        return None
    if declared.keys is not None:
        return list(declared.keys)
    nothing: Values = [None] if declared.nullable else []
    if declared.type == "boolean":
        return [True, False, *nothing]
    if declared.type == "integer" and declared.bounds is not None:
        low, high = math.ceil(declared.bounds[0]), math.floor(declared.bounds[1])
        small = high - low < GROUPS and max(abs(low), abs(high)) < EXACT
        return [*range(low, high + 1), *nothing] if small else None
    if declared.type == "date" and declared.span is not None:
        first, last = declared.span
        days = (last - first).days + 1
        return [*(first + timedelta(days=day) for day in range(days)), *nothing] if days <= GROUPS else None
    return None


def _case(node: Call) -> Iterable[Expression]:
    last = len(node.arguments) - 1
    return [node.arguments[i] for i in (*range(1, last, 2), last)]


_CHOICES: Final[Mapping[str, Callable[[Call], Iterable[Expression]]]] = {
    "case": _case,
    "coalesce": lambda node: node.arguments,
    "nullif": lambda node: node.arguments[:1],
}

_DAY: Final = timedelta(days=1)
_UNITS: Final = {"hour": timedelta(hours=1), "minute": timedelta(minutes=1), "second": timedelta(seconds=1)}


def _unit(node: Call) -> timedelta | None:
    """The span of time within which the node has one value, counted from midnight; None where there is none."""
    if node.operator == "cast":
        return _DAY if node.type == "date" else None
    if node.operator not in ("date_part", "date_trunc"):
        return None
    name = node.arguments[0]
    unit = _UNITS.get(str(name.value)) if isinstance(name, Literal) else None
    # The hour of a moment is not bounded by the moments: it has its own range.
    return _DAY if unit is None else unit if node.operator == "date_trunc" else None


def _moments(span: tuple[date, date], unit: timedelta) -> list[datetime] | None:
    """The first moment, and then the beginning of every unit up to the last."""
    first, last = span
    if not isinstance(first, datetime) or not isinstance(last, datetime):
        return None
    begin = _floor(first, unit)
    count = (last - begin) // unit
    return None if count >= GROUPS else [first, *(begin + unit * k for k in range(1, count + 1))]


def _floor(moment: datetime, unit: timedelta) -> datetime:
    midnight = datetime(moment.year, moment.month, moment.day)
    return midnight + (moment - midnight) // unit * unit
