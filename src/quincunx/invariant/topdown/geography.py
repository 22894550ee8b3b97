"""The hierarchy of places, from a public file alone: which nodes there are, in which order, and who is whose child.

Nothing here looks at people: an empty block is a node like any other, so neighbours have the same nodes, the same
measurements and the same files.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from quincunx.errors import DataError, ParameterError, cause
from quincunx.invariant.topdown.schema import Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Geography:
    """Levels from the root down. codes[l]: the nodes of level l, ordered so that the children of a node are together.

    parents[l][i]: the number, in level l − 1, of the parent of node i of level l (level 0: all 0). starts[l]: for each
    node of level l − 1 the number of its first child in level l. column: the column of people's leaf codes.
    """

    names: tuple[str, ...]
    column: str
    codes: tuple[tuple[str, ...], ...]
    parents: tuple[Integers, ...] = field(compare=False, repr=False)
    starts: tuple[Integers, ...] = field(compare=False, repr=False)

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self.names)

    def nodes(self, level: int) -> int:
        """The number of nodes of a level."""
        return len(self.codes[level])

    def level(self, name: str, where: str = "level") -> int:
        """The number of a level."""
        if name not in self.names:
            raise ParameterError("unknown level", where=where, got=repr(name), hint=f"Known: {', '.join(self.names)}.")
        return self.names.index(name)

    def children(self, level: int) -> Integers:
        """How many children each node of `level` has; level must not be the last."""
        return np.bincount(self.parents[level + 1], minlength=self.nodes(level))

    @property
    def digest(self) -> str:
        """SHA-256 of levels and nodes: the public part of a release's identity."""
        text = "\x1e".join("\x1f".join(codes) for codes in ((self.column, *self.names), *self.codes))
        return hashlib.sha256(text.encode()).hexdigest()

    @staticmethod
    def of(paths: Sequence[tuple[str, ...]], names: Sequence[str], column: str) -> Geography:
        """From one path, root to leaf, for each leaf. Refuses what is no hierarchy."""
        if not paths:
            raise DataError("the geography lists no place", where="geography")
        for level, name in enumerate(names):
            above: dict[str, tuple[str, ...]] = {}
            for path in paths:
                if not all(path):
                    raise DataError("a code is empty", where=f"geography, level {name}")
                if above.setdefault(path[level], path[:level]) != path[:level]:
                    hint = "Every place has one parent; give places codes that are unique in their level."
                    raise DataError(
                        "this is no hierarchy", where=f"geography, level {name}", got=path[level], hint=hint
                    )
        ordered = sorted(set(paths))
        if len(ordered) < len(paths):
            raise DataError("a place is listed twice", where="geography", hint="List each leaf once.")
        codes, parents, starts = [], [], []
        last: dict[tuple[str, ...], int] = {(): 0}
        for level in range(len(names)):
            prefixes = list(dict.fromkeys(path[: level + 1] for path in ordered))
            owner = np.array([last[prefix[:-1]] for prefix in prefixes], dtype=np.int64)
            codes.append(tuple(prefix[-1] for prefix in prefixes))
            parents.append(owner)
            starts.append(np.searchsorted(owner, np.arange(len(last)), side="left").astype(np.int64))
            last = {prefix: i for i, prefix in enumerate(prefixes)}
        return Geography(
            names=tuple(names), column=column, codes=tuple(codes), parents=tuple(parents), starts=tuple(starts)
        )


def read_geography(file: Path, levels: Mapping[str, Any]) -> Geography:
    """The hierarchy in a CSV file. levels: {column, prefix, names}, where a level's code is the beginning of the
    leaf's; or {columns}, one column for each level, the last of them the leaf's."""
    rows, header = _rows(file)
    if set(levels) == {"column", "prefix", "names"}:
        column, prefix, names = levels["column"], levels["prefix"], levels["names"]
        good = isinstance(names, list | tuple) and isinstance(prefix, list | tuple) and len(names) == len(prefix) > 0
        if not good or not all(type(n) is int and n > 0 for n in prefix) or sorted(set(prefix)) != list(prefix):
            hint = "Write prefix = [2, 5, 11], growing, and as many names."
            raise ParameterError("cannot read the levels", where="levels", got=str(prefix)[:60], hint=hint)
        place = _place(header, column, file)
        codes = [row[place] for row in rows]
        if any(len(code) != prefix[-1] for code in codes):
            what = f"every code of {column} must have {prefix[-1]} characters"
            raise DataError(what, where=str(file.name), hint="The last prefix is the length of a leaf's code.")
        paths = [tuple(code[:n] for n in prefix) for code in codes]
    elif set(levels) == {"columns"} and isinstance(levels["columns"], list | tuple) and levels["columns"]:
        names, column = levels["columns"], levels["columns"][-1]
        places = [_place(header, name, file) for name in names]
        paths = [tuple(row[place] for place in places) for row in rows]
    else:
        hint = 'Write { column = "code", prefix = [2, 5], names = ["state", "county"] }, or { columns = [...] }.'
        raise ParameterError("cannot read the levels", where="levels", got=", ".join(sorted(levels)), hint=hint)
    if len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
        raise ParameterError("levels need different names", where="levels", got=str(list(names))[:60])
    return Geography.of(paths, names, column)


def _rows(file: Path) -> tuple[list[list[str]], list[str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            rows = [row for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError("the geography cannot be read", where=str(file), got=cause(error)) from None
    if len(set(header)) < len(header):
        raise DataError("two columns have one name", where=str(file.name), got=", ".join(header)[:100])
    if any(len(row) != len(header) for row in rows):
        raise DataError("a line has another number of fields than the header", where=str(file.name))
    return rows, header


def _place(header: list[str], column: object, file: Path) -> int:
    if column not in header or not isinstance(column, str):
        hint = f"Its columns: {', '.join(header)[:200]}."
        raise DataError(f"the geography has no column {column!r}", where=file.name, hint=hint)
    return header.index(column)
