"""Names of columns, as every kind of source may have them: texts that SQL can tell apart."""

from __future__ import annotations

from collections.abc import Sequence

from quincunx.errors import DataError, kind_of


def distinct_names(names: Sequence[object], where: str) -> list[str]:
    """The names, all texts and different without case; SQL could not tell them apart."""
    seen: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str) or not name:
            raise DataError("a column's name must be a text", where=where, got=kind_of(name))
        if not is_unicode(name):
            raise DataError("a column's name is not Unicode", where=where, got=ascii(name)[:60], hint="Rename it.")
        if name.lower() in seen:
            hint = "Rename one of them; names are compared without case."
            raise DataError(f"two columns are called {name!r}", where=where, got=seen[name.lower()], hint=hint)
        seen[name.lower()] = name
    return list(seen.values())


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8: Python's own may hold lone surrogates, which are no characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
