"""Where the rows of a program come from: the columns that it reads, as its tables declare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from quincunx.data import frame_name
from quincunx.errors import QueryError
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.engine import Binding, Held
from quincunx.table.engines.rows import Source, Sources
from quincunx.table.engines.scan import read
from quincunx.table.measure import Program, columns_read
from quincunx.table.schema import Schema, TableSchema


def bound(d: Dialect, program: Program, tables: Mapping[str, Held], schema: Schema, where: str) -> Sources:
    """The sources of a program, by the numbers of its scans; `tables` by names in lower case. Reads nothing."""
    return {number: _source(d, program, number, tables, schema, where) for number in program.query.rows.tables}


def first_reading(program: Program, number: int) -> int:
    """The first scan of the same table: a table is read once in a question, however often it is named."""
    return min(_readings(program, number))


def scanned(program: Program, number: int, tables: Mapping[str, Held]) -> Binding:
    """Where the rows of a scan are, under a name that no other table of the program has."""
    asked = program.query.rows.tables[number]
    return tables[asked.name.lower()].origin.named(frame_name(first_reading(program, number)))


def _readings(program: Program, number: int) -> list[int]:
    tables = program.query.rows.tables
    return [each for each, table in tables.items() if table.name.lower() == tables[number].name.lower()]


def _source(
    d: Dialect, program: Program, number: int, tables: Mapping[str, Held], schema: Schema, where: str
) -> Source:
    asked = program.query.rows.tables[number]
    declared = schema.table(asked.name)
    if asked.name.lower() not in tables or declared is None or declared.public != asked.public:
        raise QueryError("the engine runs planned questions on its own tables", where=where)
    readings = _readings(program, number)
    origin = scanned(program, number, tables)
    used = [slot.name for slot in columns_read(program) if slot.scan in readings and not slot.level]
    owner = () if declared.public or declared.link is not None else schema.unit.columns
    # Nobody's rows are the same in all worlds.
    world = () if declared.public or program.worlds is None else (program.worlds,)
    found = reading(d, origin, declared, [*used, *owner, *world])
    return replace(
        found,
        world=found.columns[world[0].lower()] if world else None,
        table=min(readings) if len(readings) > 1 else None,
    )


def reading(d: Dialect, origin: Binding, declared: TableSchema, used: Sequence[str]) -> Source:
    """A table as it is read for these columns and those that every row must have."""
    storage = {name.lower(): kind for name, kind in origin.fields}
    required = [each.name for each in declared.required]
    names = origin.needed([*used, *required])
    chosen = [each for each in declared.columns if each.name in names]
    columns = {each.name.lower(): read(d, each, storage[each.name.lower()]) for each in chosen}
    # Whose a row is, is read before any bounds: clipped, two people could become one.
    unclipped = {each.name.lower(): read(d, each, storage[each.name.lower()], clip=False) for each in chosen}
    return Source(
        relation=origin.relation(names),
        names=tuple(names),
        columns=columns,
        unclipped=unclipped,
        once=origin.once,
        required=tuple(columns[name.lower()] for name in required),
    )
