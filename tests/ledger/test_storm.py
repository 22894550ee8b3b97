"""Sixteen processes, five hundred questions each, killed at random: nothing is overspent, lost or told twice."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.ledger.worlds import swift_folder

ROOT = Path(__file__).parent.parent.parent


def storm(*words: object) -> dict[str, Any]:
    with swift_folder() as folder:
        command = [sys.executable, "-m", "tests.ledger.storm", folder, *map(str, words)]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    print(result.stdout)
    return json.loads(result.stdout)  # type: ignore[no-any-return]


def test_a_crowd_under_fire_never_overspends() -> None:
    report = storm(16, 500, 120, 3000)
    assert report["attempts"] == 16 * 500
    assert report["failed"] == []
    assert report["killed"] >= 120
    # Some were hit between paying and storing: their question was asked again, and cost nothing more.
    assert report["retries of a cut-off question"] > 0
    assert report["refused"] > 0
    assert (report["spent"], report["overspent"], report["remaining"]) == ("1", "0", "0")
    assert report["questions reserved twice"] == 0
    assert report["questions with two answers"] == 0
    assert report["revealed"] > 0
    assert report["revealed without a record"] == 0
    assert report["reserved without an answer"] == 0
    assert report["verified"].split(":")[0] == "6001"


def test_without_the_transaction_the_same_crowd_overspends() -> None:
    report = storm(16, 30, 0, 40, "--control")
    assert report["attempts"] == 16 * 30
    assert Fraction(report["overspent"]) > 0
    assert report["verified"].startswith("failed: ")
    assert "spends more than the budget of dataset" in report["verified"]
