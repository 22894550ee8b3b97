"""Bounds and earlier statistics from files: low ≤ Qx ≤ high at one level, or Qx = n."""

from __future__ import annotations

import csv
import hashlib
import math
from dataclasses import dataclass
from io import StringIO
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A bound as arrays, and the SHA-256 of the bytes that it was read from."""

    limit: Limit
    digest: str


def read(bound: Bound, schema: Schema, geography: Geography) -> Read:
    """The bound as arrays. A place or a value that is not known, or that is listed twice, is an error: the file is no
    person's row."""
    query, level = schema.query(bound.query, "bounds.query"), geography.level(bound.level, "bounds.level")
    low = np.zeros((geography.nodes(level), query.cells))
    high = np.full(low.shape, math.inf)
    seen, listed = np.zeros(low.shape, dtype=np.bool_), np.zeros(low.shape, dtype=np.bool_)
    places = {code: place for place, code in enumerate(geography.codes[level])}
    parts = [part for part in query.parts if part is not None]
    labels = {label: cell for cell, label in enumerate(schema.labels(query))}
    where = bound.file.name
    content, header, rows = _lines(bound.file)
    needed = {geography.column, *parts}
    wanted = [side for side in _SIDES if bound.side in ("both", side)]
    if not needed <= set(header) or not set(header) & {*wanted, "n"}:
        hint = f"It needs {', '.join(sorted(needed))} and {', '.join(wanted)} or n."
        raise DataError("columns are missing", where=where, got=", ".join(header)[:100], hint=hint)
    if "n" in header and set(header) & set(wanted):
        hint = f"n stands for {' and '.join(wanted)}: keep one of them."
        raise DataError("a bound is given twice", where=where, got=", ".join(header)[:100], hint=hint)
    for number, row in rows:
        place = places.get(row[geography.column])
        cell = labels.get(", ".join(f"{part}={row[part]}" for part in parts))
        got = ", ".join(row[column] for column in (geography.column, *parts))[:100]
        if place is None or cell is None:
            raise DataError("unknown place or value", where=f"{where}:{number}", got=got)
        if seen[place, cell]:
            hint = "One line for each place and cell; no line is taken before another."
            raise DataError("a bound is listed twice", where=f"{where}:{number}", got=got, hint=hint)
        seen[place, cell] = True
        least, most = (row.get("n", row.get(side)) if side in wanted else None for side in _SIDES)
        low[place, cell] = _number(least, 0.0, where, number)
        high[place, cell] = _number(most, math.inf, where, number)
        listed[place, cell] = low[place, cell] > 0 or math.isfinite(high[place, cell])
    if bound.zero_where_none:
        high = np.where(listed, high, 0.0)
    limit = Limit(level=level, query=query, low=low, high=high, firm=bound.provenance != "public", name=name(bound))
    return Read(limit=limit, digest=hashlib.sha256(content).hexdigest())


def _lines(file: Path) -> tuple[bytes, list[str], list[tuple[int, dict[str, str]]]]:
    """The bytes, the header, and every line with its number."""
    try:
        content = file.read_bytes()
        reader = csv.reader(StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        lines = [(reader.line_num, fields) for fields in reader if fields]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError("a file of bounds cannot be read", where=str(file), got=cause(error)) from None
    header = lines[0][1] if lines else []
    if len(set(header)) < len(header):
        raise DataError("two columns have one name", where=file.name, got=", ".join(header)[:100])
    for number, fields in lines[1:]:
        if len(fields) != len(header):
            what = "a line has another number of fields than the header"
            raise DataError(what, where=f"{file.name}:{number}", got=f"{len(fields)} instead of {len(header)}")
    return content, header, [(number, dict(zip(header, fields, strict=True))) for number, fields in lines[1:]]


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
