"""kill -9 at every step: nothing is drawn twice, nothing is half written, and the next run goes on for nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from quincunx.invariant.topdown import TopDown
from quincunx.invariant.topdown.pair import opened
from quincunx.invariant.topdown.write import write
from quincunx.ledger import Ledger
from quincunx.release.whole import check_folder
from tests.invariant.topdown import homes
from tests.invariant.topdown.plans import write_plan

# Runs a release and ends itself before or after the n-th of the steps that leave a trace.
CHILD = """
import os, signal, sys
from pathlib import Path
import quincunx.invariant.topdown.keep as keeping
import quincunx.invariant.topdown.topdown as room
import quincunx.invariant.topdown.write as files
from quincunx.invariant.topdown.pair import opened
from quincunx.ledger import Ledger
from quincunx.release.whole import check_folder

plan, out, stop, after = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "after"
seen = 0

def watched(function):
    def call(*args, **kwargs):
        global seen
        seen += 1
        mine = seen
        if mine == stop and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = function(*args, **kwargs)
        if mine == stop and after:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    return call

Ledger.register = watched(Ledger.register)
Ledger.reserve = watched(Ledger.reserve)
Ledger.store = watched(Ledger.store)
keeping.draw = watched(keeping.draw)
room.solve = watched(room.solve)
os.replace = watched(os.replace)
planned = opened(plan)
check_folder(out)
files.write(planned.run(), out)
print(seen)
"""


def child(plan: Path, out: Path, stop: int, after: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHILD, str(plan), str(out), str(stop), after]
    return subprocess.run(command, capture_output=True, text=True)


def again(plan: Path, out: Path) -> None:
    """The next run, as the command does it."""
    check_folder(out)
    write(opened(plan).run(), out)


def stored(ledger: Path) -> dict[str, str]:
    """Question → digest of its answer."""
    if not ledger.exists():
        return {}
    with Ledger.open(ledger, create=False) as book:
        book.verify()
        return {each.body["question"]: each.body["digest"] for each in book.records() if each.kind == "answer"}


def test_a_kill_at_any_step_costs_nothing_and_draws_nothing_twice(tmp_path: Path, ci: bool) -> None:
    whole = child(write_plan(tmp_path / "whole", ledger="ledger.db"), tmp_path / "whole" / "out", 0, "after")
    assert whole.returncode == 0, whole.stderr
    steps = int(whole.stdout)
    assert steps >= 15
    points = [(step, side) for step in range(1, steps + 1) for side in ("before", "after")]
    left = 0
    # One draw that was not kept yet, one file that was half made; all the others in CI.
    for step, side in points[::2] if ci else [points[len(points) // 2], (steps, "before")]:
        folder = tmp_path / f"{step}-{side}"
        plan = write_plan(folder, ledger="ledger.db")
        killed = child(plan, folder / "out", step, side)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        before = stored(folder / "ledger.db")
        # A file is there whole or not at all, and the summary only after all others.
        names = {file.name for file in (folder / "out").glob("*") if not file.name.startswith(".")}
        assert "summary.json" not in names or len(names) == 6
        for name in names & {"summary.json", "specification.json"}:
            json.loads((folder / "out" / name).read_text(encoding="utf-8"))
        left += len(list((folder / "out").glob(".*")))
        again(plan, folder / "out")
        # What the killed run left half made is gone.
        assert not list((folder / "out").glob(".*"))
        after = stored(folder / "ledger.db")
        assert before.items() <= after.items()
        with Ledger.open(folder / "ledger.db") as ledger:
            assert ledger.account("small").total.spent == TopDown.open(plan).rho == Fraction(2)
    assert left


@pytest.mark.ci
def test_a_kill_between_two_tables_costs_nothing_and_draws_nothing_twice(tmp_path: Path) -> None:
    """People and households: whatever was kept of either stays, and both are charged once."""
    whole = child(homes.write_plan(tmp_path / "whole", ledger="ledger.db"), tmp_path / "whole" / "out", 0, "after")
    assert whole.returncode == 0, whole.stderr
    for step in range(5, int(whole.stdout), 13):
        folder = tmp_path / str(step)
        plan = homes.write_plan(folder, ledger="ledger.db")
        killed = child(plan, folder / "out", step, "after")
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        before = stored(folder / "ledger.db")
        again(plan, folder / "out")
        assert before.items() <= stored(folder / "ledger.db").items()
        assert len(list((folder / "out").iterdir())) == 9
        with Ledger.open(folder / "ledger.db") as ledger:
            assert ledger.account("homes").total.spent == Fraction(2)
