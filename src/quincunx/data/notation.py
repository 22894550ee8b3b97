"""How a CSV file is written: declared, never guessed. What a first line shows to be otherwise is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from quincunx.data.encoding import read_encoding
from quincunx.errors import DataError, under

COMMA: Final = ","
# What may stand between fields → what it is called.
SEPARATORS: Final[Mapping[str, str]] = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
DECIMALS: Final = (".", ",")
# What may stand between thousands: also an apostrophe, and the spaces that do not break a line.
THOUSANDS: Final = (",", ".", "'", "\u2019", " ", "\u00a0", "\u202f", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """What was declared; None where nothing was. encoding: of the characters. separator: between fields. decimal,
    thousands: in numbers.
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None

    @property
    def declared(self) -> tuple[str, ...]:
        """The names of what was declared."""
        return tuple(name for name in ("encoding", "separator", "decimal", "thousands") if getattr(self, name))

    @property
    def marks(self) -> tuple[str | None, str | None, str | None] | None:
        """The declared separator, decimal mark and mark between thousands; None where none was declared."""
        found = (self.separator, self.decimal, self.thousands)
        return found if any(found) else None


def read_notation(encoding: object, separator: object, decimal: object, thousands: object) -> Notation:
    """What is typed about a CSV file, checked."""
    point = _one_of(decimal, DECIMALS, "decimal")
    between = _one_of(thousands, THOUSANDS, "thousands")
    if between is not None and between == (point or "."):
        hint = 'Declare both: decimal = "," and thousands = ".", or the other way round.'
        with under("thousands"):
            raise DataError("thousands and decimals need different marks", where="Table.thousands", hint=hint)
    return Notation(
        encoding=read_encoding(encoding),
        separator=_one_of(separator, tuple(SEPARATORS), "separator"),
        decimal=point,
        thousands=between,
    )


def _one_of(given: object, known: tuple[str, ...], name: str) -> str | None:
    if given is None or given in known:
        return None if given is None else str(given)
    hint = f"Choose among {' '.join(ascii(each) for each in known)}."
    with under(name):
        raise DataError(f"unknown {name}", where=f"Table.{name}", got=repr(given)[:60], hint=hint)


def other_separator(line: str) -> str | None:
    """The separator that a line is written with, where it is plainly not a comma."""
    counts = {each: line.count(each) for each in SEPARATORS}
    most = max(counts, key=lambda each: counts[each])
    return most if counts[most] > counts[COMMA] else None
