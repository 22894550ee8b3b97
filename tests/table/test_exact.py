"""Exactness through the whole house: large numbers, signed zeros, NaN, NULL, old dates, divisions; and a canary."""

from __future__ import annotations

import io
import logging
import sqlite3
import traceback
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import quincunx as qx
from quincunx.errors import QuincunxError

SPEND = 10**25
TYPES = (
    ("person", "BIGINT"),
    ("word", "VARCHAR"),
    ("small", "BIGINT"),
    ("wide", "HUGEINT"),
    ("money", "DECIMAL(18,3)"),
    ("real", "DOUBLE"),
    ("day", "DATE"),
    ("seen", "TIMESTAMP"),
)
COLUMNS: dict[str, dict[str, object]] = {
    "word": {"keys": ["süd", "東京", "o'brien", "", None]},
    "small": {"bounds": (-(2**55), 2**55)},
    "wide": {"bounds": (-(2**101), 2**101), "step": 2**60},
    "money": {"bounds": ("-0.0015", "50.05"), "step": "0.1"},
    "real": {"bounds": ("-7.77", "50.05"), "step": "0.1"},
    "day": {"keys": [date(1969, 12, 31), date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)]},
}


def ask(rows: list[tuple[Any, ...]], sql: str, *, rows_limit: int = 1, columns: Any = None) -> list[dict[str, Any]]:
    """The answer of a session at an enormous budget; rows are (column, value) pairs beside the person."""
    connection = duckdb.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name, kind in TYPES)})")
    for row in rows:
        given = dict(row)
        connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(TYPES))})", [given.get(n) for n, _ in TYPES])
    table = qx.Table(connection.table("t"), limits={"rows": rows_limit}, columns=columns or COLUMNS)
    with qx.Session(
        dataset="exact",
        version="1",
        ledger=":memory:",
        tables={"t": table},
        unit=qx.unit.AddRemove(key="person"),
        standard=qx.standard.Pure(),
        intensity=10**40,
        budgets={"smallest_spend": 1},
    ) as session:
        found = [dict(row) for row in session.sql(sql, spend=SPEND).rows]
    connection.close()
    return found


def people(name: str, *values: Any) -> list[tuple[Any, ...]]:
    return [(("person", i), (name, value)) for i, value in enumerate(values)]


def one(rows: list[tuple[Any, ...]], sql: str, **options: Any) -> Any:
    (row,) = ask(rows, sql, **options)
    return row["x"]


def test_a_number_that_no_double_holds() -> None:
    assert one(people("small", 2**53 + 1), "SELECT SUM(small) AS x FROM t") == 2**53 + 1
    assert one(people("small", 2**53 + 1, 2**53 + 1, -1), "SELECT SUM(small) AS x FROM t") == 2 * (2**53 + 1) - 1
    assert one(people("small", 2**53 + 1), "SELECT COUNT(*) FILTER (WHERE small = 9007199254740993) AS x FROM t") == 1
    assert one(people("small", 2**53 + 1), "SELECT COUNT(*) FILTER (WHERE small = 9007199254740992) AS x FROM t") == 0


def test_numbers_beyond_64_bits() -> None:
    assert one(people("wide", 2**100), "SELECT SUM(wide) AS x FROM t") == 2**100
    assert one(people("wide", 2**100, -(2**99), 3 * 2**60), "SELECT SUM(wide) AS x FROM t") == 2**99 + 3 * 2**60
    # Off the lattice: the nearest multiple of the step, halves upward.
    assert one(people("wide", 2**100 + 2**59), "SELECT SUM(wide) AS x FROM t") == 2**100 + 2**60
    assert one(people("wide", 2**100 + 2**59 - 1), "SELECT SUM(wide) AS x FROM t") == 2**100
    assert one(people("wide", -(2**100) - 2**59), "SELECT SUM(wide) AS x FROM t") == -(2**100)
    assert one(people("wide", 2**126), "SELECT SUM(wide) AS x FROM t") == 2**101


