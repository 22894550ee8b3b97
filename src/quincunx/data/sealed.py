"""SQL of anybody over published columns, in a connection that holds nothing else and reaches nothing.

Two nets, one behind the other: the statement is read by the engine's own parser, and must be one SELECT over the given
tables, of functions that give the same every time; and the connection has no files, no network, no extensions, no
objects of this process, no settings to change, little memory and little time. What fails is the analyst's mistake:
there are only published values here, so that the engine's own words may be shown. See sealed.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from quincunx.data.connection import connect
from quincunx.data.out import Values, engine_kind, handed_over
from quincunx.data.sql import quoted
from quincunx.errors import QueryError, RefusalError, kind_of

if TYPE_CHECKING:
    pass

# What one statement may take, and give back.
SECONDS: Final = 20.0
MEMORY: Final = 2**29
ROWS: Final = 1_000_000
LENGTH: Final = 100_000

# So many rows are taken over at once.
_BATCH: Final = 2048
_TABLE_FUNCTIONS: Final = frozenset({"range", "generate_series", "unnest"})
# What the engine would say about itself, about its user or about the clock, by the beginnings of their names.
_ITSELF: Final = ("pg_", "has_", "inet_", "current_", "duckdb_", "pragma_", "get_current", "get_block", "json_execute")
_NAMED: Final = frozenset(
    {"version", "user", "session_user", "ago", "parse_duckdb_log_message", "query", "localtime", "localtimestamp"}
)
_ORDERING: Final = ("ORDER_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER")
_HINT: Final = "Write one SELECT over {}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A column that is handed over: a NumPy array, which places hold a value, and the engine's type for it."""

    name: str
    values: Any
    present: Any
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement that was found to be one SELECT over published tables. text: as the engine writes it.

    unordered: the same without the outermost ORDER BY, LIMIT and OFFSET.
    """

    text: str
    unordered: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A result: names, the engine's types, and rows of Python values."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def given(columns: Sequence[Values]) -> list[Given]:
    """Columns of Python values, to be handed over."""
    found = []
    for column in columns:
        kind = engine_kind(column)
        present = np.array([value is not None for value in column.values], dtype=bool)
        found.append(Given(name=column.name, values=handed_over(column, kind), present=present, type=kind))
    return found


class Sealed:
    """A connection that holds tables of published values and nothing else."""

    __slots__ = ("_columns", "_connection", "_names")

    def __init__(self, tables: Mapping[str, Sequence[Given]]) -> None:
        self._columns = {column.name.lower() for columns in tables.values() for column in columns}
        self._connection, self._names = connect(threads=1, most=MEMORY), tuple(tables)
        for name, columns in tables.items():
            self._create(name, columns)

    def __enter__(self) -> Sealed:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _create(self, name: str, columns: Sequence[Given]) -> None:
        handed: dict[str, Any] = {"place": np.arange(len(columns[0].values), dtype=np.int64)}
        chosen = []
        for i, column in enumerate(columns):
            handed[f"c{i}"], handed[f"v{i}"] = column.values, column.present
            chosen.append(f"CASE WHEN v{i} THEN CAST(c{i} AS {column.type}) END AS {quoted(column.name)}")
        self._connection.register("handed", handed)
        self._connection.execute(
            f"CREATE TABLE {quoted(name)} AS SELECT {', '.join(chosen)} FROM handed ORDER BY place"
        )
        self._connection.unregister("handed")

    def check(self, sql: object) -> Statement:
        """The statement, if it is one SELECT over these tables that gives the same every time."""
        hint = _HINT.format(" and ".join(self._names))
        if not isinstance(sql, str):
            raise QueryError("expected SQL as a text", where="then", got=kind_of(sql), hint=hint)
        if len(sql) > LENGTH:
            raise QueryError("the statement is too long", where="then", got=f"{len(sql):,} characters", hint=hint)
        with self._told():
            read = json.loads(self._one("SELECT json_serialize_sql(?)", sql))
            if read["error"]:
                raise QueryError("this is no SELECT", where="then", got=_first(read["error_message"]), hint=hint)
            if len(read["statements"]) != 1:
                got = f"{len(read['statements'])} statements"
                raise QueryError("expected one statement", where="then", got=got, hint=hint)
            self._check(read, hint)
            text = self._one("SELECT json_deserialize_sql(?)", json.dumps(read))
            root = read["statements"][0]["node"]
            root["modifiers"] = [each for each in root["modifiers"] if each["type"] not in _ORDERING]
            return Statement(text=text, unordered=self._one("SELECT json_deserialize_sql(?)", json.dumps(read)))

    def _check(self, tree: object, hint: str) -> None:
        nodes = list(_nodes(tree))
        defined = {each["key"].lower() for node in nodes for each in _listed(node.get("cte_map"))}
        # Outside of its WITH a name would mean what the engine calls so: its own views are nobody's to name.
        known = defined - self._views() | {name.lower() for name in self._names}
        unstable, columns = self._unstable(), self._columns
        for node in nodes:
            kind = node.get("type")
            if node.get("sample") is not None:
                raise RefusalError("a sample is another one every time", where="then", hint="Leave it out.")
            if kind in ("SHOW_REF", "VALUE_PARAMETER"):
                raise RefusalError("only SELECT over published columns is worked out", where="then", hint=hint)
            if kind == "BASE_TABLE":
                path = node["qualified_name"]["path"] if "qualified_name" in node else [node["table_name"]]
                if len(path) != 1 or path[0].lower() not in known:
                    got = ".".join(path)[:80]
                    raise RefusalError("there is no such published table", where="then", got=got, hint=hint)
            if kind == "TABLE_FUNCTION" and node["function"].get("function_name", "").lower() not in _TABLE_FUNCTIONS:
                got = str(node["function"].get("function_name"))[:80]
                raise RefusalError("this function reads what was not published", where="then", got=got, hint=hint)
            name = str(node.get("function_name", "")).lower()
            if name == "age" and len(node.get("arguments") or node.get("children") or ()) == 1:
                # Since then until today.
                name = "ago"
            if (
                kind == "COLUMN_REF"
                and len(node["column_names"]) == 1
                and node["column_names"][0].lower() not in columns
            ):
                # Some functions are called without brackets; an alias of that name is refused along with them.
                name = node["column_names"][0].lower()
            if name in unstable or name in _NAMED or name.startswith(_ITSELF):
                what = "this function says something else every time, or something about the engine"
                raise RefusalError(what, where="then", got=name[:80], hint="Leave it out.")

    def _unstable(self) -> frozenset[str]:
        found = self._connection.execute("SELECT function_name FROM duckdb_functions() WHERE stability <> 'CONSISTENT'")
        return frozenset(name.lower() for (name,) in found.fetchall())

    def _views(self) -> frozenset[str]:
        found = self._connection.execute("SELECT view_name FROM duckdb_views() WHERE internal")
        return frozenset(name.lower() for (name,) in found.fetchall())

    def run(self, text: str) -> Found:
        """All rows of a statement that was checked."""
        with self._told():
            described = self._connection.execute(f"DESCRIBE {text}").fetchall()
            result = self._connection.execute(text)
            rows, size, hint = [], 0, "Aggregate, or write LIMIT."
            while more := result.fetchmany(_BATCH):
                rows += more
                size += sum(map(_size, more))
                if len(rows) > ROWS:
                    raise QueryError("the result has too many rows", where="then", got=f"more than {ROWS:,}", hint=hint)
                if size > MEMORY:
                    got = f"more than {MEMORY >> 20} MiB"
                    raise QueryError("the result is too large", where="then", got=got, hint=hint)
        names, types = (tuple(str(each[place]) for each in described) for place in (0, 1))
        return Found(names=names, types=types, rows=rows)

    def _one(self, query: str, value: str) -> str:
        row = self._connection.execute(query, [value]).fetchone()
        return "" if row is None else str(row[0])

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Ends what takes too long; failures become one sentence."""
        import duckdb

        watch = Timer(SECONDS, self._connection.interrupt)
        watch.daemon = True
        watch.start()
        try:
            yield
        except duckdb.InterruptException:
            hint = "Ask for less at once."
            raise QueryError(f"the statement took more than {SECONDS:g} seconds", where="then", hint=hint) from None
        except duckdb.OutOfMemoryException:
            got, hint = f"more than {MEMORY >> 20} MiB", "Ask for less at once."
            raise QueryError("the statement takes too much memory", where="then", got=got, hint=hint) from None
        except duckdb.Error as error:
            raise QueryError("the statement cannot be worked out", where="then", got=_first(str(error))) from None
        finally:
            watch.cancel()


def _nodes(tree: object) -> Iterator[dict[str, Any]]:
    """Every mapping in a tree of JSON, without recursion."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield node
            pending += node.values()
        elif isinstance(node, list):
            pending += node


def _size(value: object) -> int:
    """About how many bytes a value of a result takes."""
    if isinstance(value, str | bytes):
        return 50 + len(value)
    if isinstance(value, dict):
        return 100 + sum(map(_size, value.values()))
    return 50 + sum(map(_size, value)) if isinstance(value, list | tuple) else 30


def _listed(definitions: object) -> list[dict[str, Any]]:
    return definitions["map"] if isinstance(definitions, dict) else []


def _first(message: str) -> str:
    return message.strip().splitlines()[0][:200] if message.strip() else "no reason"
