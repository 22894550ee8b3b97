"""A small dataset of visits for tests of releases: 60 people, several rows each, one of them with very many."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from quincunx.mechanisms import DiscreteGaussian, DiscreteLaplace
from quincunx.release import Session
from quincunx.release.quote import Price, Quote, quoted
from quincunx.spec.standard import ZCDP
from quincunx.spec.unit import AddRemove
from quincunx.table.table import Table

REGIONS = ("north", "south", "east", "west")
CANARY = "canary-7f3a"


def visits() -> pd.DataFrame:
    """Rows of 60 people; nobody is in "west"; a note holds a value that must never be seen."""
    rows = [
        {
            "person_id": person,
            "region": REGIONS[(person + visit) % 3],
            "age": 20 + person,
            "cost": (person * 7 + visit * 3) % 50 + 0.25,
            "day": date(2024, 1, 1) + timedelta(days=person + visit),
            "town": f"town{person % 5}",
            "note": CANARY,
        }
        for person in range(60)
        for visit in range(40 if person == 0 else 3)
    ]
    frame = pd.DataFrame(rows)
    return frame.astype({"region": "string", "town": "string", "note": "string", "day": "datetime64[us]"})


def tables(**limits: int) -> dict[str, Table]:
    columns = {
        "region": {"keys": "regions.region"},
        "age": {"bounds": (0, 110)},
        "cost": {"bounds": (0, 100), "step": "0.01"},
    }
    regions = pd.DataFrame({"region": pd.Series(REGIONS, dtype="string")})
    return {
        "visits": Table(visits(), limits=limits or {"rows": 10, "groups": 3}, columns=columns),
        "regions": Table(regions, public=True),
    }


def session(**changes: Any) -> Session:
    """A session in memory; any argument of Session can be changed."""
    given: dict[str, Any] = {
        "dataset": "visits",
        "version": "1",
        "ledger": ":memory:",
        "tables": tables(),
        "unit": AddRemove(key="person_id"),
        "standard": ZCDP(delta="1e-6"),
        "intensity": "100",
    }
    return Session(**(given | changes))


class NoEngine:
    """An engine that must not be asked: planning reads no private row."""

    def __init__(self) -> None:
        self.asked = 0

    def rehearse(self, *_: object) -> None: ...

    def run(self, *_: object) -> object:
        self.asked += 1
        raise AssertionError("a private row was read")

    def sql(self, *_: object) -> str:
        return "SELECT 1"

    def close(self) -> None: ...


PLAN = """\
dataset    = "visits-2024"
version    = "1"
ledger     = "ledger.db"
engine     = { kind = "duckdb" }
confidence = 0.95

[spec]
unit       = { kind = "add-remove", key = "person_id" }
standard   = { kind = "zcdp", delta = "1e-6" }
intensity  = "100"
invariants = []

[budgets]
plan    = "50"

[tables.visits]
source = "visits.parquet"
limits = { rows = 10, groups = 3 }
[tables.visits.columns]
region = { keys = "regions.region" }
age    = { bounds = [0, 110] }
cost   = { bounds = [0, 100], step = "0.01" }

[tables.regions]
source  = "regions.csv"
public  = true
columns = { region = { type = "text" } }

[[release]]
name  = "by_region"
sql   = "SELECT region, COUNT(*) AS n, AVG(age) AS mean_age FROM visits GROUP BY region"
spend = 2
tidy  = ["non-negative", "integer"]

[[release]]
name  = "total"
sql   = "SELECT COUNT(*) AS n FROM visits"
within = { n = 25 }

[[release]]
name  = "by_town"
sql   = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
share = 1
delta = "1e-7"
"""

# The same with a budget for an analyst: then everyone says who asks.
WITH_ANALYST = PLAN.replace('plan    = "50"\n', 'plan    = "50"\nanalyst = { alice = "10" }\n')


def write_plan(folder: Path, text: str = PLAN) -> Path:
    """The plan with its files in a folder."""
    visits().to_parquet(folder / "visits.parquet")
    (folder / "regions.csv").write_text("region\n" + "\n".join(REGIONS) + "\n", encoding="utf-8")
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    return plan


def quote_of(asked: Session, text: str, **price: Any) -> Quote:
    """The question as a session plans and prices it."""
    with asked._account.looking() as look:
        return quoted(asked._dataset, look, text, Price(**price))


def laplace(scale: object = 3) -> DiscreteLaplace:
    return DiscreteLaplace(scale=Fraction(str(scale)))


def gaussian(sigma: object = 3) -> DiscreteGaussian:
    return DiscreteGaussian(sigma=Fraction(str(sigma)))
