"""What the catalogue says of a table: its columns, what it is, and what the role may do with it. No row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

from sqlglot import exp

from quincunx.data import distinct_names, type_of
from quincunx.errors import DataError, UnavailableError
from quincunx.table.declaration import Declaration
from quincunx.table.engines.postgres.scan import UNLIMITED
from quincunx.table.engines.postgres.source import Postgres

if TYPE_CHECKING:
    from psycopg import Connection

_KINDS: Final = {"r": "table", "p": "partitioned table", "m": "materialized view", "v": "view", "f": "foreign table"}
# Types of pg_catalog → the words of engines.
_TYPES: Final = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "bool": "BOOLEAN",
    **dict.fromkeys(("text", "varchar", "bpchar", "name"), "VARCHAR"),
    "uuid": "UUID",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
}
# Everything that rows are read from: partitions and heirs, and what stands below a view; the table itself among them.
# mine: the roles that this one is, or could take on.
_ROLE: Final = b"""
WITH RECURSIVE named AS (
  SELECT c.oid, c.relkind, c.relnamespace FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2),
below(oid) AS (
  SELECT oid FROM named
  UNION SELECT f.oid FROM below b, LATERAL (
    SELECT i.inhrelid AS oid FROM pg_inherits i WHERE i.inhparent = b.oid
    UNION ALL SELECT d.refobjid FROM pg_rewrite w JOIN pg_depend d ON d.objid = w.oid
    WHERE w.ev_class = b.oid AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass) f),
stands AS (
  SELECT k.oid, k.relkind, k.relam, k.relowner, n.nspowner FROM below b JOIN pg_class k ON k.oid = b.oid
  JOIN pg_namespace n ON n.oid = k.relnamespace),
