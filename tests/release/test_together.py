"""Questions about several rows of one person, through a session: what DuckDB gives, at an enormous price."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from quincunx.release import Session
from quincunx.spec import ZCDP, AddRemove
from quincunx.table import Table

QUESTIONS = (
    "SELECT region, COUNT(*) AS n FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY person_id "
    "ORDER BY day) = 1) AS v GROUP BY region",
    "SELECT COUNT(*) AS n FROM visits WHERE person_id NOT IN (SELECT person_id FROM homes WHERE kids > 3)",
    "SELECT COUNT(*) AS n, SUM(age) AS s FROM visits AS v WHERE EXISTS (SELECT 1 FROM visits AS s "
    "WHERE s.person_id = v.person_id AND s.day < v.day)",
    "SELECT tile, COUNT(*) AS n FROM (SELECT NTILE(2) OVER (PARTITION BY person_id ORDER BY day) AS tile FROM visits) "
    "AS v GROUP BY tile",
    "SELECT before, COUNT(*) AS n FROM (SELECT LAG(region) OVER (PARTITION BY person_id ORDER BY day) AS before "
    "FROM visits) AS v GROUP BY before",
    "SELECT before, COUNT(*) AS n FROM (SELECT LAG(region) OVER (PARTITION BY person_id ORDER BY day) AS before "
    "FROM visits) AS v GROUP BY before HAVING before IS NOT NULL",
    "SELECT SUM(CLAMP(gap, 0, 60)) AS g FROM (SELECT age - LAG(age) OVER (PARTITION BY person_id ORDER BY day) AS gap "
    "FROM visits) AS v",
    "SELECT COUNT(*) FILTER (WHERE region IN (SELECT region FROM regions WHERE zone = 3)) AS n FROM visits",
    "SELECT person_id IN (SELECT person_id FROM homes) AS at_home, COUNT(*) AS n FROM visits GROUP BY at_home",
)


def frames() -> dict[str, pa.Table]:
    with duckdb.connect() as connection:
        found = {
            "visits": "SELECT i // 4 AS person_id, CASE WHEN i % 3 = 0 THEN 'north' ELSE 'south' END AS region, "
            "i % 90 AS age, DATE '2024-01-01' + CAST(i % 30 AS INT) AS day FROM range(400) AS r(i)",
            "homes": "SELECT i AS person_id, i % 7 AS kids FROM range(0, 100, 2) AS r(i)",
            "regions": "SELECT 'north' AS region, 3 AS zone UNION ALL SELECT 'south', 4",
        }
        return {name: connection.sql(sql).to_arrow_table() for name, sql in found.items()}


@pytest.fixture(scope="module")
def session() -> Iterator[Session[Any]]:
    given = frames()
    tables = {
        "visits": Table(
            given["visits"],
            limits={"rows": 8, "groups": 2},
            columns={"region": {"keys": ["north", "south"]}, "age": {"bounds": (0, 90)}},
        ),
        "homes": Table(given["homes"], limits={"rows": 1}),
        "regions": Table(given["regions"], public=True),
    }
    with Session(
        dataset="d", version="1", ledger=":memory:", unit=AddRemove(key="person_id"), standard=ZCDP(),
        intensity=10**21, tables=tables,
    ) as found:  # fmt: skip
        yield found


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_question_gives_what_duckdb_gives(session: Session[Any], sql: str) -> None:
    """Whoever has few rows counts in full, and the noise is below half a unit but with a chance below 1e-100."""
    assert session.explain(sql, spend=10**18)
    answer = session.sql(sql, spend=10**18)
    rows = answer.frame.to_pylist()
    names = [name for name in rows[0] if not name.endswith(("_low", "_high", "_se"))]
    with duckdb.connect() as connection:
        for name, frame in frames().items():
            connection.register(name, frame)
        connection.execute("CREATE MACRO clamp(x, low, high) AS least(greatest(x, low), high)")
        plain = connection.sql(sql.replace("CLAMP(gap, 0, 60)", "CASE WHEN gap IS NOT NULL THEN CLAMP(gap, 0, 60) END"))
        expected = sorted(plain.fetchall(), key=repr)
    assert sorted((tuple(row[name] for name in names) for row in rows), key=repr) == expected
    # Asked again, it is found in the ledger and costs nothing.
    spent = session.spent
    assert session.sql(sql, spend=10**18).frame.to_pylist() == rows
    assert session.spent == spent
