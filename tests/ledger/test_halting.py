"""Halts: one sentence for everyone, charges kept, nothing asked again, and no more told than log2(1 + questions)."""

import math
import shutil
import sqlite3
import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from quincunx.errors import HaltedError, ParameterError, RegistrationError, UnavailableError, VerificationError
from quincunx.ledger import Account, Halt, Ledger, Reservation
from quincunx.ledger.halting import Halts, bits, told
from tests.ledger.test_verify import rechained
from tests.ledger.worlds import empty, opened, question, specification, ticking

pytestmark = pytest.mark.usefixtures("each_store")

STORED = Path(__file__).parent.parent / "fixtures" / "ledger_v1.db"


@pytest.fixture
def ledger() -> Ledger:
    opened = empty(clock=ticking())
    opened.register(dataset="visits", specification=specification())
    return opened


def refused(act: Callable[[], object]) -> str:
    """What is said, with the whole way to it: lines of a traceback tell as well."""
    with pytest.raises(HaltedError) as caught:
        act()
    error = caught.value
    assert error.exit_code == 5
    assert error.__context__ is None
    assert error.__cause__ is None
    frames = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[2:]]
    return f"{error}\n{frames}"


class TestAHalt:
    def test_everything_open_is_treated_alike(self, ledger: Ledger) -> None:
        before = ledger.store(ledger.reserve(question("before")), b"1")
        first, failing, late = (ledger.reserve(question(asked)) for asked in ("first", "failing", "late"))
        said = {refused(lambda: ledger.store(failing, None))}
        said |= {refused(lambda each=each: ledger.store(each, b"2")) for each in (first, late, failing)}  # type: ignore[misc]
        said |= {refused(lambda: ledger.store(late, None))}
        assert len(said) == 1
        assert "nobody is told on which question" in said.pop()
        # What was stored before is shown, and everything that was reserved stays charged.
        assert ledger.reveal(ledger.reserve(question("before"))).content == before.content
        account = ledger.account("visits")
        assert (account.total.spent, account.questions, account.answers) == (Fraction(4, 10), 4, 1)
        assert account.halted
        assert account.halts == (Halt(seq=7, version="1", questions=4, withheld=3, reopened=None, allowed=None),)
        assert ledger.verify() == ledger.head

    def test_the_record_does_not_name_the_question(self, ledger: Ledger) -> None:
        refused(lambda: ledger.store(ledger.reserve(question("x")), None))
        record = ledger.records(last=1)[0]
        assert (record.kind, record.body) == ("halted", {"dataset": "visits", "version": "1"})

    def test_while_it_lasts_every_question_is_refused_before_its_reservation(self, ledger: Ledger) -> None:
        failing = ledger.reserve(question("x"))
        refused(lambda: ledger.store(failing, None))
        head = ledger.head
        for asked in (question("new"), question("x"), question("x", "1/5"), question("free", 0)):
            with pytest.raises(HaltedError, match="nobody is told on which question"):
                ledger.reserve(asked)
        assert ledger.head == head
        assert ledger.account("visits").total.spent == Fraction(1, 10)

    def test_other_datasets_go_on(self, ledger: Ledger) -> None:
        ledger.register(dataset="others", specification=specification())
        other = ledger.reserve(question("x", dataset="others"))
        refused(lambda: ledger.store(ledger.reserve(question("x")), None))
        assert ledger.store(other, b"2").content == b"2"
        assert not ledger.account("others").halted

    def test_an_answer_that_somebody_stored_is_shown_to_those_who_failed(self, ledger: Ledger) -> None:
        mine, theirs = ledger.reserve(question("x")), ledger.reserve(question("x"))
        ledger.store(theirs, b"42")
        assert ledger.store(mine, None).content == b"42"
        assert not ledger.account("visits").halted

    def test_a_new_sum_of_an_analyst_is_charged_for_stored_answers(self, ledger: Ledger) -> None:
        ledger.store(ledger.reserve(question("kept"), analyst="alice"), b"1")
        refused(lambda: ledger.store(ledger.reserve(question("x")), None))
        again = ledger.reserve(question("kept"), analyst="bob")
        assert (again.stored, again.charged, again.charged_analyst) == (True, 0, Fraction(1, 10))

    def test_a_reservation_of_another_ledger_halts_nothing(self, ledger: Ledger) -> None:
        with pytest.raises(Exception, match="no such reservation"):
            empty().store(ledger.reserve(question("x")), None)


