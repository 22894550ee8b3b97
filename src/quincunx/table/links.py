"""What a link may be declared of: a private table that leads to people, and a column that means the same in both."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

from quincunx.errors import DataError
from quincunx.table.schema import ColumnSchema, Link, Schema, TableSchema

_WHERE: Final = "owner"


def check_link(schema: Schema, table: TableSchema) -> None:
    """DataError where the link of a table does not lead to people. Reads no row."""
    link, unit = table.link, schema.unit
    if link is None:
        return
    if unit.key is None:
        hint = 'Name the column that identifies a person: unit.AddRemove(key="person_id").'
        raise DataError("a link leads to people, and each row is one here", where=_WHERE, got=table.name, hint=hint)
    if table.column(unit.key) is not None:
        hint = f"Leave owner out, and the rows belong to their own {unit.key}; or leave that column out of the source."
        what = f"{table.name} leads to people through {link.via}, and has a {unit.key} of its own"
        raise DataError(what, where=_WHERE, hint=hint)
    via = _via(schema, table, link)
    mine, theirs = _column(table, link), _column(via, link)
    if mine.type != theirs.type:
        what = f"{link.on} is {mine.type} in {table.name} and {theirs.type} in {via.name}"
        hint = "Declare one type for it: '1' and '01' would lead to the same people, or to nobody."
        raise DataError(what, where=_WHERE, hint=hint)
    for column, each in ((mine, table), (theirs, via)):
        _check_plain(column, each)


def _via(schema: Schema, table: TableSchema, link: Link) -> TableSchema:
    """The table that knows whose a row is; following links from it must end with one that holds the unit's key."""
    passed = [table.name]
    found = _named(schema, link.via)
    step: TableSchema = found
    while True:
        if step.public:
            hint = "Lead through a private table: who was where is a fact about people."
            raise DataError(f"{step.name} is public, so that it leads to nobody", where=_WHERE, hint=hint)
        passed.append(step.name)
        if step.link is None:
            return found
        if len(passed) > len(schema.tables):
            got = " → ".join(passed)
            raise DataError("the links lead in a circle", where=_WHERE, got=got, hint="One table must hold the key.")
        step = _named(schema, step.link.via)


def _named(schema: Schema, name: str) -> TableSchema:
    found = schema.table(name)
    if found is None:
        hint = _close(name, (each.name for each in schema.tables.values() if not each.public))
        raise DataError(f"no table is called {name!r}", where=_WHERE, hint=hint)
    return found


def _column(table: TableSchema, link: Link) -> ColumnSchema:
    found = table.column(link.on)
    if found is None:
        hint = _close(link.on, (each.name for each in table.columns))
        raise DataError(f"{table.name} has no column {link.on!r}", where=_WHERE, hint=hint)
    return found


def _check_plain(column: ColumnSchema, table: TableSchema) -> None:
    """Bounds would make one value of several, and decimal numbers have values that equal nothing."""
    moved = column.bounds or column.span or column.keys
    if moved or column.type == "decimal":
        what = f"{table.name}.{column.name} cannot lead to people: it {'has bounds or keys' if moved else 'is decimal'}"
        hint = "Declare neither bounds nor keys of it." if moved else "Declare it an integer or a text."
        raise DataError(what, where=_WHERE, hint=hint)


def _close(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There is {', '.join(names[:20])}."
