"""`quincunx snapshot`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.plans import COUNT, made, run, run_json
from tests.release.world import PLAN

NAMED = PLAN.replace("confidence", 'snapshot   = "visits.snapshot"\nconfidence')


def test_questions_after_it_need_no_source(tmp_path: Path) -> None:
    plan = made(tmp_path, NAMED)
    before = sorted(each.name for each in tmp_path.iterdir())
    assert run_json("snapshot", plan) == {"snapshot": "visits.snapshot"}
    code, out, err = run("snapshot", plan)
    assert (code, err) == (0, "")
    assert out.startswith("visits.snapshot: private rows rest in it")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*before, "visits.snapshot"])
    first = run_json("sql", plan, COUNT, "--spend", "1")
    (tmp_path / "visits.snapshot").unlink()
    # The file is no part of what names a question: the answer is the one that is stored.
    assert run_json("sql", plan, COUNT, "--spend", "1")["rows"] == first["rows"]


def test_it_charges_nothing_and_makes_no_ledger(tmp_path: Path) -> None:
    plan = made(tmp_path, NAMED)
    run_json("snapshot", plan)
    assert not [each for each in tmp_path.iterdir() if each.name.startswith("ledger")]


def test_a_plan_that_names_no_file_is_told_so(tmp_path: Path) -> None:
    code, out, err = run("snapshot", made(tmp_path))
    assert (code != 0, out) == (True, "")
    assert 'snapshot = "visits.snapshot"' in err