class TestReopening:
    def test_a_reason_is_recorded_and_counted(self, ledger: Ledger) -> None:
        failing = ledger.reserve(question("x"))
        other = ledger.reserve(question("y"))
        refused(lambda: ledger.store(failing, None))
        with pytest.raises(ParameterError, match="sentence"):
            ledger.reopen("visits", reason=" ")
        account = ledger.reopen("visits", reason="the bad row was mended")
        assert isinstance(account, Account)
        assert not account.halted
        assert ledger.records(last=1)[0].body == {
            "dataset": "visits", "version": None, "reason": "the bad row was mended",
        }  # fmt: skip
        # None of the open ones is asked again on that version, whichever it was.
        said = {refused(lambda each=each: ledger.reserve(question(each))) for each in "xy"}  # type: ignore[misc]
        assert len(said) == 1
        said = {refused(lambda: ledger.store(failing, None)), refused(lambda: ledger.store(other, b"1"))}
        said |= {refused(lambda: ledger.store(failing, b"1"))}
        assert len(said) == 1
        assert "is not answered on this version" in said.pop()
        assert ledger.store(ledger.reserve(question("z")), b"3").content == b"3"
        assert ledger.account("visits").total.spent == Fraction(3, 10)
        with pytest.raises(ParameterError, match="nothing is halted"):
            ledger.reopen("visits", reason="again")
        with pytest.raises(RegistrationError):
            ledger.reopen("nobody", reason="again")
        assert ledger.verify() == ledger.head

    def test_a_new_version_reopens_and_leaves_the_old_one_closed(self, ledger: Ledger) -> None:
        ledger.store(ledger.reserve(question("x", version="0")), b"0")
        refused(lambda: ledger.store(ledger.reserve(question("x")), None))
        # An old version is not a new one.
        with pytest.raises(HaltedError):
            ledger.reserve(question("y", version="0"))
        reservation = ledger.reserve(question("x", version="2"))
        assert [record.kind for record in ledger.records(last=2)] == ["reopened", "reservation"]
        assert ledger.records(last=2)[0].body == {"dataset": "visits", "version": "2", "reason": None}
        assert ledger.store(reservation, b"2").content == b"2"
        assert ledger.reserve(question("y", version="0")).charged
        with pytest.raises(HaltedError, match="nobody is told"):
            ledger.reserve(question("y"))
        (halt,) = ledger.account("visits").halts
        assert (halt.reopened, halt.allowed) == (6, None)
        ledger.reopen("visits", reason="the old one is needed")
        assert ledger.reserve(question("y")).charged
        with pytest.raises(HaltedError, match="not answered on this version"):
            ledger.reserve(question("x"))
        assert ledger.verify() == ledger.head

    def test_a_new_version_that_the_budget_refuses_reopens_nothing(self, ledger: Ledger) -> None:
        refused(lambda: ledger.store(ledger.reserve(question("x")), None))
        head = ledger.head
        with pytest.raises(Exception, match="does not cover"):
            ledger.reserve(question("x", 2, version="2"))
        assert ledger.head == head
        assert ledger.account("visits").halted

    def test_every_halt_is_counted_with_its_questions(self, ledger: Ledger) -> None:
        for asked in range(3):
            ledger.store(ledger.reserve(question(asked, "1/100")), b"1")
        refused(lambda: ledger.store(ledger.reserve(question("x", "1/100")), None))
        ledger.reopen("visits", reason="one")
        refused(lambda: ledger.store(ledger.reserve(question("y", "1/100")), None))
        halts = ledger.account("visits").halts
        assert [halt.questions for halt in halts] == [4, 1]
        assert [halt.bits for halt in halts] == [math.log2(5), 1]
        assert bits(halts) == 3.4
        assert told(halts) == [
            "This dataset was halted twice, when an engine failed on its rows, and reopened once; it is halted now. "
            "That can have told at most 3.4 bits about them."
        ]
        assert told(()) == []


