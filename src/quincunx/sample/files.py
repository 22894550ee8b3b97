"""The files of a sample, and a plan for a file of one's own."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError, InputError
from quincunx.sample.world import Columns, world

# what DuckDB calls a type → what a plan calls it
_TYPES: Final = {
    "BOOLEAN": "boolean",
    "DATE": "date",
    "VARCHAR": "text",
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), "decimal"),
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "timestamp"
    ),
}
_SPECIAL: Final = {"visits": "* REPLACE (CAST(cost AS DECIMAL(9, 2)) AS cost)"}


def write_sample(folder: str | Path, people: object = 12_000) -> list[Path]:
    """The sample in a new or empty folder: persons and visits as Parquet, regions as CSV, a plan and a README."""
    place = _empty(Path(folder))
    made = world(people)
    files = [
        _write(place / "persons.parquet", "persons", made.persons),
        _write(place / "visits.parquet", "visits", made.visits),
        _write(place / "regions.csv", "regions", made.regions),
    ]
    for name in ("plan.toml", "README.md"):
        (place / name).write_text(_text(name), encoding="utf-8")
        files.append(place / name)
    return files


def write_plan_for(folder: str | Path, data: str | Path) -> list[Path]:
    """A plan for a Parquet or CSV file: names and types from its metadata, blanks where only the curator knows.

    No value is read: of a Parquet file the footer, of a CSV file the header line.
    """
    file = Path(data)
    kind = file.suffix.lower()
    if kind not in (".parquet", ".csv") or not file.is_file():
        hint = "Give an existing .parquet or .csv file."
        raise DataError("cannot read a table's columns from it", where=str(file), got=kind or "no file", hint=hint)
    columns = _parquet_columns(file) if kind == ".parquet" else _csv_columns(file)
    place = _empty(Path(folder))
    source = os.path.relpath(file.resolve(), place.resolve())
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in file.stem).strip("_").lower() or "data"
    name = name if not name[0].isdigit() else f"t_{name}"
    plan = _text("blank.toml").replace("@NAME@", name).replace("@SOURCE@", Path(source).as_posix())
    plan = plan.replace("@COLUMNS@", "\n".join(_line(column, kind) for column, kind in columns))
    (place / "plan.toml").write_text(plan, encoding="utf-8")
    return [place / "plan.toml"]


def _empty(place: Path) -> Path:
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        hint = "Name a new folder: nothing is ever overwritten."
        raise InputError("the folder is not empty", where=str(place), hint=hint)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("cannot make the folder", where=str(place), got=error.strerror or "an error") from None
    return place


def _text(name: str) -> str:
    return resources.files("quincunx.sample").joinpath("template", name).read_text(encoding="utf-8")


def _write(path: Path, name: str, columns: Columns) -> Path:
    data: dict[str, NDArray[Any]] = {key: np.ascontiguousarray(values) for key, values in columns.items()}
    with duckdb.connect(":memory:") as connection:
        connection.register("sample", data)
        select = f"SELECT {_SPECIAL.get(name, '*')} FROM sample"
        options = "FORMAT parquet" if path.suffix == ".parquet" else "FORMAT csv, HEADER"
        connection.execute(f"COPY ({select}) TO '{str(path).replace(chr(39), chr(39) * 2)}' ({options})")
    return path


def _parquet_columns(file: Path) -> list[tuple[str, str | None]]:
    with duckdb.connect(":memory:") as connection:
        try:
            found = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(file)]).fetchall()
        except duckdb.Error:
            hint = "Is it a Parquet file?"
            raise DataError("its metadata cannot be read", where=str(file), hint=hint) from None
    return [(row[0], _TYPES.get(row[1].split("(")[0])) for row in found]


def _csv_columns(file: Path) -> list[tuple[str, str | None]]:
    import csv

    with file.open(encoding="utf-8-sig", newline="") as lines:
        header = next(csv.reader(lines), [])
    if not header or any(not name.strip() for name in header):
        raise DataError("the first line must name the columns", where=str(file), hint="Add a header line.")
    return [(name, "text") for name in header]


def _line(column: str, kind: str | None) -> str:
    name = '"' + column.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if kind is None:
        return f"# {name} has a type that questions cannot use"
    if kind in ("integer", "decimal"):
        step = ', step = "…"' if kind == "decimal" else ""
        return f'{name} = {{ type = "{kind}" }}  # to add up: bounds = [low, high]{step}'
    if kind == "text":
        return f'{name} = {{ type = "text" }}  # to group by: keys = ["…", "…"]'
    return f'{name} = {{ type = "{kind}" }}'
