"""One text for one meaning: canonical JSON, the digests made from it, and the names that may stand in a ledger.

Canonical JSON has sorted keys, no spaces and ASCII only; a rational is the text "p/q". Two equal values have one text,
so a digest of the text identifies the value.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Final

from quincunx.errors import DataError, ParameterError, kind_of
from quincunx.numbers import rational

_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
_MAX_DEPTH: Final = 40
_MAX_NAME: Final = 200


def canonical(value: object, where: str) -> str:
    """`value` as canonical JSON. Texts, whole numbers, rationals, booleans, None, lists and mappings of texts only."""
    return dumped(_plain(value, where, _MAX_DEPTH))


def dumped(plain: object) -> str:
    """Canonical JSON of what JSON is made of."""
    return _ENCODER.encode(plain)


def digest(text: str | bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode("ascii") if isinstance(text, str) else text).hexdigest()


def name(value: object, where: str) -> str:
    """A name that identifies: printable, without spaces at its ends, in Unicode's composed form.

    A budget belongs to a name: "visits " must not have another than "visits". What looks like a name that is known is
    refused where it would become a new one (names.py).
    """
    if not isinstance(value, str):
        raise ParameterError("expected a name", where=where, got=kind_of(value), hint="Write a short text.")
    good = 0 < len(value) <= _MAX_NAME and value.isprintable() and value == value.strip()
    if not good or not unicodedata.is_normalized("NFC", value):
        hint = f"Write 1 to {_MAX_NAME} printable characters, in composed form, without spaces at the ends."
        raise ParameterError("this cannot be a name", where=where, got=ascii(value[:40]), hint=hint)
    return value


def sentence(value: object, where: str) -> str:
    """A reason or a note: a text that says something."""
    if not isinstance(value, str) or not value.strip():
        got = "an empty text" if isinstance(value, str) else type(value).__name__
        raise ParameterError("expected a sentence", where=where, got=got, hint="Say why, for those who read it later.")
    return value.strip()


def check_moment(text: object) -> None:
    """Raise unless the text is a day or a time in ISO 8601."""
    try:
        if not isinstance(text, str):
            raise ValueError
        date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        hint = "Write 2024-05-01 or 2024-05-01T12:00:00Z."
        got = ascii(text)[:40] if isinstance(text, str) else type(text).__name__
        raise ParameterError("expected a day or a time", where="when", got=got, hint=hint) from None


def _plain(value: object, where: str, depth: int) -> Any:
    if depth == 0:
        raise DataError("is nested too deeply", where=where, got=f"more than {_MAX_DEPTH} levels")
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(rational(value, where))
    if isinstance(value, Fraction):
        return str(rational(value, where))
    if isinstance(value, list | tuple):
        return [_plain(item, where, depth - 1) for item in value]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise DataError("keys must be texts", where=where, got=kind_of(key))
        return {key: _plain(item, where, depth - 1) for key, item in value.items()}
    hint = "Use texts, whole numbers, Fraction, booleans, None, lists and mappings; a float has many texts."
    raise DataError("has no canonical form", where=where, got=kind_of(value), hint=hint)
