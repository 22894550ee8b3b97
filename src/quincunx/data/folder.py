"""Several Parquet files as one table: which files, and the values that their folders' names hold (Hive's `key=value`).

The list is taken once, when the table is opened, and the engine can reach nothing else: all questions are about the
same files. Which files there are is a fact about people, so their names stand in no message, no repr and no printed
statement: a table is named as the curator typed it. See folder.md.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

from quincunx.data.names import distinct_names, is_unicode
from quincunx.errors import DataError

_PATTERN: Final = frozenset("*?[")
# How writers name the folder of rows without a value.
_NOTHING: Final = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Parquet files in a fixed order. given: as the curator typed it, the only part that is ever shown.

    keys: the keys in the folders' names. values: for each file one text, or None, for each key.
    """

    given: str
    paths: tuple[str, ...] = field(repr=False)
    keys: tuple[str, ...] = ()
    values: tuple[tuple[str | None, ...], ...] = field(repr=False, default=())


def is_several(path: Path) -> bool:
    """Whether a path stands for several files: a folder, or a pattern that is not itself the name of a file."""
    return path.is_dir() or (bool(set(str(path)) & _PATTERN) and not path.is_file())


def one(path: Path) -> Files:
    """A single file; what its folders are called says nothing."""
    return Files(given=str(path), paths=(str(path.resolve()),))


def several(path: Path) -> Files:
    """The Parquet files in a folder and below, or those that fit a pattern; names with _ or . in front are left out."""
    base, found = _in_folder(path) if path.is_dir() else _fitting(str(path))
    places = sorted(place for place in found if place[-1].lower().endswith(".parquet"))
    if not places:
        hint = (
            "Name a folder that holds .parquet files, or a pattern that they fit. "
            "Several CSV files are no table: put them into one, or write them as Parquet."
        )
        raise DataError("there is no Parquet file", where="Table", got=str(path), hint=hint)
    paths = tuple(os.path.join(base, *place) for place in places)
    if not all(is_unicode(each) for each in paths):
        raise DataError("the name of a file or a folder is not Unicode", where="Table", got=str(path))
    pairs = [_pairs(place[:-1]) for place in places]
    keys = tuple(key for key, _ in pairs[0])
    if any(tuple(key for key, _ in each) != keys for each in pairs):
        hint = "Every file must lie in folders of the same keys, in one order: year=…/month=…"
        raise DataError("the folders do not all have the same keys", where="Table", got=str(path), hint=hint)
    distinct_names(keys, "Table")
    return Files(given=str(path), paths=paths, keys=keys, values=tuple(tuple(v for _, v in each) for each in pairs))


def literal(path: str) -> str:
    """The path in a form in which the engine takes no character of it for a pattern."""
    return "".join(f"[{each}]" if each in _PATTERN else each for each in path)


def _in_folder(folder: Path) -> tuple[str, Iterator[tuple[str, ...]]]:
    base = str(folder.resolve())

    failed: list[bool] = []

    def walk() -> Iterator[tuple[str, ...]]:
        for place, folders, files in os.walk(base, onerror=lambda _: failed.append(True)):
            folders[:] = [name for name in folders if _is_shown(name)]
            inner = Path(place).relative_to(base).parts
            yield from ((*inner, name) for name in files if _is_shown(name))
        if failed:
            # Its rows would be left out in silence. Raised here, because the system's own error names the folder.
            raise DataError("a folder below it cannot be read", where="Table", got=str(folder))

    return base, walk()


def _fitting(pattern: str) -> tuple[str, Iterator[tuple[str, ...]]]:
    """The files below the part of the pattern that is fixed."""
    parts = Path(pattern).parts
    fixed = next(i for i, part in enumerate(parts) if set(part) & _PATTERN)
    base = str(Path(*parts[:fixed]).resolve())
    rest = os.path.join(*parts[fixed:])
    found = (Path(each).parts for each in glob.glob(rest, root_dir=base, recursive=True))
    return base, (each for each in found if all(map(_is_shown, each)) and os.path.isfile(os.path.join(base, *each)))


def _is_shown(name: str) -> bool:
    """Whether it is no file of a writer's own: _SUCCESS, _temporary, .crc."""
    return not name.startswith(("_", "."))


def _pairs(folders: Sequence[str]) -> list[tuple[str, str | None]]:
    named = [folder.partition("=") for folder in folders]
    return [(key, _value(value)) for key, equals, value in named if equals and key]


def _value(written: str) -> str | None:
    """The value in a folder's name: percent signs are undone; nothing where that gives no Unicode."""
    if written == _NOTHING:
        return None
    try:
        return unquote_to_bytes(written).decode("utf-8")
    except UnicodeDecodeError:
        return None
