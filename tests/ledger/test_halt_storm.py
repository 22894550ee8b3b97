"""Sixteen processes and a row on which the engine fails: nobody learns whose question it was."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.worlds import swift_folder

ROOT = Path(__file__).parent.parent.parent
PROCESSES, QUESTIONS = 16, 20


def storm(failing: int, *words: str) -> dict[str, Any]:
    with swift_folder() as folder:
        counts = map(str, (PROCESSES, QUESTIONS, failing))
        command = [sys.executable, "-m", "tests.ledger.halt_storm", folder, *counts, *words]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout)  # type: ignore[no-any-return]


@pytest.mark.parametrize("failing", [0, 9])
def test_nobody_learns_which_question_failed(failing: int) -> None:
    report = storm(failing)
    assert report["codes"] == [0] * PROCESSES
    # Sentence, file and line: all sixteen are told the same, the one that failed among them.
    assert len(set(report["open"])) == 1
    assert "nobody is told on which question" in report["open"][0]
    assert (report["halts"], report["withheld"]) == (1, PROCESSES)
    # Before the halt everything was answered; after it nothing is recorded, so nothing is charged.
    assert report["earlier"] == PROCESSES * (QUESTIONS // 2)
    assert report["records after the halt"] == []
    assert Fraction(report["spent"]) == Fraction(PROCESSES * (QUESTIONS // 2 + 1), 1000)
    assert len(report["later"]) == 1
    assert "HaltedError" in report["later"][0]
    assert report["verified"].startswith("338:")


def test_without_the_check_in_store_everybody_learns_it() -> None:
    report = storm(9, "--control")
    told = [what == "answered" for what in report["open"]]
    assert told == [process != 9 for process in range(PROCESSES)]
    assert "answers a question that was open when record" in report["verified"]
