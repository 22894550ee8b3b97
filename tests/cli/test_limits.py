"""`quincunx limits`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.plans import made, run, run_json


def test_the_report_for_people_and_for_programs(tmp_path: Path) -> None:
    plan = made(tmp_path)
    data = run_json("limits", plan, "visits", "--spend", "8", "--by", "region", "--out", str(tmp_path / "charts"))
    assert (data["spent"], data["symbol"], data["by"]) == ("8", "ρ", ["region"])
    assert [row["region"] for row in data["lost"]] == ["north", "south", "east", "west"]
    assert (tmp_path / "charts" / "limits.svg").read_text("utf-8").startswith("<svg")
    code, out, err = run("limits", plan, "visits", "--spend", "8", "--by", "region")
    assert (code, err) == (0, "")
    for part in ("spent ρ = 0", "more than 10 rows:", "recommended: rows = ", "rows lost to them"):
        assert part in out


def test_what_is_wrong_costs_nothing(tmp_path: Path) -> None:
    plan = made(tmp_path)
    code, out, err = run("limits", plan, "regions", "--spend", "1")
    assert (code != 0, out) == (True, "")
    assert "private table" in err
    code, _, err = run("limits", plan, "visits", "--spend", "1000")
    assert code == 3
    assert "does not cover the report" in err
