"""The files of a sample, and a plan for a file of one's own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.data import MARKED_TEXT, Notation, observed, origin_of, type_of, write_file
from quincunx.errors import InputError
from quincunx.numbers import Number
from quincunx.sample.proposal import Answers, Asked, expected, owner
from quincunx.sample.world import Columns, world

_SPECIAL: Final = {"visits": "* REPLACE (CAST(cost AS DECIMAL(9, 2)) AS cost)"}


def write_sample(folder: str | Path, people: Number = 12_000) -> list[Path]:
    """The sample in a new or empty folder: its tables as Parquet, regions as CSV, a plan and a README."""
    place = _empty(Path(folder))
    made = world(people)
    files = [
        _write(place / "persons.parquet", "persons", made.persons),
        _write(place / "visits.parquet", "visits", made.visits),
        _write(place / "households.parquet", "households", made.households),
        _write(place / "encounters.parquet", "encounters", made.encounters),
        _write(place / "treatments.parquet", "treatments", made.treatments),
        _write(place / "regions.csv", "regions", made.regions),
    ]
    for name in ("plan.toml", "README.md"):
        (place / name).write_text(_text(name), encoding="utf-8")
        files.append(place / name)
    return files


def write_plan_for(folder: str | Path, data: str | Path) -> list[Path]:
    """A plan for Parquet or CSV files: names and types from their metadata, blanks where only the curator knows.

    No value is read: of a Parquet file the footer, of a CSV file the header line. Where a file has no types, they are
    proposed by the columns' names.
    """
    return plan_for(folder, data)[0]


def blank(_: Asked) -> Answers:
    """Nobody is there to answer."""
    return Answers()


def plan_for(folder: str | Path, data: str | Path, ask: Callable[[Asked], Answers] = blank) -> tuple[list[Path], Asked]:
    """The same, with what is left to fill in. ask: who can say some of it before the plan is written."""
    file = Path(data)
    several = file.is_dir() or not file.suffix.lower().endswith((".csv", ".tsv", ".gz"))
    seen = Notation() if several else observed(file)
    origin, hidden = origin_of(data, seen)
    place = _named_empty(Path(folder))
    source = os.path.relpath(file.resolve(), place.resolve())
    stem = file.name.partition(".")[0] if not file.is_dir() else file.resolve().name
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in stem).strip("_").lower() or "data"
    name = name if not name[0].isdigit() else f"t_{name}"
    untyped = {column for column, storage in origin.fields if storage in ("VARCHAR", MARKED_TEXT)}
    kinds = {column: (expected(column) if column in untyped else type_of(storage)) for column, storage in origin.fields}
    plan = _text("blank.toml").replace("@NAME@", name)
    plan = plan.replace('"@SOURCE@"', "\n".join([_quoted(Path(source).as_posix()), *_written(seen)]))
    lines = [_line(column, kind or "text", column in untyped and kind is not None) for column, kind in kinds.items()]
    lines += [f"# {_quoted(column)} {why}" for column, why in hidden.items()]
    numbers = tuple(column for column, kind in kinds.items() if kind in ("integer", "decimal") and not owner(column))
    asked = Asked(
        columns=tuple(kinds),
        owners=tuple(column for column in kinds if owner(column)),
        bounds=numbers,
        keys=tuple(column for column, kind in kinds.items() if kind in (None, "text") and not owner(column)),
        proposed=tuple(c for c, kind in kinds.items() if c in untyped and kind not in (None, "text")),
    )
    asked = replace(asked, said=ask(asked))
    _empty(place)
    (place / "plan.toml").write_text(_filled(plan, asked.said).replace("@COLUMNS@", "\n".join(lines)), encoding="utf-8")
    return [place / "plan.toml"], asked


def _filled(plan: str, said: Answers) -> str:
    """The plan with what was said in place of its blanks."""
    if said.key:
        plan = plan.replace('key = ""', f"key = {_quoted(said.key)}", 1)
    if said.intensity:
        plan = plan.replace('intensity  = ""', f"intensity  = {_quoted(said.intensity)}", 1)
    return plan.replace("limits = { }  ", f"limits = {{ rows = {said.rows} }}", 1) if said.rows else plan


def _written(seen: Notation) -> list[str]:
    """How a CSV file seems to be written, for a plan to declare."""
    declared = {name: getattr(seen, name) for name in seen.declared}
    return [f"{name} = {_quoted(value)}  # as its first line looks: check" for name, value in declared.items()]


def _named_empty(place: Path) -> Path:
    """A folder that is new or empty, not yet made: nobody is asked in vain."""
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        hint = "Name a new folder: nothing is ever overwritten."
        raise InputError("the folder is not empty", where=str(place), hint=hint)
    return place


def _empty(place: Path) -> Path:
    _named_empty(place)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("cannot make the folder", where=str(place), got=error.strerror or "an error") from None
    return place


def _text(name: str) -> str:
    return resources.files("quincunx.sample").joinpath("template", name).read_text(encoding="utf-8")


def _write(path: Path, name: str, columns: Columns) -> Path:
    data: dict[str, NDArray[Any]] = {key: np.ascontiguousarray(values) for key, values in columns.items()}
    write_file(path, f"SELECT {_SPECIAL.get(name, '*')} FROM sample", {"sample": data})
    return path


def _quoted(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line(column: str, kind: str, proposed: bool) -> str:
    comments = ["by its name: check"] if proposed and kind != "text" else []
    if owner(column):
        comments.append("whose a row is, by its name")
    elif kind in ("integer", "decimal"):
        comments.append("to add up: bounds = [low, high]" + (', step = "…"' if kind == "decimal" else ""))
    elif kind == "text":
        comments.append('to group by: keys = ["…", "…"]')
    said = f"  # {'; '.join(comments)}" if comments else ""
    return f'{_quoted(column)} = {{ type = "{kind}" }}{said}'
