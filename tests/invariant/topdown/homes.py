"""People in households and elsewhere, and the housing units they live in, as files and as a plan."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

from quincunx.invariant.topdown import Edits, Pair
from quincunx.invariant.topdown.geography import Geography
from quincunx.spec.unit import Replace
from tests.invariant.topdown.plans import lay

SIZES = ["vacant", "1", "2", "3", "4", "5", "6", "7+"]
RELATIONS = ["householder", "member", "nursing"]


def geography(counties: int = 2, blocks: int = 3) -> Geography:
    paths = [("s", f"c{i}", f"c{i}b{j}") for i in range(counties) for j in range(blocks)]
    return Geography.of(paths, ["state", "county", "block"], "block")


def write_homes(
    folder: Path, places: Geography, seed: str, *, units: int = 40, most: int = 9, nursing: int = 5
) -> None:
    """people.csv (person, block, relation, age) and units.csv (home, block, size): they agree with each other."""
    rng = random.Random(seed)
    people, homes = [["person", "block", "relation", "age"]], [["home", "block", "size"]]
    for number in range(units):
        block, size = rng.choice(places.codes[-1]), rng.choice([0, 1, 1, 2, 2, 2, 3, 4, 5, 6, 8, 9])
        size = min(size, most)
        homes.append([f"h{number}", block, "vacant" if not size else "7+" if size > 6 else str(size)])
        for one in range(size):
            relation = "member" if one else "householder"
            people.append([f"h{number}p{one}", block, relation, rng.choice(["young", "old"])])
    for number in range(nursing):
        people.append([f"n{number}", places.codes[-1][0], "nursing", "old"])
    for name, rows in (("people.csv", people), ("units.csv", homes)):
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)


def pair(folder: Path, places: Geography, **changes: Any) -> Pair:
    """A release of both; `people` and `households` in `changes` are merged into those of the plan."""
    levels = {"state": {"share": "1/4", "detailed": 1}, "county": {"share": "1/4", "detailed": 1}}
    given: dict[str, Any] = {
        "dataset": "homes",
        "version": "1",
        "ledger": ":memory:",
        "geography": places,
        "unit": Replace(key="person"),
        "rho": 2,
        "share": "1/4",
        "people": {
            "source": folder / "people.csv",
            "attributes": {"relation": RELATIONS, "age": ["young", "old"]},
            "zeros": [{"relation": "nursing", "age": "young"}],
            "invariants": [("state", "total")],
            "shares": {**levels, "block": {"share": "1/2", "total": "1/2", "detailed": "1/2"}},
        },
        "households": {
            "source": folder / "units.csv",
            "household": "home",
            "attributes": {"size": SIZES},
            "invariants": [("block", "total")],
            "shares": {**levels, "block": {"share": "1/2", "detailed": 1}},
        },
        "edits": Edits(
            size="size",
            people={"relation": ["householder", "member"]},
            householders={"relation": ["householder"]},
        ),
    }
    merged = {
        name: {**given[name], **value} if name in ("people", "households") else value for name, value in changes.items()
    }
    return Pair(**{**given, **merged})


PLAN = """
dataset = "homes"
version = "1"
ledger = "{ledger}"

[spec]
unit = {{ kind = "replace", key = "person" }}
standard = {{ kind = "zcdp" }}
intensity = 2

[topdown]
source = "people.csv"
geography = "geography.csv"
levels = {{ columns = ["state", "county", "block"] }}
attributes = {{ relation = ["householder", "member", "nursing"], age = ["young", "old"] }}
invariants = [{{ level = "state", query = "total" }}]
zeros = ["relation = 'nursing' AND age = 'young'"]

[topdown.shares]
state = {{ share = "1/4", detailed = 1 }}
county = {{ share = "1/4", detailed = 1 }}
block = {{ share = "1/2", total = "1/2", detailed = "1/2" }}

[topdown.households]
source = "units.csv"
household = "home"
attributes = {{ size = ["vacant", "1", "2", "3", "4", "5", "6", "7+"] }}
share = "1/4"
invariants = [{{ level = "block", query = "total" }}]

[topdown.households.shares]
state = {{ share = "1/4", detailed = 1 }}
county = {{ share = "1/4", detailed = 1 }}
block = {{ share = "1/2", detailed = 1 }}

[topdown.edits]
size = "size"
people = {{ relation = ["householder", "member"] }}
householders = "relation = 'householder'"
"""


def write_plan(folder: Path, *, ledger: str = ":memory:", plan: str = PLAN) -> Path:
    """The plan with its files."""
    places = geography()
    lines = ["state,county,block", *(f"s,{code[:2]},{code}" for code in places.codes[-1])]
    path = lay(folder, {"geography.csv": lines, "plan.toml": [plan.format(ledger=ledger)]})
    write_homes(folder, places, "plan")
    return path
