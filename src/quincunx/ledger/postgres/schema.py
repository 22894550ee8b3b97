"""The tables of a ledger in PostgreSQL, what keeps their rows as they are, and what is to be found of them."""

from __future__ import annotations

from typing import Any, Final

# The format of the records (record.py). A ledger in PostgreSQL began with this one.
VERSION: Final = 4
APPLICATION: Final = "quincunx/ledger"
_TEXT: Final = 'text COLLATE "C" NOT NULL'
# table → its columns, and its primary key.
TABLES: Final[dict[str, tuple[tuple[tuple[str, str], ...], str]]] = {
    "format": ((("version", "bigint NOT NULL"), ("application", _TEXT), ("ledger", _TEXT)), "application"),
    "gate": ((("one", "bigint NOT NULL"),), "one"),
    "records": (
        (
            ("seq", "bigint NOT NULL"),
            ("time", _TEXT),
            ("kind", _TEXT),
            ("body", _TEXT),
            ("previous", _TEXT),
            ("hash", _TEXT),
        ),
        "seq",
    ),
    "questions": ((("key", _TEXT), ("dataset", _TEXT), ("seq", "bigint NOT NULL")), "key"),
    "charges": ((("question", _TEXT), ("analyst", _TEXT)), "question, analyst"),
    "answers": ((("question", _TEXT), ("seq", "bigint NOT NULL"), ("content", "bytea NOT NULL")), "question"),
    "datasets": ((("name", _TEXT), ("seq", "bigint NOT NULL"), ("registration", _TEXT)), "name, seq"),
    "totals": (
        (
            ("dataset", _TEXT),
            ("budget", _TEXT),
            ("holder", _TEXT),
            ("seq", "bigint NOT NULL"),
            ("spent", _TEXT),
            ("delta", _TEXT),
        ),
        "dataset, budget, holder, seq",
    ),
    "halts": ((("seq", "bigint NOT NULL"), ("dataset", _TEXT), ("version", _TEXT)), "seq"),
    "reopenings": ((("seq", "bigint NOT NULL"), ("dataset", _TEXT), ("closed", "bigint NOT NULL")), "seq"),
    "withheld": ((("question", _TEXT), ("halt", "bigint NOT NULL")), "question"),
}
# What a teller adds rows to. `gate` has one row, which is locked and never changed; `format` is the owner's.
ADDED: Final = tuple(name for name in TABLES if name not in ("format", "gate"))
_KEEP: Final = "BEGIN RAISE EXCEPTION 'a ledger only adds rows'; END"
_TRIGGER: Final = (
    ("keep_rows", "BEFORE DELETE OR UPDATE ON {table} FOR EACH ROW"),
    ("keep_table", "BEFORE TRUNCATE ON {table} FOR EACH STATEMENT"),
)


def statements(schema: str, ledger: str) -> list[str]:
    """What makes a ledger in a schema, as its owner."""
    made = [
        f"CREATE SCHEMA {schema}",
        f"CREATE FUNCTION {schema}.keep() RETURNS trigger LANGUAGE plpgsql AS $${_KEEP}$$",
    ]
    for table, (columns, key) in TABLES.items():
        listed = ", ".join(f"{name} {kind}" for name, kind in columns)
        made.append(f"CREATE TABLE {schema}.{table} ({listed}, PRIMARY KEY ({key}))")
        for name, when in _TRIGGER:
            event = when.format(table=f"{schema}.{table}")
            made.append(f"CREATE TRIGGER {name} {event} EXECUTE FUNCTION {schema}.keep()")
    made.append(f"INSERT INTO {schema}.gate VALUES (1)")
    made.append(f"INSERT INTO {schema}.format VALUES ({VERSION}, '{APPLICATION}', '{ledger}')")
    return made


def grants(schema: str, role: str, *, teller: bool) -> list[str]:
    """What a role may do: a teller reads and adds, an auditor reads. `role` is quoted already."""
    made = [f"GRANT USAGE ON SCHEMA {schema} TO {role}", f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"]
    if teller:
        made += [f"GRANT INSERT ON {schema}.{table} TO {role}" for table in ADDED]
        # A row can be locked only by who may change one of its columns; the trigger lets nobody change it.
        made.append(f"GRANT UPDATE (one) ON {schema}.gate TO {role}")
    return made


# Everything that could change what is written or read, as (kind, table, name, words).
_COLUMNS: Final = (
    "SELECT 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' ' || "
    "coalesce(n.collname, '') || ' ' || a.atthasdef || ' ' || a.attgenerated::text || a.attidentity::text "
    "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation n ON n.oid = a.attcollation "
    "WHERE c.relnamespace = {schema} AND c.relkind NOT IN ('i', 'I') AND a.attnum > 0 AND NOT a.attisdropped"
)
_RELATIONS: Final = (
    "SELECT 'relation', relname, relkind::text || relpersistence::text, "
    "relrowsecurity || ' ' || relforcerowsecurity || ' ' || "
    "relhassubclass || ' ' || relispartition FROM pg_class WHERE relnamespace = {schema} AND relkind NOT IN ('i', 'I')"
)
_CONSTRAINTS: Final = (
    "SELECT 'constraint', c.relname, '', pg_get_constraintdef(k.oid) FROM pg_constraint k "
    "JOIN pg_class c ON c.oid = k.conrelid WHERE k.connamespace = {schema} AND k.contype <> 'n'"
)
_TRIGGERS: Final = (
    "SELECT 'trigger', c.relname, t.tgname, t.tgenabled::text || ' ' || pg_get_triggerdef(t.oid) FROM pg_trigger t "
    "JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = {schema} AND NOT t.tgisinternal"
)
_FUNCTIONS: Final = (
    "SELECT 'function', p.proname, l.lanname, p.prosrc || ' ' || p.prosecdef || ' ' || coalesce(p.proconfig::text, '') "
    "FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace = {schema}"
)
_RULES: Final = (
    "SELECT 'rule', c.relname, r.rulename, '' FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class "
    "WHERE c.relnamespace = {schema}"
)
_INDEXES: Final = (
    "SELECT 'index', c.relname, '', (i.indpred IS NOT NULL) || ' ' || i.indisvalid || ' ' || i.indisprimary "
    "FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = {schema}"
)
# The one row that is locked.
_GATE: Final = "SELECT 'row', 'gate', one::text, '' FROM gate"
FOUND: Final = " UNION ALL ".join(
    part.format(schema="%(schema)s::regnamespace")
    for part in (_COLUMNS, _RELATIONS, _CONSTRAINTS, _TRIGGERS, _FUNCTIONS, _RULES, _INDEXES, _GATE)
)


def expected(schema: str) -> set[tuple[Any, ...]]:
    """What FOUND gives of a ledger that is as it was made."""
    made: set[tuple[Any, ...]] = {("function", "keep", "plpgsql", f"{_KEEP} false "), ("row", "gate", "1", "")}
    for table, (columns, key) in TABLES.items():
        made.add(("relation", table, "rp", "false false false false"))
        made.add(("constraint", table, "", f"PRIMARY KEY ({key})"))
        made.add(("index", table, "", "false true true"))
        for name, kind in columns:
            word, collated = kind.split(" ")[0], "C" if "COLLATE" in kind else ""
            made.add(("column", table, name, f"{word} true {collated} false "))
        for name, when in _TRIGGER:
            event = when.format(table=f"{schema}.{table}")
            # A function of another schema would be shown with its schema's name.
            made.add(("trigger", table, name, f"O CREATE TRIGGER {name} {event} EXECUTE FUNCTION keep()"))
    return made
