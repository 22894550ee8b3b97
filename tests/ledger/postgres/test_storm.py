"""Sixteen processes spend from one database; some are killed, and once the server itself: nothing is overspent."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.worlds import made, staffed
from tests.postgres import Server, server

pytestmark = pytest.mark.ci
ROOT = Path(__file__).parents[3]


def storm(folder: Path, module: str, *words: object, struck: Server | None = None) -> dict[str, Any]:
    """The report of a storm; `struck`: a server that is stopped at once in the middle of it, and started again."""
    command = [sys.executable, "-m", f"tests.ledger.{module}", str(folder), *map(str, words)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if struck is not None:
        # When some hundreds have been recorded: a crash in the middle, on a machine of any speed.
        while running.poll() is None and "shared 40" not in (folder / "3.log").read_text(errors="ignore"):
            time.sleep(0.05)
        struck.control("stop", "-m", "immediate")
        struck.start()
    out, error = running.communicate(timeout=300)
    assert running.returncode == 0, error[-2000:]
    print(out)
    return json.loads(out)  # type: ignore[no-any-return]


def test_a_crowd_under_fire_and_a_server_that_dies(tmp_path: Path) -> None:
    (tmp_path / "3.log").touch()
    with server(durable=True, parent=tempfile.gettempdir()) as running:
        report = storm(tmp_path, "storm", 16, 200, 40, 1200, f"--ledger={made(staffed(running))}", struck=running)
        assert "database system was not properly shut down" in running.log
    assert report["attempts"] == 16 * 200
    assert report["failed"] == []
    assert report["killed"] >= 40
    assert report["refused"] > 0
    assert (report["spent"], report["overspent"], report["remaining"]) == ("1", "0", "0")
    assert report["questions reserved twice"] == 0
    assert report["questions with two answers"] == 0
    assert report["revealed"] > 0
    assert report["revealed without a record"] == 0
    assert report["reserved without an answer"] == 0
    assert report["verified"].split(":")[0] == "2401"


def test_without_the_lock_the_same_crowd_overspends(tmp_path: Path, durable: Server) -> None:
    report = storm(tmp_path, "storm", 16, 30, 0, 40, "--control", f"--ledger={made(durable)}")
    assert report["attempts"] == 16 * 30
    assert Fraction(report["overspent"]) > 0
    assert report["verified"].startswith("failed: ")
    assert "spends more than the budget of dataset" in report["verified"]


def test_nobody_learns_which_question_failed(tmp_path: Path, durable: Server) -> None:
    report = storm(tmp_path, "halt_storm", 16, 20, 9, f"--ledger={made(durable)}")
    assert report["codes"] == [0] * 16
    assert len(set(report["open"])) == 1
    assert "nobody is told on which question" in report["open"][0]
    assert (report["halts"], report["withheld"]) == (1, 16)
    assert report["records after the halt"] == []
    assert report["verified"].startswith("338:")
