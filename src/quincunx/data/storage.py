"""The types in which columns arrive from a source, and the type in questions of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

# The name under which a source is known to the engine while a question runs; of the first, where there are several.
NAME: Final = "source"
# Types in which columns arrive, besides those of the engine.
# A text whose bytes may be anything; one in which a mark stands for what was not readable.
RAW_TEXT: Final = "RAW TEXT"
MARKED_TEXT: Final = "MARKED TEXT"
# Whole seconds or milliseconds since 1970, UTC: moments, and days that are stored as moments.
SECONDS: Final = "SECONDS"
MILLISECONDS: Final = "MILLISECONDS"
DAY_MILLISECONDS: Final = "DAY MILLISECONDS"
# What stands for bytes that are not of the file's encoding: a code point that is no character.
MARK: Final = "\ufdd0"
# Type in the source → type in questions; types that are not here are invisible.
TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "decimal"),
    **dict.fromkeys(("VARCHAR", "UUID", RAW_TEXT, MARKED_TEXT), "text"),
    **dict.fromkeys(("DATE", DAY_MILLISECONDS), "date"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "timestamp"),
    **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS", SECONDS, MILLISECONDS), "timestamp"),
    "BOOLEAN": "boolean",
}
# A marked text whose numbers have other marks than 1234.5: the mark of decimals, and that between thousands.
_LOCAL: Final = re.compile(re.escape(MARKED_TEXT) + r" (.)(.?)")
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


def frame_name(number: int) -> str:
    """The name of the source of a scan while a question runs: no two scans share one."""
    return NAME if number == 0 else f"{NAME}{number}"


def marked_text(decimal: str, thousands: str) -> str:
    """How texts of a file arrive that writes its numbers with these marks; thousands: "" where there is none."""
    return MARKED_TEXT if (decimal, thousands) == (".", "") else f"{MARKED_TEXT} {decimal}{thousands}"


def numerals(storage: str) -> tuple[str, str] | None:
    """The marks of decimals and of thousands in the numbers of a marked text; None where they are the usual ones."""
    found = _LOCAL.fullmatch(storage)
    return (found[1], found[2]) if found else None


def type_of(storage: str) -> str | None:
    """The type in questions of a type in the source; None where there is none."""
    if numerals(storage) is not None:
        return "text"
    return "decimal" if decimal_parts(storage) is not None else TYPES.get(storage)


def unchecked(storage: str) -> str:
    """The type in which texts arrive where nobody has looked at their bytes; other types as they are."""
    return RAW_TEXT if storage == "VARCHAR" or storage.startswith("ENUM(") else storage


def decimal_parts(kind: str) -> tuple[int, int] | None:
    """(width, scale) of DECIMAL(width,scale); None for other types."""
    found = _DECIMAL.fullmatch(kind)
    return (int(found[1]), int(found[2])) if found else None


def engine_type(storage: str) -> str:
    """The engine's type of a column as it arrives, before it is made a value."""
    if storage in (RAW_TEXT, MARKED_TEXT) or numerals(storage) is not None:
        return "VARCHAR"
    return "BIGINT" if storage in (SECONDS, MILLISECONDS, DAY_MILLISECONDS) else storage
