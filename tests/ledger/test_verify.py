"""Tampering: every way to change a stored ledger is found, and the message says where."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from quincunx.errors import HaltedError, ParameterError, UnavailableError, VerificationError
from quincunx.ledger import Ledger
from quincunx.ledger.record import chained
from tests.ledger.worlds import made, opened, question, specification, ticking
from tests.postgres import Server

Tamper = Callable[[Any], object]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "ledger.db", 3)


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.ci)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | Kept:
    """The same history in a file and in a database."""
    if request.param == "file":
        return written(tmp_path / "ledger.db", 3)
    server: Server = request.getfixturevalue("durable")
    kept = Kept(server=server, address=made(server))
    fill(Ledger.open(kept.address, clock=ticking()))
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A ledger in a database, as a superuser reaches it whom no trigger stops."""

    server: Server
    address: str

    def tampered(self, act: Tamper) -> None:
        with psycopg.connect(self.server.address("admin")) as connection:
            schema = self.address.rpartition("=")[2]
            connection.execute(f"SET search_path = {schema}; SET session_replication_role = replica".encode())
            act(Statements(connection))


class Statements:
    """SQLite's words in those of PostgreSQL."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection

    def execute(self, statement: str, values: Sequence[object] = ()) -> Any:
        text = re.sub(r"x'([0-9a-f]*)'", r"'\\x\1'::bytea", statement).replace("AS BLOB", "AS bytea")
        return self.connection.execute(text.replace("?", "%s").encode(), values or None)


def written(path: Path, version: int) -> Path:
    fill(opened(path, version))
    return path


def fill(new: Ledger) -> None:
    """Two datasets, two answered questions, an open one, a replay, an external spend, an amendment: 10 records."""
    with new as ledger:
        ledger.register(dataset="visits", specification=specification(), budgets={"analysts": {"a": "1/2", "b": "1/2"}})
        ledger.register(dataset="others", specification=specification())
        for asked in "xy":
            ledger.store(ledger.reserve(question(asked), analyst="a"), f"answer to {asked}".encode())
        ledger.reserve(question("z"), analyst="a")
        ledger.reserve(question("x"), analyst="b")
        ledger.add("visits", cost="1/10", note="by hand")
        ledger.amend("visits", specification=specification(2), reason="more")
        assert ledger.verify() == ledger.head
        assert ledger.head.startswith("10:")


def tampered(place: Path | Kept, act: Tamper) -> str:
    """What verification says after `act` on what is stored."""
    if isinstance(place, Kept):
        place.tampered(act)
    else:
        connection = sqlite3.connect(place)
        act(connection)
        connection.commit()
        connection.close()
    with (
        Ledger.open(place.address if isinstance(place, Kept) else place) as ledger,
        pytest.raises(VerificationError, match="not what was recorded") as caught,
    ):
        ledger.verify()
    assert caught.value.exit_code == 6
    return str(caught.value)


def rechained(connection: Any) -> None:
    """What a patient forger does: hash everything again."""
    previous = None
    rows = connection.execute("SELECT seq, time, kind, body, previous FROM records ORDER BY seq").fetchall()
    for seq, time, kind, body, stored in rows:
        before = stored if previous is None else previous
        previous = chained(seq, time, kind, body, before)
        connection.execute("UPDATE records SET previous = ?, hash = ? WHERE seq = ?", (before, previous, seq))


def sql(*statements: str, forged: bool = False) -> Tamper:
    def act(connection: Any) -> None:
        for statement in statements:
            connection.execute(statement)
        if forged:
            rechained(connection)

    return act


SWAP = (
    "UPDATE records SET seq = -1 WHERE seq = 4",
    "UPDATE records SET seq = 4 WHERE seq = 5",
    "UPDATE records SET seq = 5 WHERE seq = -1",
)
CHEAPER = 'UPDATE records SET body = replace(body, \'"cost":"1/10"\', \'"cost":"1/20"\') WHERE seq = 3'


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (sql("UPDATE records SET body = replace(body, 'x', 'w') WHERE seq = 3"), "record 3 was changed"),
        (sql(CHEAPER), "record 3 was changed"),
        (sql("UPDATE records SET time = '2020' WHERE seq = 5"), "record 5 was changed"),
        (sql("UPDATE records SET kind = 'answer' WHERE seq = 3"), "record 3 has a kind or content that is not known"),
        (sql("UPDATE records SET hash = previous WHERE seq = 5"), "record 6 does not follow record 5"),
        (sql("UPDATE records SET body = x'00' WHERE seq = 5"), "record 5 was changed: a part of it is not a text"),
        (sql("DELETE FROM records WHERE seq = 5"), "record 5 is missing: record 6 stands in its place"),
        (sql("DELETE FROM records WHERE seq = 1"), "record 1 is missing"),
        (sql("DELETE FROM records WHERE seq >= 7"), 'the total ["visits","dataset","",7] has no record'),
        (sql("DELETE FROM records"), "has no record"),
        (sql(*SWAP), "record 4 was changed"),
        (sql("UPDATE totals SET spent = '0' WHERE budget = 'dataset'"), 'the total ["visits","dataset","",3] is not'),
        (sql("UPDATE totals SET spent = '0' WHERE seq = 9"), 'the total ["visits","dataset","",9] is not'),
        (sql("UPDATE totals SET delta = '1/7' WHERE budget = 'plan'"), '["visits","plan","default",3] is not'),
        (sql("DELETE FROM totals WHERE holder = 'b'"), 'the total ["visits","analyst","b",8] is missing'),
        (sql("DELETE FROM totals WHERE seq = 9"), 'the total ["visits","dataset","",9] is missing'),
        # The newest row counts: one from the future would be the newest for long.
        (sql("INSERT INTO totals VALUES ('visits', 'dataset', '', 99, '0', '0')"), '"",99] has no record'),
        (sql("INSERT INTO totals VALUES ('visits', 'analyst', 'c', 3, '0', '0')"), '"c",3] has no record'),
        (
            sql("UPDATE datasets SET registration = replace(registration, '1/2', '9')"),
            'the registration ["visits",1] is not',
        ),
        (sql("INSERT INTO datasets SELECT name, 99, registration FROM datasets WHERE seq = 1"), '["visits",99] has no'),
        (sql("DELETE FROM datasets WHERE name = 'others'"), 'the registration ["others",2] is missing'),
        (sql("DELETE FROM questions WHERE seq = 7"), "is missing: the records have it"),
        (sql("UPDATE questions SET seq = 9 WHERE seq = 7"), "is not what the records say"),
        (sql("DELETE FROM charges WHERE analyst = 'b'"), "the charge ["),
        (sql("UPDATE answers SET content = CAST('44' AS BLOB) WHERE seq = 4"), "the stored answer"),
        (sql("UPDATE answers SET content = x'' WHERE seq = 4"), "the stored answer"),
        (sql("DELETE FROM answers WHERE seq = 6"), "the stored answer"),
        (sql("INSERT INTO answers VALUES ('f', 11, x'00')"), "the stored answer f has no record"),
        # Forged with care: the chain is whole, and the sums or the keys give it away.
        (sql(CHEAPER, forged=True), "reserves under a key that is not its question's"),
        (sql("UPDATE records SET body = replace(body, '1/10', '1/20') WHERE seq = 9", forged=True), "the total ["),
        (sql("DELETE FROM records WHERE seq = 10", forged=True), 'the registration ["visits",10] has no record'),
        (sql("UPDATE records SET body = replace(body, '1/10', '-5') WHERE seq = 9", forged=True), "less than nothing"),
        (sql("UPDATE records SET body = replace(body, '1/10', '5') WHERE seq = 9", forged=True), "spends more than"),
        (sql("UPDATE records SET body = replace(body, '1/10', '1/0') WHERE seq = 9", forged=True), "cannot be read"),
        (sql("UPDATE records SET body = replace(body, '1/10', 'ten') WHERE seq = 9", forged=True), "cannot be read"),
        (sql("UPDATE records SET body = '{}' WHERE seq = 9", forged=True), "kind or content that is not known"),
        (sql("UPDATE records SET body = '[' WHERE seq = 9", forged=True), "record 9 cannot be read"),
        (sql("UPDATE records SET body = body || ' ' WHERE seq = 9", forged=True), "content that is not known"),
        (sql("UPDATE records SET kind = 'refund' WHERE seq = 9", forged=True), "record 9 has a kind"),
        (
            sql("UPDATE records SET body = replace(body, 'visits', 'nobody') WHERE seq = 9", forged=True),
            "record 9 speaks of a dataset that is not registered before it",
        ),
        (
            sql("UPDATE records SET body = (SELECT body FROM records WHERE seq = 3) WHERE seq = 7", forged=True),
            "record 7 reserves a question that record 3 reserved",
        ),
        (
            sql("UPDATE records SET body = (SELECT body FROM records WHERE seq = 4) WHERE seq = 6", forged=True),
            "record 6 answers a question that record 4 answered",
        ),
        (
            sql("UPDATE records SET body = (SELECT body FROM records WHERE seq = 1) WHERE seq = 2", forged=True),
            "record 2 registers a dataset for the second time",
        ),
        (
            sql("UPDATE records SET body = replace(body, ':\"b\"', ':\"a\"') WHERE seq = 8", forged=True),
            "record 8 charges an analyst twice for one question",
        ),
        (
            sql("UPDATE records SET body = replace(body, '1/10', '1/20') WHERE seq = 8", forged=True),
            "record 8 replays a question that was not reserved at this price",
        ),
        (
            sql("UPDATE records SET body = replace(body, '\"1/2\"', '\"1/4\"') WHERE seq = 1", forged=True),
            "record 7 spends more than the budget of analyst a in 'visits': ρ = 0.3 of 0.25",
        ),
        (
            sql("UPDATE records SET body = replace(body, ':\"2\"', ':\"1/4\"') WHERE seq = 10", forged=True),
            "record 10 spends more than the budget of dataset in 'visits': ρ = 0.4 of 0.25",
        ),
    ],
)  # fmt: skip
def test_tampering_is_found_and_named(place: Path | Kept, act: Tamper, says: str) -> None:
    if isinstance(place, Kept) and says.endswith("not a text"):
        pytest.skip("a column of a database holds values of its type alone")
    assert says in tampered(place, act)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("act", "says"),
    [
        (sql("UPDATE totals SET spent = '0' WHERE budget = 'dataset'"), 'the total ["visits","dataset",""] is not'),
        (sql("UPDATE totals SET delta = '1/7' WHERE budget = 'plan'"), 'the total ["visits","plan","default"] is not'),
        (sql("DELETE FROM totals WHERE holder = 'b'"), 'the total ["visits","analyst","b"] is missing'),
        (sql("INSERT INTO totals VALUES ('visits', 'analyst', 'c', '0', '0')"), '"c"] has no record'),
        (sql("UPDATE datasets SET registration = replace(registration, '1/2', '9')"), "the registration visits is not"),
        (sql("DELETE FROM datasets WHERE name = 'others'"), "the registration others is missing"),
        (sql(CHEAPER, forged=True), "reserves under a key that is not its question's"),
    ],
)
def test_tampering_with_an_older_file_is_found(tmp_path: Path, version: int, act: Tamper, says: str) -> None:
    path = written(tmp_path / "ledger.db", version)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)
    connection.close()
    assert says in tampered(path, act)


def test_nothing_that_was_written_is_changed(tmp_path: Path) -> None:
    """A new ledger needs no right to update or delete."""
    said: list[str] = []
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        with ledger._store.reading() as transaction:
            transaction.connection.set_trace_callback(said.append)
        ledger.register(dataset="visits", specification=specification())
        ledger.store(ledger.reserve(question("kept"), analyst="a"), b"1")
        ledger.reserve(question("kept"), analyst="b")
        ledger.add("visits", cost="1/10", note="by hand")
        ledger.amend("visits", specification=specification(2), reason="more")
        open_ = ledger.reserve(question("x", specification=specification(2)))
        with pytest.raises(HaltedError):
            ledger.store(open_, None)
        ledger.reopen("visits", reason="mended")
        assert ledger.verify() == ledger.head
    verbs = {statement.split()[0] for statement in said}
    assert {"INSERT", "SELECT"} < verbs
    assert not verbs & {"UPDATE", "DELETE", "DROP", "ALTER", "REPLACE"}
    assert not any("OR REPLACE" in statement for statement in said)


def test_a_rolled_back_file_is_found_by_its_head(path: Path, tmp_path: Path) -> None:
    """A copy put back is a true ledger of the past: only the head that was printed since tells."""
    shutil.copy(path, tmp_path / "copy.db")
    with Ledger.open(path) as ledger:
        head = ledger.reserve(question("late"), analyst="a").head
        assert ledger.verify(head) == head
    shutil.copy(tmp_path / "copy.db", path)
    with Ledger.open(path) as ledger:
        assert ledger.verify().startswith("10:")
        with pytest.raises(
            VerificationError, match=r"names record 11, but the last is record 10: .* rolled back or cut"
        ):
            ledger.verify(head)


def test_a_rewritten_ledger_is_found_by_its_head(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "copy.db")
    with Ledger.open(path) as ledger:
        head = ledger.reserve(question("late"), analyst="a").head
    shutil.copy(tmp_path / "copy.db", path)
    with Ledger.open(path) as ledger:
        ledger.reserve(question("something else"), analyst="a")
        assert ledger.verify().startswith("11:")
        with pytest.raises(VerificationError, match=r"record 11 is not the one that the head names: .* rewritten"):
            ledger.verify(head)


def test_every_earlier_head_verifies(path: Path) -> None:
    with Ledger.open(path) as ledger:
        for record in ledger.records():
            for digits in (16, 32, 64):
                assert ledger.verify(f"{record.seq}:{record.hash[:digits]}") == ledger.head
        with pytest.raises(ParameterError, match="not a ledger's head"):
            ledger.verify("10")
    empty = Ledger.open(":memory:")
    assert empty.verify(empty.head) == empty.head


def test_all_findings_are_counted(place: Path | Kept) -> None:
    statements = ("UPDATE records SET time = 'then'", "UPDATE totals SET spent = '7'", "DELETE FROM questions")
    message = tampered(place, sql(*statements, "UPDATE answers SET content = x'00'", "DELETE FROM charges"))
    assert message.count("was changed: its hash") == 10
    assert "; and " in message
    assert " more. " in message


def test_an_unknown_kind_is_refused_when_it_is_read(path: Path) -> None:
    connection = sqlite3.connect(path)
    sql("UPDATE records SET kind = 'refund' WHERE seq = 9", forged=True)(connection)
    connection.commit()
    connection.close()
    with Ledger.open(path) as ledger:
        with pytest.raises(UnavailableError, match="record 9 cannot be read"):
            ledger.records()
        with pytest.raises(UnavailableError, match="record 9 cannot be read"):
            list(ledger.export())


def test_a_damaged_file_is_found(path: Path) -> None:
    content = bytearray(path.read_bytes())
    # The second page and those after it are overwritten; the first keeps the file's name and tables.
    content[4096 * 2 : 4096 * 6] = bytes(4096 * 4)
    path.write_bytes(content)
    with Ledger.open(path) as ledger, pytest.raises(VerificationError, match="the file is damaged"):
        ledger.verify()
