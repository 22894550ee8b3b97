"""Everything that Quincunx claims of itself, in one list. See catalogue.md."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from quincunx.audit.self_audit import compositions, mechanisms, sessions, swaps, tables
from quincunx.audit.self_audit import controls as broken
from quincunx.audit.self_audit.entry import Entry
from quincunx.errors import ParameterError


@cache
def claims() -> Mapping[str, Entry]:
    """Every claim by its name, in the order of the report."""
    rooms = (mechanisms, compositions, swaps, tables, sessions)
    return _named([entry for room in rooms for entry in room.entries()])


@cache
def controls() -> Mapping[str, Entry]:
    """Every mechanism that is broken on purpose, by its name."""
    return _named(list(broken.entries()))


def _named(found: list[Entry]) -> Mapping[str, Entry]:
    named = {entry.name: entry for entry in found}
    if len(named) < len(found):
        raise ParameterError("two entries of the catalogue have one name", where="catalogue")
    return MappingProxyType(named)
