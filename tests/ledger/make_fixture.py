"""Makes tests/fixtures/ledger_v1.db and ledger_v2.db, the stored ledgers that every later version must read.

    python -m tests.ledger.make_fixture PATH [--halted]

Run once, with the version that wrote the format. The files are never made again: a change of format adds another. Each
holds every kind of record that its format adds; the clock starts at noon on 1 May 2026.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress

import quincunx as qx
from quincunx.errors import HaltedError
from quincunx.ledger import Ledger, Question
from quincunx.ledger.book import DATASET, Book
from quincunx.ledger.canonical import dumped
from tests.ledger.worlds import question, specification, ticking


def by_nobody(ledger: Ledger, asked: Question, plan: str) -> None:
    """A reservation by nobody although analysts have budgets: once allowed, and written here as it was then."""
    with ledger._store.writing() as transaction:
        book, time = Book(transaction), ledger._now()
        body = {"dataset": asked.dataset, "question": asked.key, "cost": str(asked.cost), "delta": str(asked.delta)}
        body |= {"version": asked.version, "asked": json.loads(asked.asked), "plan": plan, "analyst": None}
        seq = book.append("reservation", dumped(body), time)
        book.charge(asked.dataset, [DATASET, ("plan", plan)], asked.cost, asked.delta, seq)
        transaction.add_question(asked.key, asked.dataset, seq)


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


def make_halted(path: str) -> str:
    """Format 2: a smallest spend, the curator, a halt, a reopening by a reason and one by a version."""
    with Ledger.open(path, clock=ticking()) as ledger:
        budgets = {"analysts": {"alice": "3/10"}, "smallest_spend": "1/1000"}
        ledger.register(dataset="visits", specification=specification(), budgets=budgets)
        ledger.store(ledger.reserve(question("SELECT COUNT(*)"), analyst="curator"), b"n = 42")
        for asked, version in (("SELECT SUM(age)", "1"), ("SELECT AVG(age)", "2")):
            other = ledger.reserve(question(f"{asked} WHERE TRUE", "1/64", version=version), analyst="alice")
            with suppress(HaltedError):
                ledger.store(ledger.reserve(question(asked, "1/7", version=version), analyst="curator"), None)
            with suppress(HaltedError):
                ledger.store(other, b"too late")
            if version == "1":
                ledger.reopen("visits", reason="the row was mended")
        ledger.store(ledger.reserve(question("SELECT COUNT(*)", version="3"), analyst="curator"), b"n = 43")
        ledger.verify()
        return ledger.head


if __name__ == "__main__":
    print((make_halted if "--halted" in sys.argv else make)(sys.argv[1]))
