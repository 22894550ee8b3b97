"""Where the rows of a program come from: the columns that it reads, as its table declares them, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quincunx.errors import QueryError
from quincunx.table.engines.dialect import Dialect
from quincunx.table.engines.scan import read
from quincunx.table.engines.statement import Source, owners
from quincunx.table.measure import Program, columns_read
from quincunx.table.plan import Filter, Scan
from quincunx.table.schema import Schema

if TYPE_CHECKING:
    from quincunx.table.source import Table


def bound(d: Dialect, program: Program, tables: Mapping[str, Table], schema: Schema, where: str) -> tuple[Source, str]:
    """The source of a program, and the name of its table; `tables` by names in lower case. Reads nothing."""
    rows = program.query.rows
    scan = rows.source if isinstance(rows, Filter) else rows
    if not isinstance(scan, Scan) or scan.table.lower() not in tables:
        raise QueryError("the engine runs planned questions on its own tables", where=where)
    origin, declared = tables[scan.table.lower()].origin, schema.table(scan.table)
    if declared is None or declared.public:
        raise QueryError("the engine runs questions on private tables", where=where, got=scan.table)
    storage = {name.lower(): kind for name, kind in origin.fields}
    required = [each.name for each in declared.required]
    names = origin.needed([*columns_read(program), *schema.unit.columns, *required])
    chosen = [each for each in declared.columns if each.name in names]
    columns = {each.name.lower(): read(d, each, storage[each.name.lower()]) for each in chosen}
    # Whose a row is, is read before any bounds: clipped, two people could become one.
    unclipped = {each.name.lower(): read(d, each, storage[each.name.lower()], clip=False) for each in chosen}
    source = Source(
        relation=origin.relation(names),
        names=tuple(names),
        columns=columns,
        owners=owners(d, schema.unit, unclipped),
        once=origin.once,
        required=tuple(columns[name.lower()] for name in required),
    )
    return source, scan.table.lower()
