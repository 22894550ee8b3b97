"""Makes tests/fixtures/ledger_v1.db, the stored ledger that every later version must read.

    python -m tests.ledger.make_fixture PATH

Run once, with the version that wrote format 1. The file is never made again: a change of format adds a second file. It
holds every kind of record; its clock starts at noon on 1 May 2026.
"""

from __future__ import annotations

import sys

import quincunx as qx
from quincunx.ledger import Ledger
from tests.ledger.worlds import question, specification, ticking


def make(path: str) -> str:
    """Write the ledger; its head."""
    with Ledger.open(path, clock=ticking()) as ledger:
        budgets = {"plan": "1/2", "analysts": {"alice": "3/10", "bob": "1/10"}}
        ledger.register(dataset="visits", specification=specification(), budgets=budgets)
        pure = specification("ln(3)", qx.standard.Pure(), qx.unit.Replace(key="person_id", group=2))
        ledger.register(dataset="écoles", specification=pure)
        answer = ledger.store(ledger.reserve(question("SELECT COUNT(*)", delta="1e-7"), analyst="alice"), b"n = 42")
        ledger.reserve(question("SELECT SUM(age)", "1/7"), plan="monthly")
        ledger.reserve(question("SELECT COUNT(*)", delta="1e-7"), analyst="bob")
        ledger.add("écoles", cost="1/4", note="a map, with another tool", when="2024-05-01")
        ledger.amend("visits", specification=specification(2), budgets=budgets, reason="a second survey")
        assert ledger.verify(answer.head) == ledger.head
        return ledger.head


if __name__ == "__main__":
    print(make(sys.argv[1]))