mine AS (SELECT r.oid, r.rolname, r.rolsuper, r.rolcreaterole FROM pg_roles r WHERE pg_has_role(r.oid, 'MEMBER'))
SELECT EXISTS (SELECT FROM mine m WHERE m.rolsuper) AS super,
  EXISTS (SELECT FROM mine m WHERE m.rolcreaterole
    OR m.rolname IN ('pg_write_server_files', 'pg_execute_server_program')) AS maker,
  c.oid::bigint, c.relkind::text,
  EXISTS (SELECT FROM stands s WHERE pg_has_role(s.relowner, 'MEMBER') OR pg_has_role(s.nspowner, 'MEMBER')) AS owner,
  EXISTS (SELECT FROM stands s, mine m WHERE
    has_table_privilege(m.oid, s.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
    OR has_any_column_privilege(m.oid, s.oid, 'INSERT, UPDATE')) AS writer,
  row_security_active(c.oid) AS secured,
  has_schema_privilege(c.relnamespace, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') AS granted,
  EXISTS (SELECT FROM stands s LEFT JOIN pg_am a ON a.oid = s.relam
    WHERE s.relkind = 'f' OR s.relkind IN ('r', 'm') AND a.amname IS DISTINCT FROM 'heap') AS elsewhere
FROM named c
"""
# Of a domain the type below it.
_COLUMNS: Final = b"""
WITH RECURSIVE base(place, name, granted, shown, kind, width) AS (
  SELECT attnum, attname, has_column_privilege($1::bigint::oid, attnum, 'SELECT'), format_type(atttypid, atttypmod),
    atttypid, atttypmod FROM pg_attribute WHERE attrelid = $1::bigint::oid AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT b.place, b.name, b.granted, b.shown, t.typbasetype, CASE WHEN b.width = -1 THEN t.typtypmod ELSE b.width END
  FROM base b JOIN pg_type t ON t.oid = b.kind WHERE t.typtype = 'd')
SELECT b.name::text, b.granted, b.shown, t.typname::text, t.typtype = 'e', n.nspname = 'pg_catalog', b.width
FROM base b JOIN pg_type t ON t.oid = b.kind JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE t.typtype <> 'd' ORDER BY b.place
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """A table of a database as its catalogue describes it. once: a second look at it may see other rows."""

    engine: ClassVar[str] = "postgres"

    source: Postgres
    fields: tuple[tuple[str, str], ...]
    once: bool
    # The same before what is declared, to see whether something has changed.
    catalogue: tuple[tuple[str, str], ...] = field(repr=False)
    # What its rows are called in a statement.
    alias: str = field(default="source", repr=False)
    kind: str = "postgres"

    def named(self, name: str) -> Found:
        """The same rows under another name."""
        return self if name == self.alias else replace(self, alias=name)

    def needed(self, names: Sequence[str]) -> list[str]:
        """The fields of these names, compared without case; where there are none, the first."""
        wanted = {name.lower() for name in names}
        return [name for name, _ in self.fields if name.lower() in wanted] or [self.fields[0][0]]

    def relation(self, names: Sequence[str]) -> exp.Expression:  # noqa: ARG002
        """What stands in FROM: the name with its schema, so that no other table can take its place."""
        schema, own = (exp.to_identifier(part, quoted=True) for part in self.source.name)
        alias = exp.TableAlias(this=exp.to_identifier(self.alias, quoted=True))
        return exp.Table(this=own, db=schema, alias=alias)


def find(connection: Connection[Any], source: Postgres) -> tuple[Found, Mapping[str, str]]:
    """The table, and why questions cannot see some of its columns.

    Refused where the role could change rows, or would not see all of them: grants are what keeps a reader a reader.
    """
    row = connection.execute(_ROLE, list(source.name)).fetchone()
    where = f"{source.shown} {source.table}"
    if row is None:
        hint = 'Write "schema.table"; in double quotes what has capital letters.'
        raise DataError("there is no such table", where=where, hint=hint)
    mighty, maker, oid, kind, owner, writer, secured, granted, elsewhere = row
    if kind not in _KINDS:
        raise DataError("only tables and views are read", where=where, got=f"relkind {kind}")
    _check_role(where, mighty, maker, owner, writer)
    if not granted:
        schema = source.name[0]
        hint = f"GRANT USAGE ON SCHEMA {schema} and GRANT SELECT ON {source.table} to the role."
        raise UnavailableError("this role may not read the table", where=where, hint=hint)
    if secured:
        hint = "Ask a role to which no policy applies, or make a view of the rows that are meant."
        raise UnavailableError("row security hides rows from this role", where=where, hint=hint)
    fields, hidden = _visible(connection.execute(_COLUMNS, [oid]).fetchall())
    if not fields:
        raise DataError("questions can see no column of the table", where=where)
    # A view may read foreign tables or call functions that are not what they say; of rows that are kept in another way
    # than the database's own it is not known that a statement sees one state.
    return Found(source=source, fields=fields, catalogue=fields, once=kind in ("v", "f") or elsewhere), hidden


def settled(
    found: Found, hidden: Mapping[str, str], columns: Mapping[str, Declaration]
) -> tuple[Found, Mapping[str, str]]:
    """The table as it is declared: a number without a width is seen with the decimal places of its step, or not."""
    declared = {name.lower(): each for name, each in columns.items()}
    fields, unseen = [], dict(hidden)
    for name, storage in found.fields:
        seen = _seen(declared.get(name.lower(), Declaration())) if storage == UNLIMITED else storage
        if seen is None:
            unseen[name] = "is of type numeric without a width, which questions can use where a step is declared"
        else:
            fields.append((name, seen))
    return replace(found, fields=tuple(fields)), unseen


def _seen(declared: Declaration) -> str | None:
    """The type in which a number without a width is read: a whole number as it is, others with their step's places."""
    if declared.type == "integer":
        return UNLIMITED
    step = declared.step or Fraction(0)
    places = next((n for n in range(19) if (step * 10**n).denominator == 1), None)
    return None if declared.step is None or places is None else f"DECIMAL(38,{places})"


def _check_role(where: str, mighty: bool, maker: bool, owner: bool, writer: bool) -> None:
    hint = "Make a role that reads: CREATE ROLE reader LOGIN NOINHERIT; and GRANT SELECT on the table to it."
    for is_so, what in (
        (mighty, "a superuser reads no private table"),
        (maker, "this role could make itself one that writes"),
        (owner, "the owner of a table does not read it for questions"),
        (writer, "this role could change the table"),
    ):
        if is_so:
            raise UnavailableError(what, where=where, hint=hint)


def _visible(rows: Sequence[tuple[Any, ...]]) -> tuple[tuple[tuple[str, str], ...], dict[str, str]]:
    distinct_names([row[0] for row in rows], "Table")
    seen, hidden = [], {}
    for name, granted, shown, typed, listed, own, width in rows:
        storage = "VARCHAR" if listed else _storage(typed, width) if own else None
        if not granted:
            hidden[name] = "is not granted to this role"
        elif storage is None or (type_of(storage) is None and storage != UNLIMITED):
            hidden[name] = f"is of type {shown.partition('(')[0]}, which questions cannot use"
        else:
            seen.append((name, storage))
    return tuple(seen), hidden


def _storage(name: str, width: int) -> str | None:
    if name != "numeric":
        return _TYPES.get(name)
    # As the catalogue packs it: the digits above, below them the decimal places in eleven bits with a sign.
    digits, places = (width - 4) >> 16 & 0xFFFF, ((width - 4) & 0x7FF ^ 1024) - 1024
    return f"DECIMAL({digits},{places})" if width >= 4 and digits <= 38 and 0 <= places <= digits else UNLIMITED
