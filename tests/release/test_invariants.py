"""Invariants of a session: exact, free inside their scope, registered for ever, and said aloud."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from quincunx.errors import InputError, ParameterError, QueryError, RegistrationError
from quincunx.noise import injected
from quincunx.release import Session
from quincunx.release.invariants import read_invariants
from quincunx.spec.scope import Everything, Invariants
from quincunx.spec.unit import Replace
from tests.release import world
from tests.release.world import PLAN as ADDING
from tests.release.world import REGIONS, visits, write_plan

# Counts of everybody leave nothing to compare under add/remove.
PLAN = ADDING.replace('kind = "add-remove"', 'kind = "replace"')

BY_REGION = (
    "SELECT region, COUNT(*) AS n, COUNT(DISTINCT person_id) AS people, SUM(cost) AS cost FROM visits GROUP BY region"
)


def session(**changes: Any) -> Session:
    return world.session(**({"unit": Replace(key="person_id")} | changes))


def test_they_are_exact_and_cost_nothing() -> None:
    """One person has 40 rows against a limit of 10: an invariant counts all of them."""
    frame = visits()
    with session(invariants={"by_region": BY_REGION}) as asked:
        (answer,) = asked.invariants().values()
        assert asked.spent == 0 == answer.spent
        assert answer["region"] == REGIONS
        for row in answer.rows:
            here = frame[frame["region"] == row["region"]]
            assert (row["n"], row["people"]) == (len(here), here["person_id"].nunique())
            assert Fraction(row["cost"]) == sum(map(Fraction, here["cost"].tolist()), Fraction(0))
        assert answer.loss.pure() == 0
        assert "nothing is promised about it" in str(answer)
        # The noise of a question would be there; an exact fact has no companions.
        assert [column.role for column in answer.columns] == ["key", "value", "value", "value"]


def test_keys_that_are_not_public_are_part_of_the_fact() -> None:
    with session(invariants=["SELECT town, COUNT(*) AS n FROM visits GROUP BY town"]) as asked:
        (answer,) = asked.invariants().values()
    assert answer["town"] == tuple(f"town{i}" for i in range(5))
    assert sum(answer["n"]) == len(visits())


def test_they_are_the_scope_of_the_guarantee() -> None:
    with session(invariants={"by_region": BY_REGION}) as asked:
        scope = asked.specification.scope
        assert scope == Invariants({"by_region": BY_REGION})
        assert "protect the published facts" in asked.specification.describe()
        assert any("not protected: by_region" in note for note in asked.notes)
        assert asked.sql("SELECT COUNT(*) AS n FROM visits", spend=1).specification.scope == scope
    with session() as plain:
        assert plain.specification.scope == Everything()
        assert plain.invariants() == {}


def test_scope_is_fixed_at_registration(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with session(ledger=ledger, invariants={"by_region": BY_REGION}) as first:
        one = first.invariants()["by_region"].rows
    with session(ledger=ledger, invariants={"by_region": BY_REGION}) as again:
        answer = again.invariants()["by_region"]
        assert answer.rows == one
        # Registration, reservation, answer: the second look read the ledger and not the data.
        assert answer.head.startswith("3:")
    for other in ({}, {"total": "SELECT COUNT(*) AS n FROM visits"}):
        with session(ledger=ledger, invariants=other) as differing, pytest.raises(RegistrationError):
            differing.sql("SELECT COUNT(*) AS n FROM visits", spend=1)


def test_planning_reads_no_row_and_registers_nothing(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    with session(ledger=ledger, invariants={"by_region": BY_REGION}) as asked:
        asked.explain("SELECT COUNT(*) AS n FROM visits", spend=1)
        assert not ledger.exists()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(age) AS a FROM visits",
        "SELECT COUNT(*) + 1 AS n FROM visits",
        "SELECT region, COUNT(*) AS n FROM visits GROUP BY region HAVING COUNT(*) > 3",
        "SELECT region, COUNT(*) AS n FROM visits GROUP BY region ORDER BY n",
        "SELECT region, COUNT(*) AS n FROM visits GROUP BY region LIMIT 2",
        "SELECT COUNT(*) AS n FROM visits JOIN regions USING (region)",
        "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b USING (person_id)",
        "SELECT COUNT(*) AS n FROM (SELECT person_id, COUNT(*) AS v FROM visits GROUP BY person_id) AS p WHERE v > 30",
    ],
)
def test_facts_are_counts_and_sums_by_keys(sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        session(invariants=[sql])
    assert caught.value.where == "invariants"


@pytest.mark.parametrize(
    "given", ["SELECT COUNT(*) AS n FROM visits", 3, [3], [""], {"": "SELECT 1"}, {"n": 3}, [{"name": "n"}], [None]]
)
def test_what_cannot_be_read(given: Any) -> None:
    with pytest.raises(ParameterError, match="cannot read the invariants"):
        read_invariants(given)


def test_names() -> None:
    assert read_invariants(["SELECT  1", {"name": "b", "sql": "SELECT\n2"}]) == {
        "invariant_1": "SELECT 1",
        "b": "SELECT 2",
    }
    with pytest.raises(ParameterError, match="two invariants have one name"):
        read_invariants([{"name": "invariant_2", "sql": "a"}, "b"])
    assert not injected()


def test_a_plan_publishes_them_with_its_releases(tmp_path: Path) -> None:
    listed = f'invariants = [{{ name = "exact", sql = "{BY_REGION}" }}, "SELECT COUNT(*) AS n FROM visits"]'
    plan = write_plan(tmp_path, PLAN.replace("invariants = []", listed))
    with Session.open(plan) as asked:
        assert any("exact, invariant_2" in note for note in asked.check().notes)
        done = asked.release(tmp_path / "out")
    assert list(done.answers) == ["exact", "invariant_2", "by_region", "total", "by_town"]
    assert (tmp_path / "out" / "exact.csv").read_text().splitlines()[0] == "region,n,people,cost"
    assert (tmp_path / "out" / "invariant_2.parquet").is_file()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["releases"]["exact"]["spent"] == "0"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('[{ name = "a/b", sql = "SELECT COUNT(*) AS n FROM visits" }]', "cannot be the name of a file"),
        ('[{ sql = "SELECT COUNT(*) AS n FROM visits" }]', "name is missing"),
        ('[{ name = "total", sql = "SELECT COUNT(*) AS n FROM visits" }]', "an invariant has this name"),
        ("[3]", "expected"),
        ('["SELECT AVG(age) AS a FROM visits"]', "counts and sums"),
    ],
)
def test_plans_with_bad_invariants(tmp_path: Path, line: str, message: str) -> None:
    plan = write_plan(tmp_path, PLAN.replace("invariants = []", f"invariants = {line}"))
    with pytest.raises(InputError, match=message) as caught:
        Session.open(plan)
    assert "plan.toml:" in str(caught.value)