def test_bounds_off_the_lattice_count_as_the_lattice_says() -> None:
    # 50.05 is 500.5 steps, and ⌊500.5 + 1/2⌋ is 501; −7.77 is −77.7 steps, and ⌊−77.7 + 1/2⌋ is −78.
    for name in ("money", "real"):
        assert one(people(name, Decimal("50.05")), f"SELECT SUM({name}) AS x FROM t") == Decimal("50.1")
        assert one(people(name, Decimal("1000")), f"SELECT SUM({name}) AS x FROM t") == Decimal("50.1")
    assert one(people("real", -1e300), "SELECT SUM(real) AS x FROM t") == Decimal("-7.8")
    assert one(people("money", Decimal("0.25"), Decimal("0.35")), "SELECT SUM(money) AS x FROM t") == Decimal("0.7")


def test_a_clip_is_used_where_the_column_is_read() -> None:
    # 1000 is read as 110 before anything is done with it: 110 − 20, not what fits the bounds of the sum.
    columns = {**COLUMNS, "small": {"bounds": (0, 110)}}
    assert one(people("small", 1000), "SELECT SUM(small - 20) AS x FROM t", columns=columns) == 90
    assert one(people("small", 1000), "SELECT SUM(200 - small) AS x FROM t", columns=columns) == 90
    assert one(people("small", -5), "SELECT COUNT(*) FILTER (WHERE small = 0) AS x FROM t", columns=columns) == 1
    assert one(people("small", 70), "SELECT SUM(CLAMP(small, 0, 50) * 2 + 1) AS x FROM t", columns=columns) == 101


def test_zeros_and_what_is_no_number() -> None:
    odd = people("real", -0.0, float("nan"), float("inf"), float("-inf"), None, 1.5)
    assert one(odd, "SELECT COUNT(real) AS x FROM t") == 4
    assert one(odd, "SELECT SUM(real) AS x FROM t") == Decimal("0.0") + Decimal("50.1") - Decimal("7.8") + Decimal(
        "1.5"
    )
    assert one(odd, "SELECT COUNT(*) FILTER (WHERE real = 0) AS x FROM t") == 1
    assert one(odd, "SELECT COUNT(*) FILTER (WHERE real IS NULL) AS x FROM t") == 2
    # Not finite after arithmetic: left out where it enters the aggregate.
    assert one(people("real", 0.0, 2.0), "SELECT SUM(CLAMP(1 / real, 0, 9)) AS x FROM t") in (Decimal("9.5"), 9.5)
    assert one(people("real", 0.0, 2.0), "SELECT COUNT(1 / real) AS x FROM t") == 1


def test_keys_of_any_script_and_null() -> None:
    words = ["süd", "東京", "o'brien", "", None, "elsewhere", "su\u0308d"]
    found = ask(people("word", *words), "SELECT word, COUNT(*) AS x FROM t GROUP BY word")
    assert [(row["word"], row["x"]) for row in found] == [("süd", 1), ("東京", 1), ("o'brien", 1), ("", 1), (None, 1)]


def test_dates_before_1970_and_at_the_ends() -> None:
    days = [date(1969, 12, 31), date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), None]
    found = ask(people("day", *days), "SELECT day, COUNT(*) AS x FROM t GROUP BY day")
    assert {row["day"]: row["x"] for row in found} == dict.fromkeys(days[:4], 1)
    assert one(people("day", *days), "SELECT SUM(CLAMP(YEAR(day), 0, 9999)) AS x FROM t") == 1969 + 1 + 9999 + 2024
    seen = people("seen", datetime(1969, 12, 31, 23, 59, 59, 999999))
    asked = "SELECT COUNT(*) FILTER (WHERE DATE_TRUNC('day', seen) = TIMESTAMP '1969-12-31 00:00:00') AS x FROM t"
    assert one(seen, asked) == 1
    assert one(seen, "SELECT SUM(SECOND(seen)) AS x FROM t") == 59


