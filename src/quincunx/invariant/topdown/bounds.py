"""Bounds and earlier statistics from files: low ≤ Qx ≤ high at one level, or Qx = n."""

from __future__ import annotations

import csv
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from quincunx.errors import DataError, ParameterError, cause
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.limits import Limit
from quincunx.invariant.topdown.schema import Schema

_PROVENANCE: Final = ("public", "invariant", "published")
_SIDES: Final = ("low", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A file of bounds on a query at a level.

    file: CSV with the geography's column, one column for each attribute or recode of the query, and low, high, or n for
    both. provenance: "public" (the curator's: may give way where it cannot be kept, which is reported), "invariant"
    (read from the confidential file: part of the scope, always kept), or "published" (an earlier release: always kept,
    costs nothing). zero_where_none: places and cells that the file does not list, or lists with low 0 and no high, have
    nobody. side: "low" or "high" where the file gives that one alone, in a column of that name or n.
    """

    level: str
    query: str
    file: Path
    provenance: str
    zero_where_none: bool = False
    side: str = "both"

    def __post_init__(self) -> None:
        if self.provenance not in _PROVENANCE:
            hint = f"Choose among {', '.join(_PROVENANCE)}: what comes from the confidential file is an invariant."
            raise ParameterError(
                "say where the bound comes from", where="provenance", got=repr(self.provenance), hint=hint
            )
        if self.side not in ("both", *_SIDES):
            raise ParameterError("unknown side", where="side", got=repr(self.side)[:40], hint="low, high or both.")


def name(bound: Bound) -> str:
    """The name in scopes and reports."""
    return f"{bound.file.stem}: {bound.query} by {bound.level}"


def words(bound: Bound) -> str:
    """What is published by keeping it."""
    zero = ", nobody where there is none" if bound.zero_where_none else ""
    return f"bounds on {bound.query} in each {bound.level}, as read from the confidential file{zero}"


def digest(bound: Bound) -> str:
    """SHA-256 of the file."""
    return hashlib.sha256(bound.file.read_bytes()).hexdigest()


def read(bound: Bound, schema: Schema, geography: Geography) -> Limit:
    """The bound as arrays. A place or a value that is not known is an error: the file is no person's row."""
    query, level = schema.query(bound.query, "bounds.query"), geography.level(bound.level, "bounds.level")
    low = np.zeros((geography.nodes(level), query.cells))
    high = np.full(low.shape, math.inf)
    listed = np.zeros(low.shape, dtype=np.bool_)
    places = {code: place for place, code in enumerate(geography.codes[level])}
    parts = [part for part in query.parts if part is not None]
    labels = {label: cell for cell, label in enumerate(schema.labels(query))}
    try:
        with bound.file.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError("a file of bounds cannot be read", where=str(bound.file), got=cause(error)) from None
    where = bound.file.name
    needed = {geography.column, *parts}
    header = set(rows[0]) if rows else needed | {"n"}
    wanted = [side for side in _SIDES if bound.side in ("both", side)]
    if not needed <= header or not header & {*wanted, "n"}:
        hint = f"It needs {', '.join(sorted(needed))} and {', '.join(wanted)} or n."
        raise DataError("columns are missing", where=where, got=", ".join(map(str, header))[:100], hint=hint)
    for number, row in enumerate(rows, start=2):
        place = places.get(row[geography.column])
        cell = labels.get(", ".join(f"{part}={row[part]}" for part in parts))
        if place is None or cell is None:
            got = ", ".join(str(row[column]) for column in (geography.column, *parts))[:100]
            raise DataError("unknown place or value", where=f"{where}:{number}", got=got)
        least, most = (row.get("n") or row.get(side) if bound.side in ("both", side) else None for side in _SIDES)
        low[place, cell] = _number(least, 0.0, where, number)
        high[place, cell] = _number(most, math.inf, where, number)
        listed[place, cell] = low[place, cell] > 0 or math.isfinite(high[place, cell])
    if bound.zero_where_none:
        high = np.where(listed, high, 0.0)
    return Limit(level=level, query=query, low=low, high=high, firm=bound.provenance != "public", name=name(bound))


def _number(text: str | None, missing: float, where: str, line: int) -> float:
    if text is None or not text.strip():
        return missing
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 1 << 40:
        raise DataError("a bound is a whole number, 0 or greater", where=f"{where}:{line}", got=text[:40])
    return float(value)
