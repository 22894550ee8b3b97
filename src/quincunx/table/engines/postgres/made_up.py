"""Made-up rows with the columns of a table, on which a question is tried before it is paid for. None is private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlglot
from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.engines.typed_sql import call
from quincunx.table.schema import TableSchema

ROWS: Final = 160
# How many rows all tables of a question make at most if each meets each.
_PAIRS: Final = 2**16
_OWNERS: Final = 8
_DATES: Final = ("infinity", "-infinity", "0044-03-15 BC", "0001-01-01", "1969-12-31", "2024-02-29", "9999-12-31")
_TEXTS: Final = (
    "", " ", "a", "A", "0", "-1", "0.5", "1e308", "1e-320", "nan", "inf", "true", "2024-02-29", "2024-02-30",
    "9" * 60, "\u00df", "\u0130", "e\u0301", "\U0001f600", "%_\\'\"", "x" * 300,
)  # fmt: skip
_DOUBLES: Final = ("0", "-0", "1", "-1", "0.5", "1e308", "-1e308", "5e-324", "1e-150", "inf", "-inf", "nan")
# The type of a column in the words of engines → values of it as texts, and its name here.
_VALUES: Final = {
    "SMALLINT": (("0", "1", "-1", "32767", "-32768"), "smallint"),
    "INTEGER": (("0", "1", "-1", "2147483647", "-2147483648"), "integer"),
    "BIGINT": (("0", "1", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"), "bigint"),
    "FLOAT": (("0", "-0", "1.5", "3e38", "1e-45", "inf", "-inf", "nan"), "real"),
    "DOUBLE": (_DOUBLES, "double precision"),
    "NUMERIC": (("0", "-0.5", "1e50", "-1e300", "NaN", "Infinity", "-Infinity"), "numeric"),
    "BOOLEAN": (("true", "false"), "boolean"),
    "VARCHAR": (_TEXTS, "text"),
    "UUID": (("00000000-0000-0000-0000-000000000001",), "uuid"),
    "DATE": ((*_DATES, "5874897-12-31"), "date"),
    "TIMESTAMP": ((*_DATES, "2024-02-29 12:34:56.789012", "294276-12-31"), "timestamp"),
    "TIMESTAMP WITH TIME ZONE": ((*_DATES, "2024-02-29 12:34:56.789012+13", "294276-12-31"), "timestamptz"),
}


def made_up(
    fields: Sequence[tuple[str, str]], names: Sequence[str], declared: TableSchema | None, owner: str | None, mark: str
) -> tuple[exp.Select, dict[str, Any]]:
    """A relation of the columns `names`, and its parameters; one of them, `rows` and the mark, is a number of rows."""
    chosen: list[Any] = []
    parameters: dict[str, Any] = {}
    for place, (name, storage) in enumerate(fields):
        if name not in names:
            continue
        texts, kind = _values(storage)
        texts = [*texts, *_keys(declared, name)] if storage == "VARCHAR" else list(texts)
        parameters[f"texts{mark}_{place}"] = texts
        own = owner is not None and name.lower() == owner.lower()
        # The owner changes slowly, the others quickly and each at its own pace, so that most values meet most.
        step = f"i / {max(1, ROWS // _OWNERS)}" if own else f"i * {2 * place + 1} + {place} + i / {len(texts)}"
        listed = exp.Paren(this=_texts(f"texts{mark}_{place}"))
        number = sqlglot.parse_one(f"1 + ({step}) % {len(texts) + 1}", dialect="postgres")
        picked = exp.Bracket(this=listed, expressions=[number], offset=1)
        chosen.append(exp.alias_(_cast(picked, kind), name, quoted=True))
    listed_rows = call("UNNEST", _cast(_texts(f"rows{mark}"), "bigint[]"))
    numbers = exp.select(exp.alias_(listed_rows, "i")).subquery("made")
    return exp.select(*chosen).from_(numbers), parameters


def count(scans: int) -> int:
    """How many rows each table of a question gets."""
    return min(ROWS, max(2, int(_PAIRS ** (1 / scans))))


def _cast(x: exp.Expression, kind: str) -> exp.Expression:
    return exp.Cast(this=x, to=exp.DataType.build(kind, dialect="postgres"))


def _texts(name: str) -> exp.Expression:
    return _cast(exp.Placeholder(this=name), "text[]")


def _values(storage: str) -> tuple[Sequence[str], str]:
    parts = decimal_parts(storage)
    if parts is None:
        return _VALUES[storage]
    digits = "9" * (parts[0] - parts[1]) or "0"
    most = f"{digits}.{'9' * parts[1]}" if parts[1] else digits
    return ("0", most, f"-{most}", "NaN"), f"numeric({parts[0]},{parts[1]})"


def _keys(declared: TableSchema | None, name: str) -> list[str]:
    found = None if declared is None else declared.column(name)
    keys = () if found is None else found.keys or ()
    return [key for key in keys[:8] if isinstance(key, str) and "\0" not in key]
