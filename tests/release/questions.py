"""Questions whose ledger keys are held for ever, and the sessions that they are asked in.

    python -m tests.release.questions ledger PATH      writes a ledger in which all of PAID are answered
    python -m tests.release.questions keys             prints the keys of all of them, as tests/fixtures/keys.json

A key that changes charges everyone who asked the question again. `ledger_sessions.db` was written when keys were still
made of the names of classes; it is never made again. A question that reads a text changed its meaning once (a text
longer than its declared length is NULL), so those are in KEYS and not in PAID.
"""

from __future__ import annotations

import json
import sys
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Final

import pandas as pd

from quincunx.release import Session
from quincunx.release.quote import Price, at_price, priced, quoted
from quincunx.spec.period import Per
from quincunx.spec.standard import ZCDP, Approximate, Pure
from quincunx.spec.unit import AddRemove, Replace
from quincunx.table.table import Table

COLUMNS: Final[dict[str, Any]] = {
    "age": {"bounds": (0, 110)},
    "cost": {"bounds": (0, 100), "step": "0.01"},
    "ward": {"keys": [1, 2, 3]},
    "region": {"keys": ["north", "south", "east"]},
}
UNITS: Final[dict[str, Any]] = {
    "people": AddRemove(key="person_id"),
    "pairs": AddRemove(key="person_id", group=2),
    "replaced": Replace(key="person_id"),
    "months": AddRemove(key="person_id", per=Per(period="month", column="day")),
    "rows": AddRemove(),
}
STANDARDS: Final[dict[str, Any]] = {"ρ": ZCDP(delta="1e-6"), "ε": Pure(), "ε, δ": Approximate(delta="1e-6")}
# (unit, standard, question, δ)
PAID: Final[tuple[tuple[str, str, str, str | None], ...]] = (
    ("people", "ρ", "SELECT COUNT(*) AS n FROM visits", None),
    ("people", "ρ", "SELECT COUNT(DISTINCT person_id) AS n FROM visits", None),
    ("people", "ρ", "SELECT COUNT(age) AS n FROM visits", None),
    ("people", "ρ", "SELECT SUM(age) AS s FROM visits", None),
    ("people", "ρ", "SELECT SUM(cost) AS s FROM visits", None),
    ("people", "ρ", "SELECT AVG(age) AS m FROM visits", None),
    ("people", "ρ", "SELECT AVG(age) AS m, COUNT(age) AS n, SUM(cost) AS s FROM visits", None),
    ("people", "ρ", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", None),
    ("people", "ρ", "SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward", None),
    ("people", "ρ", "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 30 GROUP BY ward HAVING COUNT(*) > 1", None),
    ("people", "ρ", "SELECT age, COUNT(*) AS n FROM visits GROUP BY age", "1e-7"),
    ("people", "ρ", "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY 1", "1e-7"),
    ("people", "ρ", "SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 20 AND 40 AND NOT member", None),
    ("people", "ρ", "SELECT COUNT(*) AS n FROM visits WHERE age IN (20, 21) OR cost IS NULL", None),
    ("people", "ρ", "SELECT COUNT(*) FILTER (WHERE member) AS n, COUNT(*) AS all_rows FROM visits", None),
    ("people", "ρ", "SELECT SUM(CASE WHEN age >= 65 THEN 1 ELSE 0 END) AS old FROM visits", None),
    ("people", "ρ", "SELECT SUM(CLAMP(cost * 1.5, 0, 75)) AS s FROM visits", None),
    ("people", "ρ", "SELECT AVG(COALESCE(age, 50)) AS m FROM visits WHERE cost <= 12.5", None),
    ("people", "ρ", "SELECT COUNT(*) AS n FROM visits WHERE day >= DATE '2024-02-01'", None),
    ("people", "ρ", "SELECT COUNT(*) AS n FROM visits WHERE YEAR(day) = 2024 AND MONTH(day) < 3", None),
    ("people", "ρ", "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY 1", "1e-7"),
    ("people", "ρ", "SELECT SUM(ABS(age - 50)) AS s FROM visits", None),
    ("people", "ρ", "SELECT SUM(LEAST(age, 65)) AS s, SUM(GREATEST(age, 18)) AS t FROM visits", None),
    ("people", "ρ", "SELECT SUM(ROUND(cost)) AS s FROM visits", None),
    ("people", "ρ", "SELECT SUM(CAST(member AS BIGINT)) AS s FROM visits", None),
    ("people", "ρ", "SELECT COUNT(NULLIF(age, 0)) AS n FROM visits WHERE age IS DISTINCT FROM 1", None),
    ("people", "ρ", "SELECT COUNT(*) FROM (SELECT age AS a, cost AS c FROM visits WHERE member) WHERE a > c", None),
    ("people", "ρ", "SELECT COUNT(*) AS n FROM visits WHERE person_id % 2 = 0", None),
    ("pairs", "ρ", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", None),
    ("replaced", "ρ", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", None),
    ("replaced", "ε", "SELECT AVG(cost) AS m FROM visits", None),
    ("months", "ρ", "SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", None),
    ("months", "ε", "SELECT COUNT(*) AS n FROM visits", None),
    ("rows", "ρ", "SELECT ward, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY ward", None),
    ("rows", "ε, δ", "SELECT age, COUNT(*) AS n FROM visits GROUP BY age", "1e-7"),
    ("people", "ε", "SELECT COUNT(*) AS n FROM visits", None),
    ("people", "ε", "SELECT ward, AVG(age) AS m FROM visits GROUP BY ward", None),
    ("people", "ε", "SELECT COUNT(DISTINCT person_id) AS n FROM visits WHERE age > 30", None),
    ("people", "ε, δ", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", None),
    ("people", "ε, δ", "SELECT age, SUM(cost) AS s FROM visits GROUP BY age", "1e-7"),
    ("pairs", "ε, δ", "SELECT age, COUNT(*) AS n FROM visits GROUP BY age", "1e-7"),
)
TEXTS: Final[tuple[tuple[str, str, str, str | None], ...]] = (
    ("people", "ρ", "SELECT region, COUNT(*) AS n FROM visits GROUP BY region", None),
    ("people", "ρ", "SELECT town, COUNT(*) AS n FROM visits GROUP BY town", "1e-7"),
    ("people", "ρ", "SELECT COUNT(*) AS n FROM visits WHERE UPPER(town) = 'TOWN1'", None),
    ("people", "ε", "SELECT COUNT(*) AS n FROM visits WHERE region LIKE 'n%' AND LENGTH(town) > 2", None),
    ("people", "ε", "SELECT ward, COUNT(town) AS n FROM visits GROUP BY ward", None),
)
# What means something else since keys that follow from declared facts are public: PAID holds what it meant before.
DERIVED: Final[tuple[tuple[str, str, str, str | None], ...]] = (
    ("people", "ρ", "SELECT age, COUNT(*) AS n FROM visits GROUP BY age", None),
    ("people", "ρ", "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY 1", None),
    ("people", "ρ", "SELECT MONTH(day) AS month, COUNT(*) AS n FROM visits GROUP BY 1", None),
    ("rows", "ε, δ", "SELECT FLOOR(cost / 5) AS five, AVG(age) AS m FROM visits GROUP BY 1", None),
)
INVARIANT: Final = {"wards": "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 17 GROUP BY ward"}


def visits() -> pd.DataFrame:
    """Rows of 60 people."""
    rows = [
        {
            "person_id": person,
            "age": 20 + person,
            "cost": (person * 7 + visit * 3) % 50 + 0.25,
            "day": date(2024, 1, 1) + timedelta(days=person + visit),
            "member": person % 2 == 0,
            "ward": 1 + person % 3,
            "region": ("north", "south", "east")[person % 3],
            "town": f"town{person % 5}",
        }
        for person in range(60)
        for visit in range(3)
    ]
    return pd.DataFrame(rows).astype({"region": "string", "town": "string", "day": "datetime64[us]"})


def session(unit: str, standard: str, ledger: str, frame: pd.DataFrame | None = None) -> Session:
    """The session of one unit and one standard; each pair has a dataset of its own."""
    return Session(
        dataset=f"visits of {unit} in {standard}",
        version="1",
        ledger=ledger,
        tables={
            "visits": Table(visits() if frame is None else frame, limits={"rows": 6, "groups": 3}, columns=COLUMNS)
        },
        unit=UNITS[unit],
        standard=STANDARDS[standard],
        intensity="100",
        invariants=INVARIANT if (unit, standard) == ("replaced", "ρ") else (),
    )


def key(unit: str, standard: str, text: str, delta: str | None, *, selected: bool = False) -> str:
    """The key under which a ledger knows the question. selected: as when keys that follow from facts were unknown."""
    with session(unit, standard, ":memory:", visits().iloc[:0]) as asked:
        dataset = asked._dataset
        with asked._account.looking() as look:
            if not selected:
                return quoted(dataset, look, text, Price(spend="1/2", delta=delta)).question.key
            noise = priced(dataset.program(text, derive=False), dataset.standard, Fraction(1, 2), delta or 0)
            return at_price(dataset, look, text, noise).question.key


def name(question: tuple[str, str, str, str | None]) -> str:
    """The question as the golden file calls it."""
    return " | ".join(map(str, question))


def main() -> None:
    if sys.argv[1] == "keys":
        keys = {name(each): key(*each, selected=True) for each in PAID + TEXTS}
        keys |= {name(each): key(*each) for each in DERIVED}
        print(json.dumps(keys, ensure_ascii=False, indent=1))
        return
    for unit, standard, text, delta in PAID:
        with session(unit, standard, sys.argv[2]) as asked:
            asked.sql(text, spend="1/2", delta=delta)
            asked.invariants()


if __name__ == "__main__":
    main()
