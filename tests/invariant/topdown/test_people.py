"""The total rule: CSV and Parquet agree, row by row, whatever a row holds."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from quincunx.errors import DataError
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.people import MOST, check_columns, counted
from quincunx.invariant.topdown.schema import Schema

PLACES = Geography.of([("r", "b1"), ("r", "b2")], ["root", "block"], "place")
SCHEMA = Schema(attributes={"a": ["x", "y"], "b": ["0", "1"]}, zeros=[{"a": "x", "b": "1"}])
ROWS = [
    ("p1", "b1", "x", "0", "3"),
    ("p1", "b1", "x", "0", "3"),
    ("p2", "b2", "y", "1", "-4"),
    ("p2", "b1", "y", "0", "2.5"),
    ("p3", "b9", "y", "1", "1"),
    ("p4", "b1", "x", "1", "7"),
    ("p5", "b1", "z", "1", "7"),
    ("", "b1", "y", "1", "1e300"),
    ("p6", "", "y", "1", "1"),
    ("p7", "b2", "y", "1", "many"),
    ("p8", "b2", "y", "1", "nan"),
    ("p9", "b2", "x", "0", "inf"),
    ("p10", "b2", "x", "0", ""),
]


def files(folder: Path) -> tuple[Path, Path]:
    flat = folder / "people.csv"
    lines = ["person,place,a,b,n", *(",".join(row) for row in ROWS)]
    flat.write_text("\n".join(lines) + "\n", encoding="utf-8")
    packed = folder / "people.parquet"
    values = ", ".join("(" + ", ".join("NULL" if not v else f"'{v}'" for v in row) + ")" for row in ROWS)
    duckdb.connect().execute(f"COPY (SELECT * FROM (VALUES {values}) t(person, place, a, b, n)) TO '{packed}'")
    return flat, packed


def test_one_row_for_each_person(tmp_path: Path) -> None:
    for file in files(tmp_path):
        found = counted(file, SCHEMA, PLACES, key="person", counts=None)
        # p1 once; p2 by its first row in order of place and cell; p7, p8, p9 and p10; the others do not count.
        assert found.tolist() == [[1, 0, 1, 0], [2, 0, 0, 2]], file.name


def test_counts_row_by_row(tmp_path: Path) -> None:
    for file in files(tmp_path):
        found = counted(file, SCHEMA, PLACES, key=None, counts="n")
        # 3 + 3; −4 is 0; 2.5 is 3; 1e300 and inf are cut; unreadable ones are 0.
        assert found.tolist() == [[6, 0, 3, MOST], [MOST, 0, 0, 0]], file.name


def test_rows_without_a_key_are_people(tmp_path: Path) -> None:
    for file in files(tmp_path):
        found = counted(file, SCHEMA, PLACES, key=None, counts=None)
        assert found.tolist() == [[2, 0, 1, 1], [2, 0, 0, 3]], file.name


def test_numbers_in_parquet_are_read_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "typed.parquet"
    duckdb.connect().execute(
        f"COPY (SELECT 'b1' AS place, 'y' AS a, 1 AS b, 4 AS n UNION ALL SELECT 'b2', 'y', NULL, 2) TO '{file}'"
    )
    assert counted(file, SCHEMA, PLACES, key=None, counts="n").tolist() == [[0, 0, 0, 4], [0, 0, 0, 0]]


def test_the_header_is_checked_and_no_row(tmp_path: Path) -> None:
    flat, packed = files(tmp_path)
    for file in (flat, packed):
        with pytest.raises(DataError, match="no column 'who'"):
            check_columns(file, SCHEMA, PLACES, ["who"])
    with pytest.raises(DataError, match="cannot be read"):
        check_columns(tmp_path / "missing.csv", SCHEMA, PLACES, [])
    with pytest.raises(DataError, match="there is no such file"):
        check_columns(tmp_path / "missing.parquet", SCHEMA, PLACES, [])
    twice = tmp_path / "twice.csv"
    twice.write_text("place,a,b,a\n", encoding="utf-8")
    with pytest.raises(DataError, match="two columns have one name"):
        check_columns(twice, SCHEMA, PLACES, [])


def test_an_array_of_counts() -> None:
    given = np.array([[1, 5, -2, 3], [0, 0, 0, 4]])
    assert counted(given, SCHEMA, PLACES, key=None, counts=None).tolist() == [[1, 0, 0, 3], [0, 0, 0, 4]]
    with pytest.raises(DataError, match="one row for each leaf"):
        counted(given.T, SCHEMA, PLACES, key=None, counts=None)
    with pytest.raises(DataError, match="one row for each leaf"):
        counted(given.astype(float), SCHEMA, PLACES, key=None, counts=None)
