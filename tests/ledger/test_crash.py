"""A crash between any two statements leaves a whole ledger: the step happened, or it did not."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.worlds import swift_folder

ROOT = Path(__file__).parent.parent.parent
CRASHED, DONE = 77, 0


@pytest.fixture(scope="module", params=["file", pytest.param("postgres", marks=pytest.mark.ci)])
def report(request: pytest.FixtureRequest) -> dict[str, list[dict[str, Any]]]:
    with swift_folder() as folder:
        command = [sys.executable, "-m", "tests.ledger.crash", folder]
        if request.param == "postgres":
            command.append(f"--server={request.getfixturevalue('durable').port}")
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        ("register", [], ["registration"]),
        ("reserve", ["registration"], ["registration", "reservation"]),
        ("add", ["registration"], ["registration", "external"]),
        ("amend", ["registration"], ["registration", "amendment"]),
        (
            "reopen",
            ["registration", "reservation", "halted"],
            ["registration", "reservation", "halted", "reopened"],
        ),
    ],
)
def test_a_step_happened_or_it_did_not(
    report: dict[str, list[dict[str, Any]]], step: str, before: list[str], after: list[str]
) -> None:
    entries = report[step]
    assert len(entries) >= 5
    assert [entry["code"] for entry in entries] == [CRASHED] * (len(entries) - 1) + [DONE]
    assert all(entry["left"] in (before, after) for entry in entries)
    assert (entries[0]["left"], entries[-1]["left"]) == (before, after)


def test_a_reservation_is_charged_once_whenever_the_crash_was(report: dict[str, list[dict[str, Any]]]) -> None:
    for entry in report["reserve"]:
        paid = "reservation" in entry["left"]
        assert entry["spent"] == ("1/10" if paid else "0")
        assert entry["charged again"] == ("0" if paid else "1/10")
        assert (entry["answer"], entry["spent after"]) == ("43", "1/10")


def test_a_crash_on_the_way_to_store_leaves_one_of_three_states(report: dict[str, list[dict[str, Any]]]) -> None:
    states = [tuple(entry["left"]) for entry in report["store"]]
    nothing, paid, kept = ("registration",), ("registration", "reservation"), ("registration", "reservation", "answer")
    assert list(dict.fromkeys(states)) == [nothing, paid, kept]
    for entry, state in zip(report["store"], states, strict=True):
        assert entry["spent after"] == "1/10"
        # What was stored before the crash stays; otherwise the retry draws again, and its answer is the first.
        assert entry["answer"] == ("42" if state == kept else "43")


def test_a_crash_on_the_way_to_a_halt_leaves_no_half_of_it(report: dict[str, list[dict[str, Any]]]) -> None:
    """Before the halt is durable a retry may answer, as after every death of our own process; after it, never."""
    states = [tuple(entry["left"]) for entry in report["halt"]]
    nothing, paid = ("registration",), ("registration", "reservation")
    assert list(dict.fromkeys(states)) == [nothing, paid, (*paid, "halted")]
    for entry, state in zip(report["halt"], states, strict=True):
        assert entry["halted"] == (state == (*paid, "halted"))
        assert entry.get("answer") == (None if entry["halted"] else "43")
    assert all("answer" not in entry for entry in report["reopen"])
