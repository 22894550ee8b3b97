"""The file: how it is made, what is refused, threads, forks, locks, a full disk."""

import gc
import json
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from quincunx.errors import BudgetError, ParameterError, PrivacyError, UnavailableError
from quincunx.ledger import Ledger
from quincunx.ledger.canonical import digest
from quincunx.ledger.sqlite.schema import APPLICATION, TABLES
from tests.ledger.worlds import question, specification

ROOT = Path(__file__).parent.parent.parent


def filled(path: Path) -> Ledger:
    ledger = Ledger.open(path, wait=0.2)
    ledger.register(dataset="visits", specification=specification())
    return ledger


def elsewhere(code: str, *words: object) -> Any:
    """What `code` prints as JSON in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, words)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout)


def test_a_new_file_is_complete_private_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        assert ledger.head.startswith("0:")
        assert ledger.datasets == ()
    assert [each.name for each in tmp_path.iterdir()] == ["ledger.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_reader_sees_the_state_of_its_first_look(tmp_path: Path) -> None:
    with filled(tmp_path / "ledger.db") as ledger:
        with ledger._store.reading() as transaction:
            # Nothing was asked yet, but the transaction has begun.
            before = sqlite3.connect(tmp_path / "ledger.db").execute("SELECT COUNT(*) FROM records").fetchone()
            ledger.reserve(question("later"))
            assert transaction.last() == (before[0], ANY)
        with ledger._store.reading() as transaction:
            assert transaction.last() == (before[0] + 1, ANY)


def test_a_spend_is_a_few_short_statements(tmp_path: Path) -> None:
    """Whoever holds the lock keeps sixteen others waiting: what a spend asks of the file does not grow unnoticed."""
    with filled(tmp_path / "ledger.db") as ledger:
        for number in range(3):
            said: list[str] = []
            with ledger._store.reading() as transaction:
                transaction.connection.set_trace_callback(said.append)
            asked = ledger.reserve(question(f"number {number}"), analyst="alice")
            reserved = len(said)
            ledger.store(asked, b"noisy")
        # Begin, format, registration, reservation, answer, halts, holder, payments, three totals read and written …
        assert reserved <= 19
        assert len(said) - reserved <= 10


def test_durability_settings_hold_on_every_connection(tmp_path: Path) -> None:
    with filled(tmp_path / "ledger.db") as ledger:
        store = ledger._store
        with store.writing() as one, store.reading() as another:
            first, second = one.connection, another.connection
            assert second is not first
            for connection in (first, second):
                assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
                assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
                assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_what_is_written_is_there_after_closing(tmp_path: Path) -> None:
    with filled(tmp_path / "ledger.db") as ledger:
        reservation = ledger.reserve(question("x"))
        head = ledger.store(reservation, b"42").head
    with Ledger.open(tmp_path / "ledger.db", create=False) as again:
        assert again.head == head
        assert again.reveal(reservation).content == b"42"


def test_a_missing_ledger_is_not_made_unless_asked(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="there is no ledger here"):
        Ledger.open(tmp_path / "ledger.db", create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"person_id,age\n1,30\n", b"SQLite format 3\0", os.urandom(5000)])
def test_a_file_that_is_not_a_ledger_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(content)
    with pytest.raises(UnavailableError, match="not a ledger"):
        Ledger.open(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_another_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE records (a)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UnavailableError, match="this file is not a ledger"):
        Ledger.open(path)
    assert path.read_bytes() == before


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    filled(tmp_path / "ledger.db").close()
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("PRAGMA user_version = 5")
    connection.close()
    with pytest.raises(UnavailableError, match="format that is not known; got format 5"):
        Ledger.open(tmp_path / "ledger.db")


def test_a_format_that_changes_while_it_is_open_is_noticed(tmp_path: Path) -> None:
    """What a newer version records may forbid what this one would do."""
    with filled(tmp_path / "ledger.db") as ledger:
        connection = sqlite3.connect(tmp_path / "ledger.db")
        connection.execute("PRAGMA user_version = 5")
        connection.close()
        with pytest.raises(UnavailableError, match="format that is not known; got format 5"):
            ledger.reserve(question("x"))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER cheap AFTER INSERT ON totals BEGIN UPDATE totals SET spent = '0'; END",
        "CREATE VIEW more AS SELECT * FROM records",
        "DROP TABLE charges",
        "ALTER TABLE answers ADD COLUMN note TEXT",
    ],
)
def test_tables_that_are_not_a_ledgers_are_refused(tmp_path: Path, statement: str) -> None:
    filled(tmp_path / "ledger.db").close()
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(UnavailableError, match="not those of a ledger"):
        Ledger.open(tmp_path / "ledger.db")


def test_the_tables_are_for_ever() -> None:
    names = {version: {statement.split()[2] for statement in tables} for version, tables in TABLES.items()}
    assert names[1] == {"records", "datasets", "totals", "questions", "charges", "answers"}
    assert names[2] - names[1] == {"halts", "withheld"}
    assert names[3] - names[2] == {"reopenings"}
    # A change of one character would refuse every ledger that is there.
    digests = {version: digest("\n".join(sorted(tables)))[:16] for version, tables in TABLES.items()}
    assert digests == {1: "2f82b59666244573", 2: "c3b625cb75a06119", 3: "9b7b172e51ef2d35", 4: "9b7b172e51ef2d35"}


def test_a_held_lock_ends_in_a_clear_error_and_costs_nothing(tmp_path: Path) -> None:
    with filled(tmp_path / "ledger.db") as ledger:
        other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UnavailableError, match="another process holds the ledger's lock") as caught:
            ledger.reserve(question("x"))
        assert caught.value.exit_code == 5
        # Readers wait for nobody.
        assert ledger.account("visits").total.spent == 0
        other.execute("ROLLBACK")
        other.close()
        assert ledger.reserve(question("x")).charged == Fraction(1, 10)


def test_a_lock_that_is_let_go_in_time_is_waited_for(tmp_path: Path) -> None:
    with filled(tmp_path / "ledger.db") as ledger:
        ledger._store._wait = 20
        other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
        timer.start()
        assert ledger.reserve(question("x")).charged == Fraction(1, 10)
        timer.join()
        other.close()


FULL = """
import json, resource, signal, sys
from quincunx.errors import UnavailableError
from quincunx.ledger import Ledger
from tests.ledger.worlds import question, specification
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ledger = Ledger.open(sys.argv[1])
ledger.register(dataset="visits", specification=specification())
reservation = ledger.reserve(question("x"))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
messages = []
for act in (lambda: ledger.store(reservation, bytes(1_000_000)), lambda: ledger.reserve(question("y" * 200_000))):
    try:
        act()
    except UnavailableError as error:
        messages.append([error.what, error.exit_code])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
