"""The folder in which rows are written down: who begins there is alone, and what cannot be used is said at once."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from quincunx.table.engines.spark import scratch
from quincunx.table.engines.spark.scratch import Scratch


def above(folder: Path) -> Path:
    return folder / f"quincunx-spark-{os.getuid()}"


def test_nobody_tidies_up_while_a_folder_has_no_lock_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between making a folder and holding its lock, another start would take it for one that a crash left."""
    locked, alone = fcntl.flock, []

    def looking(held: Any, how: int) -> None:
        made = list(above(tmp_path).iterdir())
        if made:
            other = os.open(above(tmp_path), os.O_RDONLY)
            try:
                locked(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                alone.append(made[0])
            finally:
                os.close(other)
        locked(held, how)

    monkeypatch.setattr(scratch.fcntl, "flock", looking)
    with Scratch(str(tmp_path)).opened() as folder:
        assert alone == [folder.parent]
    monkeypatch.undo()
    # Afterwards others may begin beside it.
    with Scratch(str(tmp_path)).opened() as beside, Scratch(str(tmp_path)).opened() as another:
        assert beside.parent != another.parent


def test_a_folder_that_ended_before_its_lock_was_made_is_removed(tmp_path: Path) -> None:
    above(tmp_path).mkdir(mode=0o700)
    (above(tmp_path) / "begun").mkdir()
    used = Scratch(str(tmp_path))
    with used.opened():
        assert not (above(tmp_path) / "begun").exists()
    used.close()
    assert list(above(tmp_path).iterdir()) == []
