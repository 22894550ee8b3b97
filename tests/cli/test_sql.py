"""`quincunx sql`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.plans import COUNT, made, run, run_json
from tests.release.world import CANARY, PLAN, WITH_ANALYST


def test_the_json_of_the_contract(tmp_path: Path) -> None:
    plan = made(tmp_path)
    data = run_json("sql", plan, COUNT, "--spend", "0.05")
    assert data["rows"][0].keys() == {"region", "n", "n_low", "n_high", "n_se"}
    assert data["rows"][0]["region"] == "north"
    assert isinstance(data["rows"][0]["n"], int)
    assert (data["spent"], data["remaining"]) == ("0.05", "99.95")
    assert data["head"].startswith("3:")
    again = run_json("sql", plan, COUNT, "--spend", "1/20")
    assert again["rows"] == data["rows"]
    assert again["spent"] == "0"
    assert any(note.startswith("Cost 0") for note in again["notes"])


def test_a_table_for_people_fits_eighty_columns(tmp_path: Path) -> None:
    code, out, err = run("sql", made(tmp_path), COUNT, "--spend", "1")
    assert (code, err) == (0, "")
    assert max(len(line) for line in out.splitlines()) <= 80
    for part in ("north", "95 %", "spent ρ = 1; remaining ρ = 99", "protects: One person", "ledger head 3:"):
        assert part in out
    assert CANARY not in out


def test_csv_is_data_on_stdout_and_talk_on_stderr(tmp_path: Path) -> None:
    code, out, err = run("sql", made(tmp_path), COUNT, "--spend", "1", "--csv")
    assert code == 0
    rows = list(csv.DictReader(out.splitlines()))
    assert [row["region"] for row in rows] == ["north", "south", "east", "west"]
    assert "spent ρ = 1" in err


def test_the_question_may_come_from_standard_input(tmp_path: Path) -> None:
    code, out, _ = run("sql", made(tmp_path), "-", "--spend", "1", "--json", input=COUNT)
    assert code == 0
    assert len(json.loads(out)["rows"]) == 4


def test_half_widths_delta_and_tidying(tmp_path: Path) -> None:
    plan = made(tmp_path)
    wide = run_json("sql", plan, COUNT, "--within", "n=30", "--tidy", "non-negative", "--tidy", "integer")
    assert all(row["n"] >= 0 and row["n_low"] >= 0 for row in wide["rows"])
    towns = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
    found = run_json("sql", plan, towns, "--spend", "20", "--delta", "1e-7")
    assert found["delta"] == "1e-7"


def test_a_refusal_by_the_budget_shows_what_could_be_spent(tmp_path: Path) -> None:
    plan = made(tmp_path, WITH_ANALYST)
    run_json("sql", plan, COUNT, "--spend", "4", "--analyst", "alice")
    code, out, err = run("sql", plan, COUNT, "--spend", "7", "--analyst", "alice")
    assert (code, out) == (3, "")
    assert "ρ = 7, with 4 spent and 6 remaining of 10" in err
    assert "largest affordable spend is ρ = 6" in err
    code, out, err = run("sql", plan, COUNT, "--spend", "47", "--json", "--analyst", "curator")
    assert (code, out) == (3, "")
    refused = json.loads(err)
    assert refused["error"] == "BudgetError"
    known = {"budget": "plan", "symbol": "ρ", "requested": "47", "spent": "4", "remaining": "46", "affordable": "46"}
    assert {name: refused[name] for name in known} == known


def test_a_refusal_for_privacy_underlines_the_place(tmp_path: Path) -> None:
    code, out, err = run("sql", made(tmp_path), "SELECT MAX(age) AS m FROM visits", "--spend", "1")
    assert (code, out) == (4, "")
    lines = err.splitlines()
    assert lines[0].strip() == "SELECT MAX(age) AS m FROM visits"
    assert set(lines[1].strip()) == {"^"}
    assert lines[2].startswith("error:")
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize(
    "words",
    [
        (COUNT,),
        (COUNT, "--spend", "0"),
        (COUNT, "--spend", "x"),
        (COUNT, "--spend", "1", "--within", "n=3"),
        (COUNT, "--within", "n"),
        (COUNT, "--within", "=3"),
        (COUNT, "--within", "m=3"),
        (COUNT, "--spend", "1", "--tidy", "clean"),
        (COUNT, "--spend", "1", "--delta", "1e-7"),
        (COUNT, "--spend", "1", "--csv", "--json"),
        ("SELECT COUNT(*) AS n FROM nobody", "--spend", "1"),
        ("SELECT COUNT( FROM visits", "--spend", "1"),
        ("", "--spend", "1"),
    ],
)
def test_bad_usage_is_exit_code_two_and_costs_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    code, out, err = run("sql", made(tmp_path), *words)
    assert (code, out) == (2, "")
    assert err != ""
    assert not (tmp_path / "ledger.db").exists()


def test_a_ledger_that_cannot_be_opened_is_exit_code_five(tmp_path: Path) -> None:
    plan = made(tmp_path, PLAN.replace('"ledger.db"', '"nowhere/ledger.db"'))
    code, out, _ = run("sql", plan, COUNT, "--spend", "1")
    assert (code, out) == (5, "")


def test_a_plan_that_differs_is_refused(tmp_path: Path) -> None:
    run_json("sql", made(tmp_path), COUNT, "--spend", "1")
    code, _, err = run("sql", made(tmp_path, PLAN.replace('"100"', '"200"')), COUNT, "--spend", "1")
    assert code == 4
    assert "registered ρ = 100, given ρ = 200" in err


def test_a_ledger_in_memory_is_said_aloud(tmp_path: Path) -> None:
    _, out, _ = run("sql", made(tmp_path, PLAN.replace('"ledger.db"', '":memory:"')), COUNT, "--spend", "1")
    assert "The ledger is in memory" in out


def test_free_sql_above_the_answer(tmp_path: Path) -> None:
    plan, then = made(tmp_path), "SELECT region, n / SUM(n) OVER () AS share FROM answer ORDER BY share DESC LIMIT 2"
    data = run_json("sql", plan, COUNT, "--spend", "1", "--then", then)
    assert (data["answer"]["spent"], data["then"]["spent"]) == ("1", "0")
    assert data["then"]["rows"][0].keys() == {"region", "share", "share_low", "share_high", "share_se"}
    code, out, err = run("sql", plan, COUNT, "--spend", "1", "--then", then)
    assert (code, len(out.split("\n\n")[0].splitlines())) == (0, 3)
    assert "simulated" in out
    assert err.startswith("spent ρ = 0")
    code, out, err = run("sql", plan, COUNT, "--spend", "1", "--then", then, "--csv")
    assert [row["region"] for row in csv.DictReader(out.splitlines())] == [
        row["region"] for row in data["then"]["rows"]
    ]
    code, out, err = run("sql", plan, COUNT, "--spend", "1", "--then", "SELECT * FROM read_csv('/etc/passwd')")
    assert (code, out) == (4, "")
    assert "reads what was not published" in err
