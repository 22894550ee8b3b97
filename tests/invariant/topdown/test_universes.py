"""People and households: two releases of one dataset, one budget, tied by what the first published."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np

from quincunx.invariant.topdown import Bound, TopDown
from quincunx.invariant.topdown.geography import Geography
from quincunx.ledger import Ledger
from quincunx.noise.testing import key_of, keyed
from quincunx.spec.unit import Replace

PLACES = Geography.of([("r", f"b{i}") for i in range(6)], ["region", "block"], "block")
FACTS = {
    "total by region": "number of people in each region",
    "homes: total by block": "bounds on total in each block, as read from the confidential file",
}


def homes(folder: Path) -> tuple[Path, Path]:
    """People with a role in their household, and the housing units themselves, vacant ones included."""
    source = np.random.default_rng(4)
    people, units = [["person", "block", "role"]], [["home", "block", "status"]]
    for number in range(180):
        block, size = f"b{source.integers(0, 5)}", int(source.integers(0, 5))
        units.append([f"h{number}", block, "occupied" if size else "vacant"])
        people += [[f"h{number}p{i}", block, "member" if i else "householder"] for i in range(size)]
    for name, rows in (("people.csv", people), ("units.csv", units)):
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
    return folder / "people.csv", folder / "units.csv"


def counts(table: np.ndarray, file: Path, column: str) -> Path:
    """One number for each block, as a file of bounds."""
    lines = [f"{code},{int(count)}" for code, count in zip(PLACES.codes[1], table, strict=True)]
    file.write_text("\n".join([f"block,{column}", *lines]) + "\n", encoding="utf-8")
    return file


def test_two_universes_share_a_budget_and_agree(tmp_path: Path) -> None:
    people, units = homes(tmp_path)
    with units.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    # The housing units of each block are an invariant of the whole system: read from the confidential file.
    exact = np.array([sum(row["block"] == code for row in rows) for code in PLACES.codes[1]])
    known = Bound(level="block", query="total", file=counts(exact, tmp_path / "homes.csv", "n"), provenance="invariant")
    shares = {"region": {"share": "1/4", "detailed": 1}, "block": {"share": "3/4", "detailed": 1}}
    common = {"dataset": "both", "version": "1", "geography": PLACES, "shares": shares, "intensity": 5, "facts": FACTS}
    common["columns"] = ["home", "role", "status"]
    with keyed(key_of("universes")), Ledger.open(":memory:") as ledger:
        housing = TopDown(
            **common,
            ledger=ledger,
            source=units,
            attributes={"status": ["occupied", "vacant"]},
            unit=Replace(key="person"),
            records="households",
            household="home",
            rho=1,
            bounds=[known],
        )
        assert all(line.rho * line.sigma2 == 4 for line in housing.budget)
        first = housing.run()
        occupied = first.tables[1][:, 0]
        assert (first.tables[1].sum(axis=1) == exact).all()
        # Edit constraint: as many householders as occupied units, in every block; nobody elsewhere.
        text = ["block,role,n", *(f"{c},householder,{int(n)}" for c, n in zip(PLACES.codes[1], occupied, strict=True))]
        (tmp_path / "householders.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
        tied = Bound(level="block", query="role", file=tmp_path / "householders.csv", provenance="published")
        persons = TopDown(
            **common,
            ledger=ledger,
            source=people,
            attributes={"role": ["householder", "member"]},
            unit=Replace(key="person"),
            rho=2,
            invariants=[("region", "total")],
            bounds=[tied],
        )
        assert dict(persons.specification.scope.texts) == dict(housing.specification.scope.texts) | FACTS
        assert housing.specification.scope == persons.specification.scope
        second = persons.run()
        assert (second.tables[1][:, 0] == occupied).all()
        assert (second.tables[1].sum(axis=1) >= occupied).all()
        assert ledger.account("both").total.spent == Fraction(3)
