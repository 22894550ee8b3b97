"""Facts that are published exactly: they narrow the scope of the guarantee, and cost nothing inside it.

A release of the invariants alone has the same law on every dataset of a universe, so its loss there is 0. Outside,
where datasets disagree on them, no budget would be enough. See invariants.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from quincunx.errors import DataError, ParameterError, QueryError, QuincunxError, kind_of
from quincunx.release.column import Column
from quincunx.release.stored import value_in, value_out
from quincunx.release.toml import placed
from quincunx.spec import Everything, Invariants, Scope
from quincunx.table import GroupKey, Limits, Measured, Program, Query, Schema, decimals, evaluate, exact_decimal
from quincunx.table import planned as plan
from quincunx.table import sql as reader

FORMAT: Final = "quincunx/invariant/1"
# Nobody has so many rows or groups, so nobody is weighted; far below what exact sums can hold.
_UNBOUNDED: Final = Limits(rows=2**30, groups=2**14)


# Name → SQL, or a list of SQL texts and of {"name": …, "sql": …}.
InvariantTexts: TypeAlias = Mapping[str, str] | Iterable[str | Mapping[str, str]]


def read_invariants(given: object) -> dict[str, str]:
    """Name → SQL, from a mapping, or from a list of SQL texts, which are named invariant_1, invariant_2, …

    An element of the list may also be {"name": …, "sql": …}.
    """
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, Iterable) and not isinstance(given, str):
        pairs = [_pair(number, each) for number, each in enumerate(given, start=1)]
    else:
        raise _unreadable(given)
    for name, text in pairs:
        if not (isinstance(name, str) and name and isinstance(text, str) and text.strip()):
            raise _unreadable(text)
    found = {name: " ".join(text.split()) for name, text in pairs}
    if len(found) < len(pairs):
        raise ParameterError("two invariants have one name", where="invariants", hint="Give each its own name.")
    return found


def scope(invariants: Mapping[str, str]) -> Scope:
    """The datasets that agree on all of them; everything where there are none."""
    return Invariants(invariants) if invariants else Everything()


def program(text: str, schema: Schema) -> Program:
    """The plan of an exact fact: counts and sums by keys, with limits that bind nobody."""
    tables = {name: replace(table, limits=_UNBOUNDED) for name, table in schema.tables.items()}
    unbounded = Schema(tables=tables, unit=schema.unit)
    try:
        # Keys that exist are shown, as ever: an invariant is stored under what it was when it was registered.
        query = reader.read(text, unbounded, evaluate, derive=False)
        _check(query)
        return plan(query, unbounded, 1)
    except QuincunxError as error:
        raise placed(error, "invariants") from None


def encode(planned: Program, exact: Any) -> dict[str, Any]:
    """The exact fact as a JSON value, its rows in an order that depends on the keys alone."""
    order = sorted(range(len(exact.keys)), key=lambda place: _rank(exact.keys[place], planned.query.known_keys, place))
    amounts = [
        [str(int(numbers[place]) * measure.unit) for place in order]
        for numbers, measure in zip(exact.measures, planned.measures, strict=True)
    ]
    keys = [[value_out(value) for value in exact.keys[place]] for place in order]
    return {"format": FORMAT, "keys": keys, "amounts": amounts}


def columns(planned: Program, content: Mapping[str, Any]) -> tuple[Column, ...]:
    """The stored fact as columns. Exact values have no companions: there is no noise to tell of."""
    if content.get("format") != FORMAT:
        got, hint = str(content.get("format"))[:40], "A newer version wrote it: update Quincunx."
        raise DataError(f"expected a stored fact of format {FORMAT}", where="ledger", got=got, hint=hint)
    found: list[Column] = []
    for output in planned.query.outputs:
        match output.expression:
            case GroupKey(index=index, type=kind):
                values = tuple(value_in(key[index]) for key in content["keys"])
                found.append(Column(name=output.name, type=kind, role="key", values=values))
            case Measured(index=index):
                found.append(_exact(output.name, planned, index, content))
    return tuple(found)


def _exact(name: str, planned: Program, index: int, content: Mapping[str, Any]) -> Column:
    (part,), (lattice,) = planned.parts[index], planned.lattices(index)
    amounts = [Fraction(text) for text in content["amounts"][part]]
    scale = decimals(lattice.step)
    whole = lattice.step.denominator == 1
    kind = "integer" if whole else "decimal" if scale is not None else "float"
    values: list[Any] = [int(amount) if whole else float(amount) for amount in amounts]
    if kind == "decimal" and scale is not None:
        values = [exact_decimal(amount, scale) for amount in amounts]
    note = "published exactly: an invariant"
    return Column(name=name, type=kind, role="value", values=tuple(values), scale=scale or 0, note=note)


def _check(query: Query) -> None:
    hint = "Write SELECT keys, COUNT(*) or SUM(x) FROM table [WHERE …] GROUP BY keys."
    if query.having is not None or query.order or query.limit is not None or query.offset:
        raise QueryError("an invariant has no HAVING, ORDER BY or LIMIT", hint=hint)
    if len(query.rows.tables) > 1:
        names = ", ".join(dict.fromkeys(table.name for table in query.rows.tables.values()))
        raise QueryError("an invariant reads one table, which says itself whose its rows are", got=names, hint=hint)
    if not all(each.rowwise for each in query.rows.walk()):
        raise QueryError("an invariant counts rows as they are, each by itself", hint=hint)
    for aggregate in query.aggregates:
        if not aggregate.linear:
            raise QueryError("an invariant is made of counts and sums", got=aggregate.names[0], hint=hint)
    if not all(isinstance(output.expression, GroupKey | Measured) for output in query.outputs):
        raise QueryError("an invariant publishes keys and aggregates as they are", hint=hint)


def _rank(key: tuple[Any, ...], known: bool, place: int) -> tuple[Any, ...]:
    # Public keys keep their order; others are sorted, NULL last.
    return (place,) if known else tuple((value is None, 0 if value is None else value) for value in key)


def _pair(number: int, each: object) -> tuple[Any, Any]:
    if isinstance(each, Mapping) and set(each) == {"name", "sql"}:
        return each["name"], each["sql"]
    return f"invariant_{number}", each


def _unreadable(value: object) -> ParameterError:
    hint = 'Write ["SELECT county, COUNT(*) AS n FROM persons GROUP BY county"], or {name: sql}.'
    return ParameterError("cannot read the invariants", where="invariants", got=kind_of(value), hint=hint)
