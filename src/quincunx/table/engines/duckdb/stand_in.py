"""Made-up rows with the columns of a source: what a question is tried on before it is paid for. None of it is private.

The values depend on the declarations alone: extremes of every type, what cannot be read as the type, NULL, the declared
bounds and the first public keys; the owner has several rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

import duckdb

from quincunx.data import connect, engine_type, quoted
from quincunx.numbers import near
from quincunx.table.schema import Schema, TableSchema

ROWS: Final = 240
# How many rows all tables of a question make at most if each meets each.
_PAIRS: Final = 2**20
# Each owner has a tenth of them.
_OWNERS: Final = 10
_KEYS: Final = 8
# Texts that are tried as every type; what is none is NULL.
_TEXTS: Final = (
    "0", "1", "-1", "7", "0.5", "-0.0", "127", "-128", "255", "65535", "2147483647", "-2147483648",
    "9223372036854775807", "-9223372036854775808", "18446744073709551615", "170141183460469231731687303715884105727",
    "1e30", "-1.7976931348623157e308", "5e-324", "inf", "-inf", "nan", "true", "false",
    "1970-01-01", "0001-01-01", "9999-12-31", "2024-02-29 12:34:56.789012", "1969-12-31 23:59:59.999999",
    "2262-04-11 23:47:16", "294246-01-01 00:00:00", "-290000-01-01", "infinity", "-infinity", "2024-02-30",
    "00000000-0000-0000-0000-000000000001", "", " ", "a", "A", "\u00df", "\u0130", "e\u0301", "\U0001f600",
    "%_\\'\"", "x" * 300,
)  # fmt: skip


class Stage:
    """A connection that holds made-up tables and nothing else, made when it is first needed."""

    __slots__ = ("_connection", "_kept", "_lock", "_made")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._made: dict[tuple[str, tuple[str, ...], int], tuple[str, str]] = {}
        self._kept: dict[tuple[str, str], tuple[str, str]] = {}

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection; it can reach no file."""
        if self._connection is None:
            self._connection = connect((), 1)
        return self._connection

    def relations(
        self, table: str, fields: Sequence[tuple[str, str]], names: Sequence[str], schema: Schema, scans: int = 1
    ) -> tuple[str, str]:
        """Two tables with the columns `names` of these fields (name, type in the source): an empty one, and made-up
        rows. Only what a question reads is made, however wide the source is, and fewer rows where it has many scans.
        """
        rows = min(ROWS, max(2, int(_PAIRS ** (1 / scans))))
        with self._lock:
            known = (table, tuple(names), rows)
            if known not in self._made:
                made = (f"none{len(self._made)}", f"some{len(self._made)}")
                for name, count in zip(made, (0, rows), strict=True):
                    select, parameters = made_up(fields, names, schema.table(table), schema.unit.key, count)
                    self.connection.execute(f"CREATE TABLE {name} AS {select}", parameters)
                self._made[known] = made
            return self._made[known]

    def kept(self, made: tuple[str, str], keep: Callable[[str, str], None]) -> tuple[str, str]:
        """Both tables as a snapshot would keep them; `keep` makes a second of these names from the first."""
        with self._lock:
            if made not in self._kept:
                names = (f"{made[0]}_kept", f"{made[1]}_kept")
                for rows, name in zip(made, names, strict=True):
                    keep(rows, name)
                self._kept[made] = names
            return self._kept[made]

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()


def made_up(
    fields: Sequence[tuple[str, str]], names: Sequence[str], declared: TableSchema | None, owner: str | None, rows: int
) -> tuple[str, dict[str, Any]]:
    """A SELECT that makes `rows` rows of the columns `names`, and its parameters."""
    chosen: list[str] = []
    parameters: dict[str, Any] = {}
    wanted = set(names)
    for place, (name, storage) in enumerate(fields):
        if name not in wanted:
            continue
        texts = [*_TEXTS, *_declared(declared, name)]
        parameters[f"texts{place}"] = texts
        # The owner changes slowly, the others quickly and each at its own pace, so that most values meet most.
        own = owner is not None and name.lower() == owner.lower()
        step = f"i // {max(1, rows // _OWNERS)}" if own else f"i * {2 * place + 1} + {place} + i // {len(texts)}"
        value = f"TRY_CAST(list_extract($texts{place}, 1 + ({step}) % {len(texts) + 1}) AS {engine_type(storage)})"
        chosen.append(f"{value} AS {quoted(name)}")
    return f"SELECT {', '.join(chosen)} FROM range({rows}) AS made(i)", parameters


def _declared(declared: TableSchema | None, name: str) -> list[str]:
    """The declared bounds and the first public keys of a column, as texts."""
    column = None if declared is None else declared.column(name)
    if column is None:
        return []
    values = [*(column.bounds or ()), *(column.span or ()), *(column.keys or ())[:_KEYS]]
    return [_text(value) for value in values if value is not None]


def _text(value: object) -> str:
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else near(value)
    return str(value)
