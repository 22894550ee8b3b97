"""Ctrl-C while an engine works is Ctrl-C, whatever the engine makes of it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import duckdb
import pytest

from quincunx.table.engines import evaluate
from quincunx.table.engines.interruption import noticing
from quincunx.table.expression import Literal


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Ctrl-C as a terminal would deliver it, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_is_noticed_and_passed_on() -> None:
    with noticing() as pressed:
        with pytest.raises(KeyboardInterrupt):
            press()
        assert pressed()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_is_noticed_where_nothing_was_pressed() -> None:
    with noticing() as pressed:
        assert not pressed()
    with pytest.raises(ValueError, match="kept"), noticing() as pressed:
        raise ValueError("kept")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_threads_and_those_who_ignore_it_are_left_alone() -> None:
    found: list[bool] = []

    def look() -> None:
        with noticing() as pressed:
            found.append(pressed())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with noticing() as pressed:
        press()
        found.append(pressed())
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert found == [False, False]


def test_a_handler_of_ones_own_goes_on_working() -> None:
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    with noticing() as pressed:
        press()
        assert pressed()
    assert seen == [signal.SIGINT]


def test_published_values_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """What DuckDB does with Ctrl-C: it swallows it and raises RuntimeError."""

    class Cursor:
        def execute(self, *_: object) -> object:
            with suppress(KeyboardInterrupt):
                press()
            raise RuntimeError("Query interrupted")

        def close(self) -> None: ...

    class Connection:
        cursor: Callable[[], Cursor] = Cursor

    monkeypatch.setattr(sys.modules[evaluate.__module__], "_scratch", lambda _: Connection())
    with pytest.raises(KeyboardInterrupt):
        evaluate([Literal(type="integer", value=1)], {})


def test_duckdb_still_swallows_it() -> None:
    """The reason for all this: Python code inside a query is interrupted, and DuckDB makes an error of its own."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")

    def pressing(number: int) -> int:
        press()
        return number

    connection.create_function("pressing", pressing, [duckdb.sqltypes.BIGINT], duckdb.sqltypes.BIGINT)
    with pytest.raises(duckdb.Error):
        connection.execute("SELECT pressing(range) FROM range(3)").fetchall()
    connection.remove_function("pressing")
    connection.close()
