"""Arrow columns in types that the engine reads without converting a value. pyarrow is loaded only where it is there."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from quincunx.data.storage import DAY_MILLISECONDS, MILLISECONDS, RAW_TEXT, SECONDS

# Decimals of so many digits the engine keeps in 64 bits.
_NARROW: Final = 18


def pyarrow() -> Any:
    """pyarrow, or None where it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        return None


def storage(kind: Any) -> str | None:
    """How a column of this Arrow type arrives after `safe`; None where the engine's own description is enough.

    Moments with a zone in seconds or milliseconds are multiplied by the engine's reader, which raises where that
    overflows; days in milliseconds are cut to 32 bits there, and decimals of up to 18 digits to 64, which leaves
    whatever was in memory; half floats and decimals of 256 bits it cannot read at all.
    """
    types = pyarrow().types
    if types.is_dictionary(kind):
        return storage(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return RAW_TEXT
    if types.is_date64(kind):
        return DAY_MILLISECONDS
    if types.is_timestamp(kind) and kind.tz is not None and kind.unit in ("s", "ms"):
        return SECONDS if kind.unit == "s" else MILLISECONDS
    if types.is_float16(kind):
        return "FLOAT"
    if types.is_decimal128(kind) and kind.precision <= _NARROW:
        return f"DECIMAL({kind.precision},{kind.scale})"
    return "DOUBLE" if types.is_decimal256(kind) else None


def safe(column: Any) -> Any:
    """The column in a type that the engine reads as it is. Whole numbers are seen through, so no value is looked at."""
    types, kind = pyarrow().types, column.type
    if storage(kind) in (SECONDS, MILLISECONDS, DAY_MILLISECONDS):
        plain = column.cast(kind.value_type) if types.is_dictionary(kind) else column
        return plain.cast(pyarrow().int64())
    if types.is_float16(kind):
        return column.cast(pyarrow().float32())
    if types.is_decimal128(kind) and kind.precision <= _NARROW:
        return _widened(column)
    return column.cast(pyarrow().float64(), safe=False) if types.is_decimal256(kind) else column


def _widened(column: Any) -> Any:
    """The same sixteen bytes of each decimal, as a type that admits all digits that they can hold."""
    if hasattr(column, "chunks"):
        return pyarrow().chunked_array([_widened(chunk) for chunk in column.chunks], type=_wide(column.type))
    return pyarrow().Array.from_buffers(_wide(column.type), len(column), column.buffers(), offset=column.offset)


def _wide(kind: Any) -> Any:
    return pyarrow().decimal128(38, kind.scale)
