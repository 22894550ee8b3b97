"""A ledger moves from a file to a database: everything arrives, and at no moment can both be spent from."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quincunx.errors import HaltedError, ParameterError, RegistrationError, UnavailableError, VerificationError
from quincunx.ledger import Ledger
from quincunx.ledger.book import Book
from quincunx.ledger.postgres.transaction import PostgresTransaction
from tests.ledger.worlds import made, question, specification, swift_folder, ticking
from tests.postgres import Server

pytestmark = pytest.mark.ci
ROOT = Path(__file__).parents[3]
OLD = Path(__file__).parents[2] / "fixtures" / "ledger_v1.db"


def filled(path: Path) -> Ledger:
    """A ledger in which everything has happened once: answers, an open question, a halt, a reopening, an amendment."""
    ledger = Ledger.open(path, clock=ticking())
    ledger.register(dataset="visits", specification=specification(), budgets={"analysts": {"alice": "1/2"}})
    ledger.store(ledger.reserve(question("x"), analyst="alice"), b"\x00 bytes \xff")
    ledger.reserve(question("open"), analyst="curator")
    with pytest.raises(HaltedError):
        ledger.store(ledger.reserve(question("fails"), analyst="alice"), None)
    ledger.reopen("visits", reason="mended")
    ledger.amend("visits", specification=specification(2), reason="more")
    ledger.add("visits", cost="1/10", note="by hand")
    return ledger


def spends(place: str | Path) -> bool:
    """Whether a new question is paid for there; if not, it has moved, or is empty and knows no dataset."""
    asked = question("new", "1/100", specification=specification(2))
    with Ledger.open(place, create=False) as ledger:
        try:
            ledger.reserve(asked, analyst="curator")
        except (UnavailableError, RegistrationError) as error:
            refusal = str(error)
        else:
            return True
    assert "this ledger has moved, and is closed" in refusal or "is not registered" in refusal
    return False


def test_everything_arrives(tmp_path: Path, durable: Server) -> None:
    address = made(durable)
    with filled(tmp_path / "ledger.db") as old:
        before, account = old.head, old.account("visits")
        head = old.move(address)
        assert old.records()[-1].kind == "moved"
        assert old.verify() == head
        # What is stored can still be read in the old place; nothing can be paid for, amended, added or reopened.
        with old.look() as view:
            found = view.replay(question("x", specification=specification(2)), analyst="alice")
            assert found is not None
            assert found[1].content == b"\x00 bytes \xff"
        for act in (
            lambda: old.reserve(question("y", specification=specification(2)), analyst="curator"),
            lambda: old.add("visits", cost=0, note="n"),
            lambda: old.amend("visits", specification=specification(3), reason="r"),
            lambda: old.register(dataset="other", specification=specification()),
        ):
            with pytest.raises(UnavailableError, match="this ledger has moved, and is closed"):
                act()
    with Ledger.open(address) as new:
        assert new.verify(before) == new.verify(head) == new.head == head
        assert new.account("visits") == account
        asked = question("x", specification=specification(2))
        reservation = new.reserve(asked, analyst="alice")
        assert (reservation.charged, reservation.charged_analyst) == (0, 0)
        assert new.reveal(reservation).content == b"\x00 bytes \xff"
        assert new.reserve(question("y", specification=specification(2)), analyst="curator").charged
        new.verify(head)
        # From one database to the next.
        third = made(durable)
        last = new.move(third)
    assert not spends(address)
    assert spends(third)
    with Ledger.open(third) as ledger:
        ledger.verify(last)


def test_the_same_move_again_changes_nothing(tmp_path: Path, durable: Server) -> None:
    address = made(durable)
    with filled(tmp_path / "ledger.db") as old:
        assert old.move(address) == old.move(address) == old.head
        with pytest.raises(UnavailableError, match="has moved to another place"):
            old.move(made(durable))


# Where the process dies: in the old ledger's closing, before and after it is durable; in the copy; before its commit.
Break = Callable[[pytest.MonkeyPatch], None]


def closing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("quincunx.ledger.moving.Book.append", died)


def copying(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PostgresTransaction, "add", died)


def late(patch: pytest.MonkeyPatch) -> None:
    real, count = PostgresTransaction.add, iter(range(100))

    def add(self: PostgresTransaction, *words: object) -> None:
        real(self, *words)  # type: ignore[arg-type]
        if next(count) == 8:
            died()

    patch.setattr(PostgresTransaction, "add", add)


def checking(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("quincunx.ledger.moving.head_text", died)


def died(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("act", "where"), [(closing, "old"), (copying, "nowhere"), (late, "nowhere"), (checking, "new")]
)
def test_a_crash_leaves_at_most_one_that_can_spend(
    tmp_path: Path, durable: Server, monkeypatch: pytest.MonkeyPatch, act: Break, where: str
) -> None:
    address, path = made(durable), tmp_path / "ledger.db"
    with filled(path) as old:
        with monkeypatch.context() as patch:
            act(patch)
            with pytest.raises(KeyboardInterrupt):
                old.move(address)
        assert [spends(path), spends(address)] == [where == "old", where == "new"]
        head = old.move(address)
        assert [spends(path), spends(address)] == [False, True]
    with Ledger.open(address) as new:
        new.verify(head)


def test_a_process_that_ends_before_any_statement_of_a_move_leaves_at_most_one_that_can_spend(
    durable: Server,
) -> None:
    with swift_folder() as folder:
        command = [sys.executable, "-m", "tests.ledger.crash", folder, f"--server={durable.port}", "--moves"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    print(f"{len(found)} moves")
    *cut, last = found
    assert {each["code"] for each in cut} == {77}
    assert (last["code"], last["before"]) == (0, [False, True])
    assert all(each["after"] == [False, True] for each in found)
    # First the old one, then none of both, then the new one; never two.
    states = [each["before"] for each in cut]
    assert sorted(states, key=[[True, False], [False, False], [False, True]].index) == states
    assert min(states.count(each) for each in ([True, False], [False, False], [False, True])) >= 3


def test_a_place_that_is_not_empty_is_refused_before_anything_is_closed(tmp_path: Path, durable: Server) -> None:
    address = made(durable)
    with Ledger.open(address) as taken:
        taken.register(dataset="schools", specification=specification())
    with filled(tmp_path / "ledger.db") as old:
        with pytest.raises(UnavailableError, match="the new ledger is not empty"):
            old.move(address)
        assert old.reserve(question("y", specification=specification(2)), analyst="curator").charged


def test_a_damaged_ledger_does_not_move(tmp_path: Path, durable: Server) -> None:
    address = made(durable)
    with Ledger.open(address) as here, pytest.raises(ParameterError, match="cannot move to where it is"):
        here.move(address)
    with filled(tmp_path / "ledger.db") as old:
        with old._store.writing() as transaction:
            transaction.run("UPDATE totals SET spent = '0'")  # type: ignore[attr-defined]
        with pytest.raises(VerificationError):
            old.move(address)
    with Ledger.open(address) as new:
        assert new.records() == ()


@pytest.mark.parametrize("target", ["other.db", ":memory:", 3])
def test_only_a_database_is_moved_to(tmp_path: Path, target: str) -> None:
    with Ledger.open(tmp_path / "ledger.db") as old, pytest.raises(ParameterError, match="to a database"):
        old.move(target)


def test_an_older_file_says_that_it_cannot_move(tmp_path: Path, durable: Server) -> None:
    path = Path(shutil.copy(OLD, tmp_path / "ledger.db"))
    with Ledger.open(path) as old:
        head = old.head
        with pytest.raises(UnavailableError, match="a ledger of this format cannot move"):
            old.move(made(durable))
        assert old.verify() == head


def test_what_was_recorded_after_the_move_is_found(tmp_path: Path, durable: Server) -> None:
    """A file that is made to go on as if it had not moved is two budgets in one history."""
    with filled(tmp_path / "ledger.db") as old:
        old.move(made(durable))
        with old._store.writing() as transaction:
            body = '{"cost":"0","dataset":"visits","delta":"0","note":"n","when":null}'
            book = Book(transaction)
            seq = book.append("external", body, "2026-05-01T12:00:00.000Z")
            transaction.add_total("visits", "dataset", "", seq, "2/5", "0")
        with pytest.raises(VerificationError, match="says that the ledger moved, and more was recorded here"):
            old.verify()
