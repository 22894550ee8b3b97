"""`quincunx explain`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.plans import COUNT, made, run, run_json
from tests.release.world import CANARY

MEAN = "SELECT AVG(age) AS a, 2 * COUNT(*) AS twice FROM visits WHERE cost > 3"


def test_it_says_what_counts_and_what_it_costs(tmp_path: Path) -> None:
    plan = made(tmp_path)
    code, out, err = run("explain", plan, COUNT, "--spend", "0.5")
    assert (code, err) == (0, "")
    for part in (
        "protects: One person",
        "groups: region: 4 public keys, all of them shown",
        "one person counts for at most C = 10 rows (ℓ2); discrete Gaussian noise, σ = 10",
        "error of n: ± 19.6 at 95 %, standard error 10",
        "cost: ρ = 0.5; remaining ρ = 100",
        "No private row was read.",
    ):
        assert part in out
    assert CANARY not in out
    assert "SELECT" not in out
    assert "\n\nWITH read AS" in run("explain", plan, COUNT, "--spend", "0.5", "--engine-sql")[1]
    assert not (tmp_path / "ledger.db").exists()


def test_means_are_for_an_assumed_group(tmp_path: Path) -> None:
    plan = made(tmp_path)
    few, many = (
        run_json("explain", plan, MEAN, "--spend", "5", "--group-size", size)["errors"][0] for size in ("100", "10000")
    )
    assert few["half_width"] > many["half_width"] > 0
    assert "a group of 100 rows whose mean is about 55" in few["assumed"]
    derived = run_json("explain", plan, MEAN, "--spend", "5")["errors"][1]
    count = run_json("explain", plan, MEAN.replace("2 * COUNT(*) AS twice", "COUNT(*) AS n"), "--spend", "5")["errors"][
        1
    ]
    assert (derived["name"], count["name"]) == ("twice", "n")
    assert "simulated" in derived["assumed"]
    assert derived["half_width"] == pytest.approx(2 * count["half_width"], rel=0.01)


def test_without_a_spend_there_is_no_cost(tmp_path: Path) -> None:
    data = run_json("explain", made(tmp_path), COUNT)
    assert data["cost"] is None
    assert data["errors"] == []
    assert data["noise"] == []
    assert data["measures"][0].startswith("the number of rows")


def test_a_cost_that_is_not_covered_and_one_that_was_paid(tmp_path: Path) -> None:
    plan = made(tmp_path)
    _, out, _ = run("explain", plan, COUNT, "--spend", "60")
    assert "not covered: at most ρ = 50" in out
    run_json("sql", plan, COUNT, "--spend", "1")
    data = run_json("explain", plan, COUNT, "--spend", "1")
    assert data["cost"]["charged"] == "0"
    _, out, _ = run("explain", plan, COUNT, "--spend", "1")
    assert "cost: 0, because this question was paid for before (ρ = 1); remaining ρ = 99" in out


def test_unknown_keys_and_other_noise(tmp_path: Path) -> None:
    towns = (
        "SELECT town, COUNT(DISTINCT person_id) AS n, COUNT(*) FILTER (WHERE age > 3) AS f FROM visits GROUP BY town"
    )
    data = run_json("explain", made(tmp_path), towns, "--spend", "2", "--delta", "1e-8")
    assert data["keys"] == ["town: unknown, selected privately"]
    assert "a person votes for at most 3 groups" in data["selection"]
    assert data["measures"][0].startswith("the number of people")
    assert "where FILTER is true" in data["measures"][1]
    assert data["cost"]["delta"] == "1e-8"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("SELECT MAX(age) FROM visits",), 4),
        (("SELECT COUNT(*) FROM nowhere",), 2),
        ((COUNT, "--spend", "-1"), 2),
        ((COUNT, "--group-size", "0"), 2),
        ((COUNT, "--spend", "1", "--group-size", "many"), 2),
    ],
)
def test_refusals(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    found, out, err = run("explain", made(tmp_path), *words)
    assert (found, out) == (code, "")
    assert err != ""