def test_division_of_whole_numbers() -> None:
    sevens = people("small", 7, -7)
    assert one(sevens, "SELECT SUM(CLAMP(small / 2, -9, 9)) AS x FROM t WHERE small > 0") in (Decimal("3.5"), 3.5)
    assert one(sevens, "SELECT SUM(CLAMP(small // 2, -9, 9)) AS x FROM t WHERE small < 0") == -3
    assert one(sevens, "SELECT SUM(CLAMP(small % 2, -9, 9)) AS x FROM t WHERE small < 0") == -1
    assert one(sevens, "SELECT COUNT(small // (small - 7)) AS x FROM t") == 1


def test_a_sum_that_overflows_64_bits_on_the_way() -> None:
    limits = {**COLUMNS, "small": {"bounds": (-(2**52), 2**52)}}
    rows = people("small", *([2**52] * 40), *([-(2**52)] * 39))
    assert one(rows, "SELECT SUM(small) AS x FROM t", columns=limits) == 2**52
    # Past 2^62 lattice units results are clamped, never wrapped.
    many = one(people("small", *([2**55] * 130)), "SELECT SUM(small) AS x FROM t")
    assert many == 2**62 - 1


def test_means_are_exact_ratios() -> None:
    rows = people("small", 1, 2, 4)
    columns = {**COLUMNS, "small": {"bounds": (0, 10)}}
    assert one(rows, "SELECT AVG(small) AS x FROM t", columns=columns) == pytest.approx(7 / 3, abs=1e-12)
    assert Fraction(one(rows[:1], "SELECT AVG(small) AS x FROM t", columns=columns)) == 1


def test_a_stored_answer_does_not_follow_the_data(tmp_path: Path) -> None:
    """Identity is declared: other rows under the same name and version get the same answer, for nothing."""
    pandas = pytest.importorskip("pandas")

    def answer(people: int) -> Any:
        frame = pandas.DataFrame({"person": list(range(people))})
        with qx.Session(
            dataset="kept",
            version="1",
            ledger=tmp_path / "kept.db",
            tables={"t": qx.Table(frame, limits={"rows": 1})},
            unit=qx.unit.AddRemove(key="person"),
            standard=qx.standard.Pure(),
            intensity=10**9,
        ) as session:
            found = session.sql("SELECT COUNT(*) AS n FROM t", spend=10**8)
            return found.rows[0]["n"], found.spent, session.spent

    assert answer(7) == (7, 10**8, 10**8)
    assert answer(8) == (7, 0, 10**8)


# The canary: values that must never be seen, of every type, in questions that are answered, refused or fail.

# Long enough that noise and hashes do not spell them: a test that is red by chance is a defect.
CANARY_NUMBER = 731_946_205_118_427_963
CANARY_TEXT = "Kanarienvogel-5561-zwitschert"
CANARY = (
    "731946205118",
    "731,946,205,118",
    "731_946_205_118",
    "7.31946205118",
    "7.319462e",
    "Kanarien",
    "zwitschert",
)
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM t",
    "SELECT word, COUNT(*) AS n, AVG(small) AS m FROM t GROUP BY word",
    "SELECT COUNT(CAST(note AS BIGINT)) AS n FROM t",
    "SELECT COUNT(CAST(note AS DATE)) AS n FROM t",
    "SELECT SUM(CLAMP(small // (small - 731946205 + 1), 0, 5)) AS n FROM t".replace("731946205", "5"),
    "SELECT COUNT(small * small * small * small * small * small) AS n FROM t",
    "SELECT COUNT(1 / (small - small)) AS n FROM t",
    "SELECT note, COUNT(*) AS n FROM t GROUP BY note",
    "SELECT small, SUM(real) AS s FROM t GROUP BY small",
    "SELECT MAX(small) AS n FROM t",
    "SELECT note FROM t",
    "SELECT * FROM t",
    "SELECT MIN(note) FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE nobody = 1",
    "SELECT SUM(small) FROM t",
    "SELECT SUM(note) FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE note",
    "SELECT COUNT(*) AS n FROM t JOIN t AS u ON t.person = u.person",
    "SELECT COUNT(*) AS n FROM t GROUP BY",
    "SELECT COUNT(*) AS n FROM elsewhere",
    "SELECT STRING_AGG(note, ',') FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE note LIKE (SELECT MIN(note) FROM t)",
    "SELECT ANY_VALUE(note) AS n FROM t; SELECT 1",
    "SELECT COUNT(*) AS n FROM 't.parquet'",
)


