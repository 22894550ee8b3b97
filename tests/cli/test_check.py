"""`quincunx check`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.plans import made, run, run_json
from tests.release.world import PLAN, WITH_ANALYST


def test_a_good_plan(tmp_path: Path) -> None:
    plan = made(tmp_path)
    code, out, err = run("check", plan)
    assert (code, err) == (0, "")
    assert "by_region:" in out
    assert "all of it would cost ρ = 50, δ = 1e-7; remaining ρ = 100, δ = 1e-6 for visits-2024" in out
    data = run_json("check", plan)
    assert data["charged"] == "50"
    assert data["covered"] is True
    assert set(data["releases"]) == {"by_region", "total", "by_town"}
    assert not (tmp_path / "ledger.db").exists()


def test_an_analyst_has_less(tmp_path: Path) -> None:
    code, out, _ = run("check", made(tmp_path, WITH_ANALYST), "--analyst", "alice")
    assert code == 3
    assert "not covered: at most ρ = 10 can be spent" in out


def test_a_plan_without_releases_is_checked_too(tmp_path: Path) -> None:
    code, out, _ = run("check", made(tmp_path, PLAN[: PLAN.index("[[release]]")]))
    assert code == 0
    assert "all of it would cost ρ = 0" in out


@pytest.mark.parametrize(
    ("before", "after", "code", "place"),
    [
        ("AVG(age)", "AVG(agee)", 2, "release[0]"),
        ("AVG(age)", "MIN(age)", 4, "release[0]"),
        ("bounds = [0, 110]", "bounds = [9, 1]", 2, "tables.visits.columns.age"),
        ("confidence = 0.95", "confidenze = 0.95", 2, "confidenze"),
        ("invariants = []", 'invariants = ["n"]', 4, "spec.invariants"),
        ('delta = "1e-7"\n', "", 2, "release[2]"),
    ],
)
def test_mistakes_are_said_with_their_line(tmp_path: Path, before: str, after: str, code: int, place: str) -> None:
    text = PLAN.replace(before, after, 1)
    plan = made(tmp_path, text)
    found, out, err = run("check", plan)
    assert (found, out) == (code, "")
    assert f"{plan}:" in err
    assert place in err


def test_a_missing_plan(tmp_path: Path) -> None:
    code, _, err = run("check", str(tmp_path / "none.toml"))
    assert code == 2
    assert "the plan cannot be read" in err
