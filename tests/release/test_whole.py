"""Files that appear whole or not at all, and what killed writers leave behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quincunx.errors import UnavailableError
from quincunx.release import whole

WRITER = """
import sys, time
from pathlib import Path
from quincunx.release.whole import write_whole

def make(path):
    path.write_text("half")
    print("writing", flush=True)
    sys.stdin.readline()

write_whole(Path(sys.argv[1]), make)
"""


def writer(path: Path) -> subprocess.Popen[str]:
    """A process in the middle of writing a file, until it is told to go on."""
    command = [sys.executable, "-c", WRITER, str(path)]
    found = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert found.stdout is not None
    assert found.stdout.readline() == "writing\n"
    return found


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    whole.write_text(file, "a\r\nb\n")
    assert file.read_bytes() == b"a\r\nb\n"

    def broken(path: Path) -> None:
        path.write_text("half", encoding="utf-8")
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        whole.write_whole(file, broken)
    assert file.read_bytes() == b"a\r\nb\n"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_what_a_killed_writer_left_is_swept_and_a_living_one_is_let_alone(tmp_path: Path) -> None:
    killed, living = writer(tmp_path / "one"), writer(tmp_path / "two")
    killed.kill()
    killed.communicate()
    assert len(os.listdir(tmp_path)) == 2
    whole.check_folder(tmp_path)
    assert len(os.listdir(tmp_path)) == 1
    living.communicate("go on\n")
    assert living.returncode == 0
    assert os.listdir(tmp_path) == ["two"]
    assert (tmp_path / "two").read_text(encoding="utf-8") == "half"


def test_a_folder_swept_before_it_was_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked, first = whole._locked, []

    def late(place: Path, *, wait: bool) -> int | None:
        if not first:
            first.append(place)
            place.rmdir()
        return locked(place, wait=wait)

    monkeypatch.setattr(whole, "_locked", late)
    whole.write_text(tmp_path / "file", "whole")
    assert os.listdir(tmp_path) == ["file"]


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / ".hidden").write_text("mine", encoding="utf-8")
    (tmp_path / ".quincunx-note").write_text("mine too", encoding="utf-8")
    whole.check_folder(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".hidden", ".quincunx-note"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UnavailableError, match="cannot be written"):
        whole.check_folder(tmp_path / "file" / "folder")
