"""`quincunx plan`: spends for a whole plan that reach half-widths, and that reach them when they are written into it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quincunx.release import Session
from tests.cli.plans import made, run, run_json
from tests.release.world import PLAN


def test_what_is_proposed_reaches_the_half_widths_once_it_stands_in_the_plan(tmp_path: Path) -> None:
    plan = made(tmp_path)
    asked = ("--within", "by_region.n=20", "--within", "mean_age=2", "--assume", "rows=500")
    code, out, err = run("plan", plan, *asked)
    assert (code, err) == (0, "")
    assert "by_region: ρ = " in out
    assert "for n ± 20, mean_age ± 2" in out
    assert "its share 1 of what is left, as the plan says" in out
    assert "in groups of 500 rows" in out
    assert out.endswith("Nothing was spent, and no private row was read.\n")
    found = run_json("plan", plan, *asked)
    first, total, town = found["releases"]
    assert first["line"] in out
    assert (total["line"], town["line"]) == (None, None)
    assert found["total"] == found["budget"] == "50"
    assert not (tmp_path / "ledger.db").exists()
    # Written into the plan, it is what `check` says.
    changed = made(tmp_path, PLAN.replace("spend = 2", first["line"]))
    with Session.open(changed) as session:
        by_region = dict(session.check().releases)["by_region"]
        assert by_region.cost is not None
        assert str(by_region.cost.spend) != "2"
        (n, age) = session.error(by_region.sql, spend=by_region.cost.spend, group_size=500)
        assert n.half_width is not None
        assert age.half_width is not None
        assert n.half_width <= 20
        assert age.half_width <= 2
        assert n.half_width > 19 or age.half_width > 1.9


def test_an_output_without_a_release_is_asked_of_every_release_that_has_it(tmp_path: Path) -> None:
    found = run_json("plan", made(tmp_path), "--within", "N=30")
    assert [each["within"] for each in found["releases"]] == [{"n": "30"}] * 3
    assert [each["delta"] for each in found["releases"]] == ["0", "0", "1e-7"]


def test_a_sum_that_the_budget_does_not_cover(tmp_path: Path) -> None:
    code, out, _ = run("plan", made(tmp_path, PLAN.replace("share = 1", "spend = 1")), "--within", "by_region.n=1")
    assert code == 3
    assert "not covered: ask for wider intervals, or raise the budget by " in out
    code, out, _ = run("plan", made(tmp_path, PLAN.replace("share = 1", "spend = 1")), "--within", "n=1", "--json")
    assert (code, json.loads(out)["covered"]) == (3, False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no half-width is given"),
        (("--within", "visits.n=3"), "by_region.n, by_region.mean_age, total.n, by_town.n"),
        (("--within", "by_region.n=0"), "greater than 0"),
        (("--within", "mean_age=2"), "assume rows = 1000"),
        (("--within", "n=3", "--assume", "rows=0"), "rows"),
        (("--within", "n"), "expected a name and a number"),
    ],
)
def test_what_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    code, out, err = run("plan", made(tmp_path), *words)
    assert (code, out) == (2, "")
    assert said in err
