"""The specification of a dataset of tables: its five blocks, from what the curator declares."""

from __future__ import annotations

from quincunx.errors import SpecificationError, under
from quincunx.numbers import Log, Number
from quincunx.spec import Budgeted, Everything, Scope, Specification, Tables
from quincunx.table import Link, Schema, TableSchema


def specification(
    schema: Schema, standard: Budgeted, intensity: Number | Log, scope: Scope | None = None
) -> Specification:
    """The guarantee for all private tables together, everywhere or in a narrower scope."""
    return Specification(
        domain=domain(schema), scope=scope or Everything(), unit=schema.unit, standard=standard, intensity=intensity
    )


def domain(schema: Schema) -> Tables:
    """The columns of the private tables.

    One private table: its columns. Several: the columns that identify a unit of protection once, because they are the
    same person or period in every table, and the others as table.column. A linked table has the latter alone.
    """
    private = [table for table in schema.tables.values() if not table.public]
    if not private:
        hint = "Declare at least one table without public = true."
        raise SpecificationError("there is no private table, so there is nothing to protect", where="tables", hint=hint)
    if len(private) == 1:
        # Names are compared without case in SQL, and exactly in a specification: the unit's spelling stands.
        spelled = {name.lower(): name for name in schema.unit.columns}
        return Tables(columns=[(spelled.get(c.name.lower(), c.name), c.type) for c in private[0].columns])
    with under("unit"):
        shared = [_shared(name, [table for table in private if table.link is None]) for name in schema.unit.columns]
    names = {name.lower() for name, _ in shared}
    rest = [
        (f"{table.name}.{column.name}", column.type)
        for table in private
        for column in table.columns
        if table.link is not None or column.name.lower() not in names
    ]
    links = [(each.name, *_ends(schema, each.link)) for each in private if each.link is not None]
    return Tables(columns=[*shared, *rest], links=links)


def _ends(schema: Schema, link: Link) -> tuple[str, str]:
    """The table through which a link leads, and its column, as they are spelled there."""
    via = schema.table(link.via)
    column = None if via is None else via.column(link.on)
    return (link.via if via is None else via.name), (link.on if column is None else column.name)


def _shared(name: str, tables: list[TableSchema]) -> tuple[str, str]:
    types = {}
    for table in tables:
        column = table.column(name)
        if column is None:
            hint = "Every private table says whose rows they are."
            raise SpecificationError(f"table {table.name!r} has no column {name!r}", where="unit", hint=hint)
        types[table.name] = column.type
    if len(set(types.values())) > 1:
        got = ", ".join(f"{table}: {kind}" for table, kind in types.items())
        hint = "Declare one type for it in every private table."
        raise SpecificationError(
            f"column {name!r} identifies people by different types", where="unit", got=got, hint=hint
        )
    return name, next(iter(types.values()))
