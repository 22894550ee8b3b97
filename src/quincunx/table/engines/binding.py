"""Where the rows of a program come from: the columns that it reads, as its tables declare them."""

from __future__ import annotations

from collections.abc import Mapping

from quincunx.data import frame_name
from quincunx.errors import QueryError
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.engine import Binding, Held
from quincunx.table.engines.rows import Source, Sources
from quincunx.table.engines.scan import read
from quincunx.table.measure import Program, columns_read
from quincunx.table.schema import Schema


def bound(d: Dialect, program: Program, tables: Mapping[str, Held], schema: Schema, where: str) -> Sources:
    """The sources of a program, by the numbers of its scans; `tables` by names in lower case. Reads nothing."""
    return {number: _source(d, program, number, tables, schema, where) for number in program.query.rows.tables}


def scanned(program: Program, number: int, tables: Mapping[str, Held]) -> Binding:
    """Where the rows of a scan are, under a name that no other scan of the program has."""
    return tables[program.query.rows.tables[number].name.lower()].origin.named(frame_name(number))


def _source(
    d: Dialect, program: Program, number: int, tables: Mapping[str, Held], schema: Schema, where: str
) -> Source:
    asked = program.query.rows.tables[number]
    declared = schema.table(asked.name)
    if asked.name.lower() not in tables or declared is None or declared.public != asked.public:
        raise QueryError("the engine runs planned questions on its own tables", where=where)
    origin = scanned(program, number, tables)
    storage = {name.lower(): kind for name, kind in origin.fields}
    required = [each.name for each in declared.required]
    used = [slot.name for slot in columns_read(program) if (slot.scan, slot.level) == (number, 0)]
    owner = () if declared.public else schema.unit.columns
    names = origin.needed([*used, *owner, *required])
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
