"""How a plan is written down for ever: the text that names a question in a ledger.

Every node of a plan has a tag and writes its own form. A tag names a meaning and never a class: classes and fields may
be renamed, a tag may not, and a node whose meaning changes gets a new one, so that only questions that use it are new.
Golden keys hold every form (tests/release/test_keys.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import ClassVar, Final, Protocol, TypeAlias

_PLAIN: Final = frozenset({bool, int, str, type(None)})
Json: TypeAlias = "str | int | bool | Sequence[Json] | Mapping[str, Json] | None"


class Written(Protocol):
    """What has a canonical form."""

    tag: ClassVar[str]

    def canonical(self) -> Json:
        """[tag, {name: part}]."""
        ...


def node(tag: str, **parts: Json) -> Json:
    """The form of a node."""
    return [tag, parts]


def part(value: Written | None) -> Json:
    """A node that may be missing."""
    return None if value is None else value.canonical()


def number(value: Fraction | None) -> Json:
    """A rational in lowest terms, marked: 1/2 and the text "1/2" differ."""
    return None if value is None else {"number": str(value)}


def value(given: bool | int | Fraction | str | date | datetime | None) -> Json:
    """A constant; rationals, dates and moments are marked."""
    if type(given) in _PLAIN:
        # As most keys are, of which there may be many in every question.
        return given  # type: ignore[return-value]
    if isinstance(given, Fraction):
        return number(given)
    if isinstance(given, date):
        return {"datetime" if isinstance(given, datetime) else "date": given.isoformat()}
    return given
