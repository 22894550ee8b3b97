"""ARCHITECTURE.md names every room and nothing that is not there; CI, too, names only files that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ROOT / "src" / "quincunx"


def _rows() -> list[tuple[list[str], list[str]]]:
    """The rooms of each row of its table, with the files to begin with."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
    return [(re.findall(r"`(\w+)`", cells[0]), re.findall(r"`([\w/.]+)`", cells[-1])) for cells in rows]


def test_every_room_is_named() -> None:
    rooms = {each.name for each in ROOMS.iterdir() if (each / "__init__.py").exists()}
    assert rooms <= {room for named, _ in _rows() for room in named}


def test_what_to_begin_with_is_there() -> None:
    rows = _rows()
    assert len(rows) > 15
    for rooms, files in rows:
        assert files
        for file in files:
            assert any((ROOMS / room / file).exists() or (ROOMS / file).exists() for room in rooms), file


def test_ci_names_files_that_are_there() -> None:
    """A file that moved would end the run of the oldest libraries, which nobody sees before it is too late."""
    named = re.findall(r"\b(?:tests|docs)/[\w/]+\.(?:py|md)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert len(named) > 5
    assert not [each for each in named if not (ROOT / each).exists()]