spent = str(ledger.account("visits").total.spent)
kept = ledger.store(reservation, b"42").content.decode()
print(json.dumps({"messages": messages, "spent": spent, "kept": kept, "head": ledger.verify()}))
"""


def test_a_full_disk_ends_in_a_clear_error_and_the_ledger_stays_exact(tmp_path: Path) -> None:
    report = elsewhere(FULL, tmp_path / "ledger.db")
    assert len(report["messages"]) == 2
    assert all(what in ("the disk is full", "the disk failed") and code == 5 for what, code in report["messages"])
    assert (report["spent"], report["kept"]) == ("1/10", "42")
    assert report["head"].startswith("3:")


READ_ONLY = """
import json, os, sys
from quincunx.errors import UnavailableError
from quincunx.ledger import Ledger
from tests.ledger.worlds import question
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
found = []
for name in ("readable.db", "secret.db", "new.db"):
    try:
        ledger = Ledger.open(os.path.join(sys.argv[1], name))
        ledger.reserve(question("x"))
    except UnavailableError as error:
        found.append(error.what)
print(json.dumps(found))
"""


def test_a_file_or_folder_that_cannot_be_written_ends_in_a_clear_error() -> None:
    # Others may not look into the test's own folder; this one can be opened to them.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, mode in (("readable.db", 0o444), ("secret.db", 0o000)):
            filled(folder / file).close()
            (folder / file).chmod(mode)
        folder.chmod(0o555)
        found = elsewhere(READ_ONLY, folder)
        folder.chmod(0o755)
    assert len(found) == 3
    assert found[0] in ("the ledger cannot be written", "the ledger cannot be opened")
    assert found[1:] == ["the ledger cannot be opened", "the ledger cannot be made here"]


def test_a_file_that_is_replaced_while_open_is_noticed(tmp_path: Path) -> None:
    """A fresh file under the old name would be a fresh budget, and the open connections would not see it."""
    ledger = filled(tmp_path / "ledger.db")
    ledger.reserve(question("x"))
    (tmp_path / "ledger.db").rename(tmp_path / "away.db")
    with pytest.raises(UnavailableError, match="cannot be reached"):
        ledger.reserve(question("y"))
    Ledger.open(tmp_path / "ledger.db").close()
    with pytest.raises(UnavailableError, match="was replaced while it was open"):
        ledger.reserve(question("y"))
    ledger.close()


def test_a_closed_ledger_says_so(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.db")
    ledger.close()
    ledger.close()
    with pytest.raises(UnavailableError, match="the ledger is closed"):
        ledger.head  # noqa: B018


@pytest.mark.parametrize("wait", [-1, float("nan"), float("inf"), "1", None, True, 10**9])
def test_the_wait_is_bounded(wait: object) -> None:
    with pytest.raises(ParameterError, match="wait: must be from 0 to 3600 seconds"):
        Ledger.open(":memory:", wait=wait)  # type: ignore[arg-type]


@pytest.mark.parametrize("memory", [True, False])
def test_threads_share_a_ledger_without_overspending(tmp_path: Path, memory: bool) -> None:
    ledger = Ledger.open(":memory:" if memory else tmp_path / "ledger.db")
    ledger.register(dataset="visits", specification=specification())
    outcomes: list[str] = []

    def spend(worker: int) -> None:
        for i in range(10):
            try:
                reservation = ledger.reserve(question(f"{worker} {i}", "1/20"))
                outcomes.append(ledger.store(reservation, b"x").content.decode())
            except BudgetError:
                outcomes.append("refused")

    threads = [threading.Thread(target=spend, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 40 + ["x"] * 20
    assert ledger.account("visits").total.remaining == 0
    assert ledger.verify().startswith("41:")
    ledger.close()


FORK = """
import json, os, sys
from quincunx.errors import PrivacyError
from quincunx.ledger import Ledger
from tests.ledger.worlds import question, specification
file, memory = Ledger.open(sys.argv[1]), Ledger.open(":memory:")
for ledger in (file, memory):
    ledger.register(dataset="visits", specification=specification())
    ledger.reserve(question("before"))
