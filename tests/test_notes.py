"""Each proof note was looked at since the code that it covers last changed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests import notes


def test_every_note_is_about_some_code() -> None:
    assert [notes.name_of(note) for note in notes.notes() if not notes.covered(note)] == []


def test_no_note_is_older_than_its_code() -> None:
    old = [note.relative_to(notes.ROOT.parent.parent).as_posix() for note in notes.stale()]
    mend = "Read them beside their code, mend what is no longer true, then say so: python tests/notes.py --looked "
    assert old == [], mend + " ".join(old)


def test_every_line_has_its_note_in_order() -> None:
    names = list(notes.kept())
    assert names == sorted(notes.name_of(note) for note in notes.notes())


CODE = '''
"""A module."""
from quincunx.spec.unit import Replace
import math

def f(x: int) -> int:
    """What it does."""
    return x + 1  # why
'''


@pytest.mark.parametrize(
    "same",
    [
        CODE.replace("A module", "Another text"),
        CODE.replace("What it does", "What it is for"),
        CODE.replace("# why", "# another reason"),
        CODE.replace("return x + 1", "return (\n        x\n        + 1\n    )"),
        CODE.replace("quincunx.spec.unit", "quincunx.spec"),
    ],
)
def test_words_and_layout_do_not_count(same: str) -> None:
    assert same != CODE
    assert notes.written(ast.parse(same)) == notes.written(ast.parse(CODE))


@pytest.mark.parametrize(
    "other",
    [
        CODE.replace("x + 1", "x + 2"),
        CODE.replace("x + 1", "x - 1"),
        CODE.replace("import Replace", "import AddRemove"),
        CODE.replace("x: int", "x: float"),
        CODE.replace('    """What it does."""\n', '    """What it does."""\n    x += 1\n'),
        CODE + "\ny = 'a text that is no docstring'\n",
    ],
)
def test_code_counts(other: str) -> None:
    assert other != CODE
    assert notes.written(ast.parse(other)) != notes.written(ast.parse(CODE))


def test_a_look_is_kept_until_the_code_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "ROOT", tmp_path)
    monkeypatch.setattr(notes, "KEPT", tmp_path / "notes.toml")
    room = tmp_path / "room"
    room.mkdir()
    note, code, named = room / "proof.md", room / "proof.py", room / "more.py"
    note.write_text("Proved for `more.py`.\n", encoding="utf-8")
    code.write_text("x = 1\n", encoding="utf-8")
    named.write_text("y = 1\n", encoding="utf-8")
    notes._named.cache_clear()
    assert notes.covered(note) == [named, code]
    assert notes.stale() == [note]
    notes.look([note])
    assert notes.stale() == []
    code.write_text("x = 1  # as before\n", encoding="utf-8")
    assert notes.stale() == []
    named.write_text("y = 2\n", encoding="utf-8")
    assert notes.stale() == [note]
    note.unlink()
    notes.look([])
    assert notes.kept() == {}
    notes._named.cache_clear()
