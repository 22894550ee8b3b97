"""`quincunx release`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.plans import made, run, run_json
from tests.release.world import PLAN


def test_tables_are_written_and_the_cost_is_said(tmp_path: Path) -> None:
    plan, out = made(tmp_path), tmp_path / "out"
    code, text, err = run("release", plan, "--out", str(out))
    assert code == 0
    # A new ledger does not pass in silence.
    assert err == "The first question about visits-2024 in this ledger, which now gives it ρ = 100, δ = 1e-6 in all.\n"
    assert "by_region: 4 rows, spent ρ = 2" in text
    assert "remaining ρ = 50, δ = 9e-7 for visits-2024" in text
    assert {"by_region.csv", "by_region.parquet", "summary.json", "summary.md"} <= {p.name for p in out.iterdir()}
    again = run_json("release", plan, "--out", str(out))
    assert again["releases"]["by_region"]["spent"] == "0"
    assert "spent ρ = 2; remaining ρ = 50" in (out / "summary.md").read_text(encoding="utf-8")
    assert again["head"] == json.loads((out / "summary.json").read_text(encoding="utf-8"))["head"]


def test_a_dry_run_writes_and_spends_nothing(tmp_path: Path) -> None:
    plan = made(tmp_path)
    code, text, _ = run("release", plan, "--dry-run")
    assert code == 0
    assert "No private row was read." in text
    assert run_json("release", plan, "--dry-run", "--out", str(tmp_path / "out"))["charged"] == "50"
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "ledger.db").exists()


def test_refusals(tmp_path: Path) -> None:
    plan = made(tmp_path, PLAN.replace("spend = 2", "spend = 60").replace("share = 1", "spend = 1"))
    code, text, err = run("release", plan, "--out", str(tmp_path / "out"))
    assert (code, text) == (3, "")
    assert "largest affordable spend is ρ = 50" in err
    assert run("release", plan, "--dry-run")[0] == 3
    code, _, err = run("release", plan)
    assert code == 2
    assert "--out" in err
    code, _, err = run("release", made(tmp_path, PLAN[: PLAN.index("[[release]]")]), "--out", str(tmp_path / "out"))
    assert code == 2
    assert "there is no release" in err
