"""Snapshots: tables as the scan gave them once, kept in the memory of the engine. See snapshot.md.

A table is kept with its hidden owner columns o0, o1 …, its columns c0, c1 … in their declared types and within their
bounds, those that can be added up also on their lattices as l0, l1 …, and n, the number of rows that the row's owner
has in the whole table.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

import duckdb
from sqlglot import exp

from quincunx.data import Origin
from quincunx.errors import DataError, QuincunxError
from quincunx.table.aggregates import Factor, lattice_of
from quincunx.table.engines import weights
from quincunx.table.engines.binding import reading
from quincunx.table.engines.duckdb import kept_file
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.engine import Held, KeptFile
from quincunx.table.engines.keys import normal
from quincunx.table.engines.lattice import present, stepped
from quincunx.table.engines.rows import Rows, Source, hidden, rows, select
from quincunx.table.engines.typed_sql import Piece, column
from quincunx.table.expression import NUMBERS, Column
from quincunx.table.measure import Program
from quincunx.table.relations import Scan
from quincunx.table.schema import Schema, TableSchema

# So many sets of owners are kept; a question with a further limit or key looks at its own rows.
_CROWDS: Final = 64


class Snapshot:
    """The tables of one engine that are read once. tables: by their names in lower case. `make` alone reads rows."""

    __slots__ = ("_crowds", "_lock", "_made", "_places", "_schema", "_stepped", "_tables")

    def __init__(self, tables: Mapping[str, Held], schema: Schema) -> None:
        self._tables, self._schema = dict(tables), schema
        self._places = {name: place for place, name in enumerate(self._tables)}
        self._made: set[str] = set()
        self._stepped: dict[str, dict[int, Factor]] = {}
        # Tables of owners who can be over a limit in ℓ2, by their names, as SELECTs over a kept table.
        self._crowds: dict[str, str] = {}
        self._lock = threading.Lock()

    def __contains__(self, table: str) -> bool:
        return table in self._tables

    def name(self, table: str) -> str:
        """What a kept table is called in the engine."""
        return f"snapshot{self._places[table]}"

    def source(self, table: str, read: Source) -> Source:
        """The kept table in the place of a source that would read it again. Reads nothing."""
        declared = self._declared(table)
        places = {each.name.lower(): place for place, each in enumerate(declared.columns)}
        columns = {name: Piece(sql=column(f"c{places[name]}"), type=piece.type) for name, piece in read.columns.items()}
        world = [columns[name] for name, piece in read.columns.items() if piece is read.world]
        scan = self._scan(table)
        found = {} if scan is None or scan.owner is None else hidden(DUCKDB, scan.owner, read)
        owners = {name: Piece(sql=column(name), type=piece.type) for name, piece in found.items()}
        return replace(
            read,
            relation=exp.to_table(self.name(table)),
            columns=columns,
            unclipped={},
            once=False,
            required=(),
            world=world[0] if world else None,
            table=None,
            owners=None if scan is None else owners,
            held=Piece(sql=column("n"), type="BIGINT") if owners else None,
            steps={
                declared.columns[place].name.lower(): (factor.lattice, Piece(sql=column(f"l{place}"), type="BIGINT"))
                for place, factor in self._factors(table).items()
            },
        )

    def crowd(self, program: Program, source: Source) -> str | None:
        """The name of the owners among whom those over the limit in ℓ2 are, for a program over a kept table; None
        where it asks for none, or where too many are kept. Reads nothing.
        """
        vectors = [each.vector for each in program.measures if each.vector.kind == "rows" and each.vector.bits]
        columns = [
            (len(key.values or ()), source.columns[key.expression.name.lower()])
            for key in program.query.keys
            # On a lattice several values are one key, and a crowd of the values would miss people.
            if isinstance(key.expression, Column) and not key.expression.level and key.stepped is None
        ]
        if not vectors or vectors[0].norm != 2 or not columns or program.worlds is not None:
            return None
        # The more groups, the fewer are over the limit.
        _, key = max(columns, key=lambda each: each[0])
        kept = source.relation.name
        name = f"{kept}_{key.sql.name}_{int(vectors[0].bound2)}"
        owners = list(source.owners or ())
        with self._lock:
            if name not in self._crowds and len(self._crowds) < _CROWDS:
                select = weights.crowded(DUCKDB, vectors[0], owners, normal(DUCKDB, key), kept)
                self._crowds[name] = DUCKDB.written(select)
            return name if name in self._crowds else None

    def gather(self, crowd: str, cursor: duckdb.DuckDBPyConnection) -> None:
        """Keep the owners of a crowd, whose table is kept, unless that was done."""
        with self._lock:
            if crowd not in self._made:
                cursor.execute(f"CREATE TABLE {crowd} AS {self._crowds[crowd]}")
                self._made.add(crowd)

    def gather_made_up(self, crowd: str, cursor: duckdb.DuckDBPyConnection) -> None:
        """The same of made-up rows, which this connection calls as the kept table is called."""
        cursor.execute(f"CREATE TEMP TABLE {crowd} AS {self._crowds[crowd]}")

    def rested(self, file: KeptFile) -> dict[str, str]:
        """The tables, by what they are called in the engine, with their names in a file. Reads nothing."""
        return {self.name(table): self._rested(file, table) for table in self._tables}

    def rest(self, file: KeptFile, connection: duckdb.DuckDBPyConnection) -> None:
        """Read the rows of all tables into the file that the connection uses."""
        for table in self._tables:
            with self._origin(table).reading(connection, self.names(table)) as relation:
                self.keep(table, relation, self._rested(file, table), connection)

    def found(self) -> None:
        """All tables are there: a file shows them."""
        self._made.update(self._tables)

    def _rested(self, file: KeptFile, table: str) -> str:
        return kept_file.name_of(file, table, list(self._statements(table, exp.to_table("source"), "kept")))

    def make(self, table: str, cursor: duckdb.DuckDBPyConnection) -> None:
        """Read the rows of a table and keep them, unless that was done. All of it is kept or, if it fails, none."""
        with self._lock:
            if table in self._made:
                return
            origin, names = self._origin(table), self.names(table)
            with origin.reading(cursor, names) as relation:
                self.keep(table, relation, self.name(table), cursor)
            self._made.add(table)

    def keep(self, table: str, relation: exp.Expression, name: str, cursor: duckdb.DuckDBPyConnection) -> None:
        """Keep the rows that stand in a relation, under a name."""
        cursor.begin()
        try:
            for statement in self._statements(table, relation, name):
                cursor.execute(statement)
            cursor.commit()
        except BaseException:
            cursor.rollback()
            raise

    def names(self, table: str) -> list[str]:
        """The columns of a table that are kept: all that questions can see."""
        return self._origin(table).needed([each.name for each in self._declared(table).columns])

    def forget(self) -> None:
        """The connection that held the tables is gone; a further question makes them anew."""
        self._made.clear()

    def _statements(self, table: str, relation: exp.Expression, name: str) -> Iterator[str]:
        declared = self._declared(table)
        read = replace(reading(DUCKDB, self._origin(table), declared, self.names(table)), relation=relation)
        found = self._scanned(table, read)
        scanned = select(DUCKDB, found, [read.columns[each.name.lower()] for each in declared.columns])
        for place, factor in self._factors(table).items():
            piece = read.columns[declared.columns[place].name.lower()]
            scanned = scanned.select(exp.alias_(stepped(DUCKDB, factor, piece), f"l{place}"), copy=False)
        owners = list(found.owners)
        first = f"{name}_scanned" if owners else name
        yield f"CREATE TABLE {first} AS {DUCKDB.written(scanned)}"
        if owners:
            yield f"CREATE TABLE {name} AS {_counted(first, owners, declared.limits.rows)}"
            yield f"DROP TABLE {first}"

    def _declared(self, table: str) -> TableSchema:
        declared = self._schema.table(table)
        if declared is None:
            raise DataError("no such table", where="snapshot", got=table)
        return declared

    def _scan(self, table: str) -> Scan | None:
        """The scan of a table; None where another table says whose its rows are, so that they have no owner here."""
        declared = self._declared(table)
        return None if declared.link is not None else Scan(table=declared, unit=self._schema.unit)

    def _factors(self, table: str) -> dict[int, Factor]:
        """The columns, by their places, that can be added up as they are; on the lattice on which SUM adds them."""
        if table not in self._stepped:
            found: dict[int, Factor] = {}
            scan = self._scan(table)
            for place, each in enumerate(() if scan is None else scan.columns):
                if each.type in NUMBERS and each.low is not None and each.high is not None:
                    with suppress(QuincunxError):
                        found[place] = Factor.of(each, lattice_of(each, False, "SUM"))
            self._stepped[table] = found
        return self._stepped[table]

    def _scanned(self, table: str, read: Source) -> Rows:
        scan = self._scan(table)
        if scan is not None:
            return rows(DUCKDB, scan, {scan.number: read})
        conditions = tuple(present(DUCKDB, piece) for piece in read.required)
        return Rows(relation=read.relation, columns={}, owners={}, conditions=conditions)

    def _origin(self, table: str) -> Origin:
        origin = self._tables[table].origin
        if not isinstance(origin, Origin):
            raise DataError("the rows are not on this machine", where="duckdb", got=origin.kind)
        return origin


def _counted(name: str, owners: list[str], most: int | None) -> str:
    """Every row with the number of rows of its owner. Those of owners with more than `most` rows stand side by side,
    owner by owner: weighing them is then twice as fast, and nothing else depends on the order.
    """
    who = ", ".join(owners)
    counted = f"counted AS MATERIALIZED (SELECT {who}, COUNT(*) AS n FROM {name} GROUP BY {who})"
    joined = f"SELECT {name}.*, n FROM {name} JOIN counted USING ({who})"
    if most is None:
        return f"WITH {counted} {joined}"
    ordered = f"SELECT * FROM ({joined} WHERE n > {most} ORDER BY {who})"
    return f"WITH {counted} ({joined} WHERE n <= {most}) UNION ALL ({ordered})"
