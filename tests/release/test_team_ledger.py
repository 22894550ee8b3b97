"""Sessions that share a ledger in a database: one budget, one answer, and nothing of the data in the database."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from quincunx.cli.app import app
from quincunx.errors import BudgetError
from tests.ledger.worlds import made
from tests.postgres import Server
from tests.release.world import CANARY, PLAN, session, write_plan

pytestmark = pytest.mark.ci
ASKED = "SELECT region, COUNT(*) AS n, COUNT(DISTINCT person_id) AS people FROM visits GROUP BY region"


def test_two_machines_have_one_budget_and_one_answer(durable: Server) -> None:
    ledger = made(durable)
    with session(ledger=ledger) as one, session(ledger=ledger) as other:
        total = one.remaining
        first, again = one.sql(ASKED, spend=total * 3 / 4), other.sql(ASKED, spend=total * 3 / 4)
        assert first.frame.equals(again.frame)
        assert other.remaining == one.remaining == total / 4
        with pytest.raises(BudgetError):
            other.sql("SELECT COUNT(*) AS n FROM visits", spend=total / 2)
    schema = ledger.rpartition("=")[2]
    for table in ("records", "answers", "questions", "totals", "datasets"):
        rows = durable.run(f"SELECT t::text FROM {schema}.{table} AS t")
        assert rows
        assert not any(CANARY in row or CANARY.encode().hex() in row for (row,) in rows)
    assert CANARY not in durable.log


def test_a_plan_names_a_ledger_in_a_database(durable: Server, tmp_path: Path) -> None:
    ledger = made(durable)
    plan = write_plan(tmp_path, PLAN.replace('"ledger.db"', f'"{ledger}"'))
    words = ["sql", str(plan), "SELECT COUNT(*) AS n FROM visits", "--spend", "1/100"]
    first, again = (CliRunner().invoke(app, words) for _ in range(2))
    assert (first.exit_code, again.exit_code) == (0, 0), first.output
    assert not list(tmp_path.glob("ledger*"))
    shown = CliRunner().invoke(app, ["ledger", "show", ledger])
    assert shown.exit_code == 0
    assert "1 question" in shown.output


@pytest.mark.parametrize(
    "address", ["postgresql://ann:hunter2@db/ledger", "postgresql://ann@db/ledger?password=hunter2"]
)
def test_a_password_in_a_plan_is_refused(tmp_path: Path, address: str) -> None:
    plan = write_plan(tmp_path, PLAN.replace('"ledger.db"', f'"{address}"'))
    refused = CliRunner().invoke(app, ["sql", str(plan), "SELECT COUNT(*) AS n FROM visits", "--spend", "1/100"])
    assert refused.exit_code != 0
    assert "an address with a password is not taken" in refused.output
    assert "hunter2" not in refused.output
