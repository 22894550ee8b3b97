"""Makes tests/fixtures/ledger_v1.db, the stored ledger that every later version must read.

    python -m tests.ledger.make_fixture PATH

Run once, with the version that wrote format 1. The file is never made again: a change of format adds a second file. It
holds every kind of record; its clock starts at noon on 1 May 2026.
"""

from __future__ import annotations

import json
import sys

import quincunx as qx
from quincunx.ledger import Ledger, Question
from quincunx.ledger.book import DATASET, Book
from quincunx.ledger.canonical import dumped
from tests.ledger.worlds import question, specification, ticking


def by_nobody(ledger: Ledger, asked: Question, plan: str) -> None:
    """A reservation by nobody although analysts have budgets: once allowed, and written here as it was then."""
    with ledger._database.writing() as connection:
        book, time = Book(connection), ledger._now()
        body = {"dataset": asked.dataset, "question": asked.key, "cost": str(asked.cost), "delta": str(asked.delta)}
        body |= {"version": asked.version, "asked": json.loads(asked.asked), "plan": plan, "analyst": None}
        book.charge(asked.dataset, [DATASET, ("plan", plan)], asked.cost, asked.delta)
        book.reserve(asked.key, asked.dataset, book.append("reservation", dumped(body), time))


def make(path: str) -> str:
    """Write the ledger; its head."""
    with Ledger.open(path, clock=ticking()) as ledger:
        budgets = {"plan": "1/2", "analysts": {"alice": "3/10", "bob": "1/10"}}
        ledger.register(dataset="visits", specification=specification(), budgets=budgets)
        pure = specification("ln(3)", qx.standard.Pure(), qx.unit.Replace(key="person_id", group=2))
        ledger.register(dataset="écoles", specification=pure)
        answer = ledger.store(ledger.reserve(question("SELECT COUNT(*)", delta="1e-7"), analyst="alice"), b"n = 42")
        by_nobody(ledger, question("SELECT SUM(age)", "1/7"), "monthly")
        ledger.reserve(question("SELECT COUNT(*)", delta="1e-7"), analyst="bob")
        ledger.add("écoles", cost="1/4", note="a map, with another tool", when="2024-05-01")
        ledger.amend("visits", specification=specification(2), budgets=budgets, reason="a second survey")
        assert ledger.verify(answer.head) == ledger.head
        return ledger.head


if __name__ == "__main__":
    print(make(sys.argv[1]))
