"""From the confidential file to exact counts: a total rule, row by row and person by person.

No row is an error and none is counted aloud. A row counts if its code is a leaf of the geography, each attribute has
one of its declared values and the cell is no structural zero. Of a person's rows that count, the first in the order of
(leaf, cell) stands for the person; rows without a key do not count. With a column of counts there is no key: n stands
for n people; missing, negative or unreadable it is 0, with a fraction it is rounded.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from quincunx.data import Notation, connect, is_unicode, origin_of
from quincunx.errors import DataError, cause
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.schema import Integers, Schema
from quincunx.table import ColumnSchema
from quincunx.table.engines.duckdb.dialect import DUCKDB
from quincunx.table.engines.scan import read

# One row's count is cut here, so that no sum of rows leaves int64.
MOST: Final = 1 << 32
_ALL: Final = 1 << 52


def counted(
    source: str | Path | Integers, schema: Schema, geography: Geography, *, key: str | None, counts: str | None
) -> Integers:
    """The exact table of every leaf: (leaves, cells)."""
    shape = (geography.nodes(geography.depth - 1), schema.cells)
    if isinstance(source, np.ndarray):
        if source.shape != shape or source.dtype.kind not in "iu":
            what = "an array of counts has one row for each leaf and one column for each cell"
            raise DataError(what, where="source", got=f"{source.shape} of {source.dtype}", hint=f"Expected {shape}.")
        kept = np.clip(source.astype(np.int64), 0, MOST)
        kept[:, schema.empty] = 0
        return kept
    file = Path(source)
    reader = _from_parquet if file.suffix.lower() == ".parquet" else _from_csv
    flat = reader(file, schema, geography, key, counts)
    return flat.reshape(shape)


def check_columns(source: str | Path | Integers, schema: Schema, geography: Geography, extra: Iterable[str]) -> None:
    """Raise DataError unless the file has the columns that are needed: a matter of its header, not of its rows."""
    if isinstance(source, np.ndarray):
        return
    file = Path(source)
    header = _parquet_header(file) if file.suffix.lower() == ".parquet" else _csv_header(file)
    wanted = [geography.column, *schema.names, *extra]
    missing = [name for name in wanted if name not in header]
    if missing or len(set(header)) < len(header):
        what = f"the file has no column {missing[0]!r}" if missing else "two columns have one name"
        raise DataError(what, where=file.name, hint=f"Its columns: {', '.join(header)[:200]}.")


def _cells(schema: Schema) -> list[tuple[dict[str, int], int]]:
    """For each attribute: value → its number, and how many cells one step of it is."""
    steps = [math.prod(schema.sizes[axis + 1 :]) for axis in range(len(schema.sizes))]
    return [
        ({value: place for place, value in enumerate(values)}, step)
        for (_, values), step in zip(schema.attributes, steps, strict=True)
    ]


def _csv_header(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            line = stream.readline(1 << 20).decode("utf-8-sig", errors="replace").rstrip("\r\n")
    except OSError as error:
        raise DataError("the file cannot be read", where=str(file), got=cause(error)) from None
    return _fields(line) or []


def _fields(line: str) -> list[str] | None:
    """The fields of one line; a line is a row, whatever quotes it holds. None where there are none to be had."""
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line]), None)
    except csv.Error:
        return None


def _from_csv(file: Path, schema: Schema, geography: Geography, key: str | None, counts: str | None) -> Integers:
    check_columns(file, schema, geography, [name for name in (key, counts) if name is not None])
    header = _csv_header(file)
    leaves = {code: place for place, code in enumerate(geography.codes[-1])}
    where = header.index(geography.column)
    axes = [(header.index(name), *each) for name, each in zip(schema.names, _cells(schema), strict=True)]
    owner = None if key is None else header.index(key)
    number = None if counts is None else header.index(counts)
    cells, empty = schema.cells, schema.empty
    table = np.zeros(len(leaves) * cells, dtype=np.int64)
    first: dict[str, int] = {}
    for fields in _lines(file, len(header)):
        leaf = leaves.get(fields[where])
        if leaf is None:
            continue
        cell = 0
        for place, values, step in axes:
            value = values.get(fields[place])
            if value is None:
                break
            cell += value * step
        else:
            if empty[cell]:
                continue
            position = leaf * cells + cell
            if owner is not None:
                # A key that is no text belongs to nobody, as in every table.
                if fields[owner] and is_unicode(fields[owner]):
                    first[fields[owner]] = min(position, first.get(fields[owner], position))
            else:
                table[position] += 1 if number is None else _count(fields[number])
    if first:
        table += np.bincount(np.fromiter(first.values(), dtype=np.int64, count=len(first)), minlength=len(table))
    return table


def _lines(file: Path, width: int) -> Iterator[list[str]]:
    try:
        with file.open("rb") as stream:
            stream.readline()
            for raw in stream:
                # Bytes that are no text stay what they are: put in one character's place, two keys could become one.
                fields = _fields(raw.decode("utf-8", errors="surrogateescape").rstrip("\r\n"))
                if fields is not None and len(fields) == width:
                    yield fields
    except OSError as error:
        raise DataError("the file cannot be read", where=str(file), got=cause(error)) from None


def _count(text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        return 0
    return math.floor(min(value, MOST) + 0.5) if value > 0 else 0


def _parquet_header(file: Path) -> list[str]:
    origin, _ = origin_of(file, Notation())
    return [name for name, _ in origin.fields]


def _from_parquet(file: Path, schema: Schema, geography: Geography, key: str | None, counts: str | None) -> Integers:
    """One statement over the total scan of tables (data/origin.md), so that no row can make it fail."""
    names = [name for name in (key, counts) if name is not None]
    check_columns(file, schema, geography, names)
    origin, _ = origin_of(file, Notation())
    storage = dict(origin.fields)

    def scanned(name: str, kind: str = "text") -> str:
        return DUCKDB.written(read(DUCKDB, ColumnSchema(name=name, type=kind), storage[name]).sql)

    codes = np.array(geography.codes[-1], dtype=object)
    tables: dict[str, Any] = {"leaves": {"code": codes, "place": np.arange(len(codes), dtype=np.int64)}}
    chosen, joins, cell = [f"{scanned(geography.column)} AS leaf"], ["JOIN leaves ON leaves.code = people.leaf"], ["0"]
    for axis, (name, (values, step)) in enumerate(zip(schema.names, _cells(schema), strict=True)):
        tables[f"axis{axis}"] = {
            "value": np.array(list(values), dtype=object),
            "cell": np.array(list(values.values()), dtype=np.int64) * step,
        }
        chosen.append(f"{scanned(name)} AS a{axis}")
        joins.append(f"JOIN axis{axis} ON axis{axis}.value = people.a{axis}")
        cell.append(f"axis{axis}.cell")
    tables["possible"] = {"cell": np.flatnonzero(~schema.empty).astype(np.int64)}
    number = "1"
    if counts is not None:
        chosen.append(f"CAST({scanned(counts, 'decimal')} AS DOUBLE) AS number")
        number = (
            "CASE WHEN number > 0 AND NOT isnan(number) "
            f"THEN CAST(floor(least(greatest(number, 0), {MOST}) + 0.5) AS BIGINT) ELSE 0 END"
        )
    chosen.append(f"{'NULL' if key is None else scanned(key)} AS person")
    needed = origin.needed([geography.column, *schema.names, *names])
    connection = connect(origin.paths, folders=origin.folders)
    try:
        for name, table in tables.items():
            connection.register(name, table)
        with origin.reading(connection, needed) as relation:
            people = f"(SELECT {', '.join(chosen)} FROM {DUCKDB.written(relation)}) AS people"
            rows = (
                f"SELECT leaves.place * {schema.cells} + {' + '.join(cell)} AS position, {' + '.join(cell)} AS cell, "
                f"{number} AS n, person FROM {people} {' '.join(joins)}"
            )
            kept = f"SELECT r.* FROM ({rows}) AS r JOIN possible ON possible.cell = r.cell"
            if key is not None:
                kept = f"SELECT MIN(position) AS position, 1 AS n FROM ({kept}) WHERE person <> '' GROUP BY person"
            counted = f"SELECT position, LEAST(SUM(n), {_ALL})::BIGINT AS n FROM ({kept}) GROUP BY position"
            found = connection.execute(counted).fetchnumpy()
    finally:
        connection.close()
    table = np.zeros(len(codes) * schema.cells, dtype=np.int64)
    table[np.asarray(found["position"], dtype=np.int64)] = np.asarray(found["n"], dtype=np.int64)
    return table