def view(failing: int | None, asked: int, together: bool) -> tuple[object, ...]:
    """All that can be seen when question number `failing` fails: answers, sentences, records, accounts."""
    ledger = empty(clock=ticking())
    ledger.register(dataset="visits", specification=specification())
    seen: list[object] = []

    def stored(number: int, reservation: Reservation) -> None:
        try:
            seen.append(ledger.store(reservation, None if number == failing else b"%d" % number).content)
        except HaltedError as error:
            seen.append(str(error))

    if together:
        open_ones = [ledger.reserve(question(number, "1/100")) for number in range(asked)]
        # The others are not done before the one that fails.
        order = sorted(range(asked), key=lambda number: number != failing)
        outcome = [stored(number, open_ones[number]) for number in order]
        seen = sorted(map(str, seen)) if outcome else []
    else:
        for number in range(asked):
            try:
                stored(number, ledger.reserve(question(number, "1/100")))
            except HaltedError as error:
                seen.append(str(error))
    account = ledger.account("visits")
    return (*seen, *(record.to_json() for record in ledger.records()), account.total.spent, account.halts)


@pytest.mark.parametrize("asked", [1, 2, 3, 7, 20])
def test_no_more_is_told_than_one_of_one_and_the_number_of_questions(asked: int) -> None:
    ways = [None, *range(asked)]
    assert len({view(failing, asked, together=False) for failing in ways}) == 1 + asked
    # Of questions that are open together nobody learns which it was.
    assert len({view(failing, asked, together=True) for failing in ways}) == 2


def test_without_the_check_in_store_they_would_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Halts, "refusal", lambda *_: None)
    assert len({view(failing, 7, together=True) for failing in (None, *range(7))}) > 2


class TestFiles:
    def test_a_file_of_format_1_becomes_one_of_format_2_by_its_first_halt(self, tmp_path: Path) -> None:
        path = Path(shutil.copy(STORED, tmp_path / "ledger.db"))

        def format_of() -> tuple[int]:
            connection = sqlite3.connect(path)
            try:
                return connection.execute("PRAGMA user_version").fetchone()  # type: ignore[no-any-return]
            finally:
                connection.close()

        given = {"specification": specification(2)}
        with Ledger.open(path, create=False) as ledger, Ledger.open(path, create=False) as other:
            head = ledger.head
            kept = ledger.reserve(question("SELECT COUNT(*)", delta="1e-7", **given), analyst="alice")
            assert ledger.reveal(kept).content == b"n = 42"
            failing = other.reserve(question("x", **given), analyst="alice")
            assert (ledger.account("visits").halts, format_of()) == ((), (1,))
            refused(lambda: other.store(failing, None))
            assert format_of() == (2,)
            # Whoever had it open before goes on, and sees the halt.
            with pytest.raises(HaltedError):
                ledger.reserve(question("y", **given), analyst="alice")
            assert ledger.reveal(kept).content == b"n = 42"
            assert ledger.account("visits").halts[0].withheld == 2
            assert ledger.verify(head) == ledger.head
        with Ledger.open(path, create=False) as ledger:
            assert ledger.account("visits").halted
            assert ledger.verify(head) == ledger.head

    def test_a_kind_of_format_2_in_a_file_of_format_1_is_found(self, tmp_path: Path) -> None:
        path = Path(shutil.copy(STORED, tmp_path / "ledger.db"))
        connection = sqlite3.connect(path)
        body = '{"dataset":"visits","version":"1"}'
        connection.execute("INSERT INTO records VALUES (9, 't', 'halted', ?, '', '')", (body,))
        rechained(connection)
        connection.commit()
        connection.close()
        with Ledger.open(path) as ledger, pytest.raises(VerificationError, match="record 9 has a kind"):
            ledger.verify()

    def test_tables_of_one_format_in_a_file_of_the_other_are_refused(self, tmp_path: Path) -> None:
        path = Path(shutil.copy(STORED, tmp_path / "ledger.db"))
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 2")
        connection.close()
        with pytest.raises(UnavailableError, match="not those of a ledger"):
            Ledger.open(path)


HALT, REOPEN, LATER = 5, 6, 7


@pytest.fixture(params=[2, 3])
def halted_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """registration, reservation, answer, reservation, halted, reopened, reservation, answer."""
    return halted_once(tmp_path / "ledger.db", request.param)


