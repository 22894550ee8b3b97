"""Stored ledgers are for ever: files of formats 1 and 2 are read, verified and spent from by this version."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from quincunx.errors import BudgetError, HaltedError, ParameterError, VerificationError
from quincunx.ledger import Ledger
from tests.ledger.make_fixture import make, make_halted
from tests.ledger.worlds import question, specification

STORED = Path(__file__).parent.parent / "fixtures" / "ledger_v1.db"
HEAD = "8:c22ab190a6f068dc74c274ce58f05c50"
HALTED = STORED.with_name("ledger_v2.db")
HALTED_HEAD = "13:b3a0d14989b16ea24a8f90733075c98f"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A copy, because opening a ledger makes files beside it."""
    return Path(shutil.copy(STORED, tmp_path / "ledger.db"))


def test_it_verifies_with_the_head_that_was_printed_then(path: Path) -> None:
    with Ledger.open(path, create=False) as ledger:
        assert ledger.verify(HEAD) == ledger.head == HEAD
        with pytest.raises(VerificationError):
            ledger.verify("9" + HEAD[1:])


def test_every_kind_of_record_is_decoded(path: Path) -> None:
    with Ledger.open(path, create=False) as ledger:
        records = ledger.records()
        assert [record.kind for record in records] == [
            "registration", "registration", "reservation", "answer", "reservation", "replay", "external", "amendment",
        ]  # fmt: skip
        assert records[0].time == "2026-05-01T12:00:00.000Z"
        assert records[2].body["asked"] == {"plan": "SELECT COUNT(*)"}
        assert records[5].body["analyst"] == "bob"
        assert records[6].body["when"] == "2024-05-01"
        assert records[7].body["reason"] == "a second survey"
        assert [json.loads(line)["hash"] for line in ledger.export()] == [record.hash for record in records]


def test_its_accounts_say_what_was_spent(path: Path) -> None:
    with Ledger.open(path, create=False) as ledger:
        assert ledger.datasets == ("visits", "écoles")
        visits, schools = ledger.account("visits"), ledger.account("écoles")
        assert (visits.total.budget, visits.total.spent) == (2, Fraction(1, 10) + Fraction(1, 7))
        assert visits.delta.spent == Fraction(1, 10**7)
        assert {name: balance.spent for name, balance in visits.plans} == {
            "default": Fraction(1, 10), "monthly": Fraction(1, 7),
        }  # fmt: skip
        assert [name for name, balance in visits.analysts if balance.spent == Fraction(1, 10)] == ["alice", "bob"]
        assert (visits.questions, visits.answers) == (2, 1)
        assert (schools.registration.symbol, schools.total.spent) == ("ε", Fraction(1, 4))
        assert schools.total.budget == Fraction(1098612288668, 10**12)


def test_its_answers_are_replayed_and_its_budgets_bind(path: Path) -> None:
    with Ledger.open(path, create=False) as ledger:
        again = ledger.reserve(question("SELECT COUNT(*)", delta="1e-7", specification=specification(2)), analyst="bob")
        assert (again.stored, again.charged) == (True, 0)
        assert ledger.reveal(again).content == b"n = 42"
        with pytest.raises(BudgetError, match="analyst 'bob'"):
            ledger.reserve(question("new", specification=specification(2)), analyst="bob")
        ledger.store(ledger.reserve(question("new", specification=specification(2)), analyst="alice"), b"7")
        assert ledger.verify(HEAD).startswith("10:")


def test_this_version_still_writes_format_1(tmp_path: Path) -> None:
    """The same acts give the same hashes: a change of what is written would need a new format."""
    assert make(str(tmp_path / "again.db")) == HEAD


def test_a_halted_ledger_of_format_2_is_read(tmp_path: Path) -> None:
    with Ledger.open(shutil.copy(HALTED, tmp_path / "ledger.db"), create=False) as ledger:
        assert ledger.verify(HALTED_HEAD) == ledger.head == HALTED_HEAD
        assert [record.kind for record in ledger.records()][5:7] == ["halted", "reopened"]
        account = ledger.account("visits")
        assert [(halt.version, halt.questions, halt.withheld) for halt in account.halts] == [("1", 3, 2), ("2", 2, 2)]
        assert [(halt.reopened, halt.allowed) for halt in account.halts] == [(7, 7), (11, None)]
        assert account.registration.smallest == Fraction(1, 1000)
        again = ledger.reserve(question("SELECT COUNT(*)"), analyst="curator")
        assert (again.charged, ledger.reveal(again).content) == (0, b"n = 42")
        for asked in (question("SELECT SUM(age)", "1/7"), question("new", version="2")):
            with pytest.raises(HaltedError):
                ledger.reserve(asked, analyst="curator")
        with pytest.raises(ParameterError, match="too small"):
            ledger.reserve(question("new", "1/2000"), analyst="curator")
        assert ledger.reserve(question("new"), analyst="curator").charged == Fraction(1, 10)


def test_this_version_still_writes_format_2(tmp_path: Path) -> None:
    assert make_halted(str(tmp_path / "again.db")) == HALTED_HEAD
