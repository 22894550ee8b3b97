"""Made-up rows with the columns of a table, on which a question is tried before it is paid for. None is private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from quincunx.data import decimal_parts
from quincunx.table.engines.spark.dialect import SPARK
from quincunx.table.engines.typed_sql import text
from quincunx.table.schema import TableSchema

ROWS: Final = 120
# How many rows all tables of a question make at most if each meets each.
_PAIRS: Final = 2**14
_OWNERS: Final = 8
_DATES: Final = ("0001-01-01", "1582-10-10", "1969-12-31", "2024-02-29", "9999-12-31", "+12000-01-01", "-0044-03-15")
_TEXTS: Final = (
    "", " ", "a", "A", "0", "-1", "0.5", "1e308", "1e-320", "nan", "inf", "true", "2024-02-29", "2024-02-30",
    "9" * 60, "\u00df", "\u0130", "e\u0301", "\U0001f600", "%_\\'\"", "x" * 300,
)  # fmt: skip
# The type of a column in the words of engines → values of it as texts, and its name here.
_VALUES: Final = {
    "TINYINT": (("0", "1", "-1", "127", "-128"), "TINYINT"),
    "SMALLINT": (("0", "1", "-1", "32767", "-32768"), "SMALLINT"),
    "INTEGER": (("0", "1", "-1", "2147483647", "-2147483648"), "INT"),
    "BIGINT": (("0", "1", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"), "BIGINT"),
    "FLOAT": (("0", "-0", "1.5", "3e38", "1e-45", "inf", "-inf", "nan"), "FLOAT"),
    "DOUBLE": (("0", "-0", "1", "-1", "0.5", "1e308", "-1e308", "5e-324", "1e-150", "inf", "-inf", "nan"), "DOUBLE"),
    "BOOLEAN": (("true", "false"), "BOOLEAN"),
    "VARCHAR": (_TEXTS, "STRING"),
    "DATE": (_DATES, "DATE"),
    "TIMESTAMP": ((*_DATES, "2024-02-29 12:34:56.789012"), "TIMESTAMP_NTZ"),
    "TIMESTAMP WITH TIME ZONE": ((*_DATES, "2024-02-29 12:34:56.789012+13:00"), "TIMESTAMP"),
}


def made_up(
    fields: Sequence[tuple[str, str]], names: Sequence[str], declared: TableSchema | None, owner: str | None, rows: int
) -> str:
    """A SELECT that makes `rows` rows of the columns `names`."""
    chosen = []
    for place, (name, storage) in enumerate(fields):
        if name not in names:
            continue
        texts, kind = _values(storage)
        texts = [*texts, *_keys(declared, name)] if storage == "VARCHAR" else list(texts)
        own = owner is not None and name.lower() == owner.lower()
        # The owner changes slowly, the others quickly and each at its own pace, so that most values meet most.
        step = f"id DIV {max(1, ROWS // _OWNERS)}" if own else f"id * {2 * place + 1} + {place} + id DIV {len(texts)}"
        given = ", ".join(text(each).sql(dialect=SPARK.name) for each in texts)
        quoted = exp.to_identifier(name, quoted=True).sql(dialect=SPARK.name)
        picked = f"get(array({given}), CAST(({step}) % {len(texts) + 1} AS INT))"
        chosen.append(f"try_cast({picked} AS {kind}) AS {quoted}")
    return f"SELECT {', '.join(chosen)} FROM range({rows})"


def count(scans: int) -> int:
    """How many rows each table of a question gets."""
    return min(ROWS, max(2, int(_PAIRS ** (1 / scans))))


def _values(storage: str) -> tuple[Sequence[str], str]:
    parts = decimal_parts(storage)
    if parts is None:
        return _VALUES[storage]
    digits = "9" * (parts[0] - parts[1]) or "0"
    most = f"{digits}.{'9' * parts[1]}" if parts[1] else digits
    return ("0", most, f"-{most}"), f"DECIMAL({parts[0]},{parts[1]})"


def _keys(declared: TableSchema | None, name: str) -> list[str]:
    found = None if declared is None else declared.column(name)
    keys = () if found is None else found.keys or ()
    return [key for key in keys[:8] if isinstance(key, str)]