read, write = os.pipe()
if os.fork() == 0:
    reservation = file.reserve(question("child"))
    file.store(reservation, b"from the child")
    try:
        memory.reserve(question("child"))
        said = "spent"
    except PrivacyError as error:
        said = error.what
    os.write(write, said.encode())
    sys.exit(0)
os.wait()
os.close(write)
answer = file.reveal(file.reserve(question("child"))).content.decode()
spent = [str(ledger.account("visits").total.spent) for ledger in (file, memory)]
print(json.dumps({"said": os.read(read, 500).decode(), "answer": answer, "spent": spent, "head": file.verify()}))
"""


def test_a_forked_child_spends_from_the_same_file_and_from_no_copy(tmp_path: Path) -> None:
    report = elsewhere(FORK, tmp_path / "ledger.db")
    assert report["said"] == "a ledger in memory belongs to the process that made it"
    assert report["answer"] == "from the child"
    assert report["spent"] == ["1/5", "1/10"]
    assert report["head"].startswith("4:")


MANY = """
import json, os, sys
from quincunx.ledger import Ledger
from tests.ledger.worlds import specification
start_read, start_write = os.pipe()
children = []
for i in range(12):
    pid = os.fork()
    if pid == 0:
        os.close(start_write)
        os.read(start_read, 1)
        code = 1
        try:
            with Ledger.open(sys.argv[1]) as ledger:
                try:
                    ledger.register(dataset="visits", specification=specification(1 + i % 2))
                    code = 0
                except Exception as error:
                    code = 10 if type(error).__name__ == "RegistrationError" else 1
        finally:
            os._exit(code)
    children.append(pid)
os.close(start_read)
os.close(start_write)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
with Ledger.open(sys.argv[1]) as ledger:
    print(json.dumps({"codes": codes, "head": ledger.verify()}))
"""


def test_many_create_and_register_at_once_and_one_wins(tmp_path: Path) -> None:
    report = elsewhere(MANY, tmp_path / "ledger.db")
    # Half of them state another total: whoever was first decides which half is refused.
    assert sorted(report["codes"]) == [0] * 6 + [10] * 6
    assert report["head"].startswith("1:")
    assert [each.name for each in tmp_path.iterdir()] == ["ledger.db"]


def test_a_ledger_in_memory_is_forgotten() -> None:
    first, second = Ledger.open(":memory:"), Ledger.open(":memory:")
    first.register(dataset="visits", specification=specification())
    assert (first.datasets, second.datasets) == (("visits",), ())
    assert first.path == ":memory:"
    assert not Path(":memory:").exists()


def test_injected_keys_are_refused_by_a_file_and_taken_by_memory(tmp_path: Path, stream: object) -> None:
    assert stream is not None
    memory = Ledger.open(":memory:")
    memory.register(dataset="visits", specification=specification())
    assert memory.store(memory.reserve(question("x")), b"42").content == b"42"
    with filled(tmp_path / "ledger.db") as ledger:
        with pytest.raises(PrivacyError, match="not private: injected key"):
            ledger.reserve(question("x"))
        assert ledger.account("visits").total.spent == 0


def test_an_answer_declared_as_injected_is_refused(tmp_path: Path) -> None:
    with filled(tmp_path / "ledger.db") as ledger:
        with pytest.raises(PrivacyError, match="not private: injected key"):
            ledger.reserve(question("x"), injected=True)
        reservation = ledger.reserve(question("x"))
        with pytest.raises(PrivacyError, match="not private: injected key"):
            ledger.store(reservation, b"42", injected=True)
        with pytest.raises(PrivacyError, match="nothing may be shown"):
            ledger.reveal(reservation)


def test_a_ledger_that_nobody_holds_is_closed(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.db")
    with ledger._store.reading() as transaction:
        connection = transaction.connection
    del ledger
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
    assert [each.name for each in tmp_path.iterdir()] == ["ledger.db"]
