"""A small world as files: two regions, five blocks, people with keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

GEOGRAPHY = """block,region
n1,north
n2,north
n3,north
s1,south
s2,south
"""
PLAN = """
dataset = "small"
version = "1"
ledger = "{ledger}"

[spec]
unit = {{ kind = "replace", key = "person" }}
standard = {{ kind = "zcdp" }}
intensity = 2

[topdown]
source = "{source}"
geography = "geography.csv"
levels = {{ columns = ["country", "region", "block"] }}
attributes = {{ age = ["young", "old"], work = ["yes", "no"] }}
invariants = [{{ level = "country", query = "total" }}]
{more}

[[topdown.zeros]]
age = "young"
work = "yes"

[topdown.shares]
country = {{ share = "1/4", total = "1/2", detailed = "1/2" }}
region = {{ share = "1/4", age = "1/4", detailed = "3/4" }}
block = {{ share = "1/2", total = "1/2", detailed = "1/2" }}
"""


def people(count: int = 200) -> list[str]:
    """person,block,age,work: repeatable, no young workers."""
    blocks = ["n1", "n2", "n2", "s1", "s2"]
    found = []
    for i in range(count):
        age = "young" if i % 3 == 0 else "old"
        work = "no" if age == "young" or i % 4 == 0 else "yes"
        found.append(f"p{i},{blocks[i % 5]},{age},{work}")
    return found


def write_plan(
    folder: Path, *, ledger: str = ":memory:", rows: list[str] | None = None, more: str = "", plan: str = PLAN
) -> Path:
    """The plan's path; the people are a CSV file."""
    places = ["country,region,block", *(f"c,{region},{block}" for block, region in _pairs())]
    rows = ["person,block,age,work", *(people() if rows is None else rows)]
    text = plan.format(ledger=ledger, source="people.csv", more=more)
    return lay(folder, {"geography.csv": places, "people.csv": rows, "plan.toml": [text]})


def lay(folder: Path, files: Mapping[str, list[str]]) -> Path:
    """Files of these lines in a folder, surrogates as the bytes they stand for; the path of the plan among them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        (folder / name).write_bytes(("\n".join(lines) + "\n").encode("utf-8", errors="surrogateescape"))
    return folder / "plan.toml"


def _pairs() -> list[tuple[str, str]]:
    return [tuple(line.split(",")) for line in GEOGRAPHY.split()[1:]]  # type: ignore[misc]