def halted_once(path: Path, version: int) -> Path:
    with opened(path, version) as ledger:
        ledger.register(dataset="visits", specification=specification())
        ledger.store(ledger.reserve(question("kept")), b"1")
        refused(lambda: ledger.store(ledger.reserve(question("x")), None))
        ledger.reopen("visits", reason="mended")
        ledger.store(ledger.reserve(question("later")), b"2")
        assert ledger.verify().startswith("8:")
    return path


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        (["DELETE FROM halts"], "the halt 5 is missing"),
        (["UPDATE halts SET version = '2'"], "the halt 5 is not what the records say"),
        (["INSERT INTO halts (seq, dataset, version) VALUES (9, 'visits', '1')"], "the halt 9 has no record"),
        (["DELETE FROM withheld"], "the withheld question"),
        (["INSERT INTO withheld VALUES ('f', 5)"], "the withheld question f has no record"),
        (["UPDATE records SET kind = 'reopened' WHERE seq = 5"], "record 5 has a kind or content"),
        (
            ["UPDATE records SET body = replace(body, '\"1\"', '\"7\"') WHERE seq = 5"],
            "record 5 halts on a version that nobody asked about",
        ),
        (
            ["UPDATE records SET kind = 'halted', body = (SELECT body FROM records WHERE seq = 5) WHERE seq = 6"],
            "record 6 halts a dataset that is halted; record 7 reserves a question while the dataset is halted",
        ),
        (
            ["UPDATE records SET kind = 'reopened', body = (SELECT body FROM records WHERE seq = 6) WHERE seq = 5"],
            "record 5 reopens a dataset that is not halted",
        ),
        (
            ["UPDATE records SET body = replace(body, 'null', '\"2\"') WHERE seq = 6"],
            "record 6 reopens a dataset that is not halted, or by an old version",
        ),
        (
            [
                "UPDATE records SET body = replace(body, (SELECT key FROM questions WHERE seq = 7), "
                "(SELECT key FROM questions WHERE seq = 4)) WHERE seq = 8"
            ],
            "record 8 answers a question that was open when record 5 halted",
        ),
    ],
)
def test_a_forged_halt_is_found(halted_file: Path, statements: list[str], says: str) -> None:
    forged(halted_file, statements, says)


@pytest.mark.parametrize(
    ("version", "statement", "says"),
    [
        (2, "UPDATE halts SET reopened = NULL", "the halt 5 is not what the records say"),
        (2, "UPDATE halts SET allowed = NULL", "the halt 5 is not what the records say"),
        (3, "DELETE FROM reopenings", "the halt 5 is not what the records say"),
        (3, "UPDATE reopenings SET closed = 1", "the halt 5 is not what the records say"),
        # It would open the halts that are to come.
        (3, "INSERT INTO reopenings VALUES (99, 'visits', 0)", "the reopening 99 has no record"),
        (3, "INSERT INTO reopenings VALUES (2, 'visits', 0)", "the reopening 2 has no record"),
    ],
)
def test_a_forged_reopening_is_found(tmp_path: Path, version: int, statement: str, says: str) -> None:
    forged(halted_once(tmp_path / "ledger.db", version), [statement], says)


def test_both_formats_tell_the_same_of_halts(tmp_path: Path) -> None:
    """Halted, reopened by a version, halted again, reopened by a reason: the same account, step by step."""
    told: dict[int, list[object]] = {}
    for version in (2, 3):
        with opened(tmp_path / f"{version}.db", version) as ledger:
            ledger.register(dataset="visits", specification=specification())
            seen = told.setdefault(version, [])
            refused(lambda: ledger.store(ledger.reserve(question("x")), None))
            seen.append(ledger.account("visits").halts)
            ledger.reserve(question("y", version="2"))
            seen.append(ledger.account("visits").halts)
            refused(lambda: ledger.store(ledger.reserve(question("z", version="2")), None))
            seen.append(ledger.account("visits").halts)
            with pytest.raises(HaltedError):
                ledger.reserve(question("w"))
            ledger.reopen("visits", reason="mended")
            seen += [ledger.account("visits").halts, ledger.reserve(question("w")).charged, ledger.verify()]
    assert told[2] == told[3]
    assert [halt.reopened is None for halt in told[3][2]] == [False, True]  # type: ignore[attr-defined]
    assert [halt.allowed for halt in told[3][3]] == [8, 8]  # type: ignore[attr-defined]


def forged(halted_file: Path, statements: list[str], says: str) -> None:
    connection = sqlite3.connect(halted_file)
    for statement in statements:
        connection.execute(statement)
    rechained(connection)
    connection.commit()
    connection.close()
    with Ledger.open(halted_file) as ledger, pytest.raises(VerificationError) as caught:
        ledger.verify()
    assert says in str(caught.value)