@pytest.fixture
def canaries(tmp_path: Path) -> Iterator[tuple[qx.Session, Path]]:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE t (person BIGINT, word VARCHAR, small BIGINT, real DOUBLE, note VARCHAR)")
    connection.execute(
        "INSERT INTO t VALUES (?, ?, ?, ?, ?)",
        [CANARY_NUMBER, CANARY_TEXT, CANARY_NUMBER, float(CANARY_NUMBER), CANARY_TEXT],
    )
    path = tmp_path / "t.parquet"
    connection.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    connection.close()
    columns: dict[str, dict[str, object]] = {
        "word": {"keys": ["a", "b"]},
        "small": {"bounds": (0, 10)},
        "real": {"bounds": (0, 10)},
    }
    session = qx.Session(
        dataset="canary",
        version="1",
        ledger=tmp_path / "ledger.db",
        tables={"t": qx.Table(path, limits={"rows": 3, "groups": 2}, columns=columns)},
        unit=qx.unit.AddRemove(key="person"),
        standard=qx.standard.Approximate("1e-3"),
        intensity=1000,
    )
    with session:
        yield session, tmp_path


def everything(session: qx.Session, sql: str, delta: str | None) -> tuple[str, str]:
    """All that can be seen of one question: answer in every form, error with its traceback, warnings, prints, logs."""
    shown, outcome = io.StringIO(), "answered"
    handler = logging.StreamHandler(shown)
    logging.getLogger().addHandler(handler)
    try:
        with redirect_stdout(shown), redirect_stderr(shown), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for call in (session.explain, session.sql):
                try:
                    answer: Any = call(sql, spend="0.5", delta=delta)
                    shown.write(f"{answer}\n{answer!r}\n")
                    if hasattr(answer, "rows"):
                        shown.write(f"{answer.rows}\n{answer.to_json()}\n{answer._repr_html_()}\n{answer.to_pandas()}")
                except QuincunxError as error:
                    outcome = type(error).__name__
                    shown.write("".join(traceback.format_exception(error)))
                    shown.write(f"{error!r} {error.__dict__} {error.__context__!r} {error.__cause__!r}")
        shown.write(" ".join(str(each.message) for each in caught))
    finally:
        logging.getLogger().removeHandler(handler)
    return outcome, shown.getvalue()


def assert_unseen(text: str, where: str) -> None:
    assert not [each for each in CANARY if each in text], where


def test_a_canary_is_never_seen(canaries: tuple[qx.Session, Path]) -> None:
    session, folder = canaries
    outcomes = set()
    for sql in QUESTIONS:
        for delta in (None, "1e-9"):
            outcome, text = everything(session, sql, delta)
            assert_unseen(text, sql)
            outcomes.add(outcome)
    assert {"answered", "RefusalError", "QueryError"} <= outcomes
    for path in folder.glob("ledger.db*"):
        content = path.read_bytes()
        assert not [each for each in CANARY if each.encode() in content or each.encode("utf-16-le") in content], path


def test_a_canary_is_not_in_a_failing_engine(canaries: tuple[qx.Session, Path]) -> None:
    """The file is broken after it was declared: the engine fails in the middle, and its own words stay inside."""
    session, folder = canaries
    whole = (folder / "t.parquet").read_bytes()
    for broken in (b"", whole[: len(whole) // 2], whole[:4] + b"\x00" * (len(whole) - 8) + whole[-4:]):
        (folder / "t.parquet").write_bytes(broken)
        outcome, text = everything(session, f"SELECT COUNT(*) + {len(broken)} AS n FROM t WHERE small >= 0", None)
        assert outcome == "HaltedError"
        assert_unseen(text, outcome)
    # What was asked of the engine stays charged, and what was not answered is not stored.
    with sqlite3.connect(folder / "ledger.db") as ledger:
        dump = "\n".join(ledger.iterdump())
    assert_unseen(dump, "ledger")
