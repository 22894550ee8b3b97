"""Parquet's two readings agree with Python's decoder, row by row, whatever is asked beside them."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from quincunx.data import RAW_TEXT, connect
from quincunx.data.parquet import Parquet
from quincunx.table.engines.duckdb.scan import arrived
from quincunx.table.table import Table

ROWS = 20_000
PIECES = [b"a", b"key", "é".encode(), "漢".encode(), "😀".encode(), b"?", b"\xff", b"\xed\xa0\x80", b"\xc0", b"\x80"]
PIECES += [b"\xf4\x90\x80\x80", b"\xef\xbf\xbe", b"\xe2\x82", b"\0", "\ufffd".encode(), "\ufdd0".encode()]


def made() -> list[bytes]:
    draw = random.Random("bytes")
    texts = [b"".join(draw.choice(PIECES) for _ in range(draw.randrange(5))) for _ in range(ROWS // 2)]
    return texts + [draw.choice([b"ok", b"fine"]) for _ in range(ROWS - len(texts))]


def decoded(value: bytes) -> str | None:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


@pytest.fixture(scope="module")
def texts() -> list[bytes]:
    found = made()
    random.Random("order").shuffle(found)
    return found


def packed(texts: list[bytes]) -> pa.Table:
    held = pa.Array.from_buffers(pa.string(), len(texts), pa.array(texts, type=pa.binary()).buffers())
    return pa.table({"id": np.arange(len(texts)), "v": np.arange(len(texts)) % 50, "s": held})


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("condition", ["TRUE", "v > 25", "id BETWEEN 9000 AND 9100", "s IS NOT NULL AND v = 3"])
def test_what_both_readings_say_is_what_the_bytes_are(
    texts: list[bytes], tmp_path: Path, threads: int, condition: str
) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(packed(texts), path, row_group_size=3_000)
    origin = Table(path).origin
    assert isinstance(origin, Parquet)
    connection = connect(origin.paths, threads)
    relation = origin.relation(["id", "v", "s"])
    sql = exp.select("id", "v", "s").from_(relation).where(condition).sql(dialect="duckdb")
    rows = connection.execute(sql).fetchall()
    wanted = {i: decoded(value) for i, value in enumerate(texts)}
    assert rows
    assert [row[2] for row in rows] == [wanted[row[0]] for row in rows]
    assert all(row[1] == row[0] % 50 for row in rows)
    if condition == "TRUE":
        assert len(rows) == ROWS
        assert sum(value is None for value in wanted.values()) > ROWS // 10


def test_a_filter_stays_above_the_pairing(texts: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(packed(texts), path)
    origin = Table(path).origin
    sql = exp.select("COUNT(*)").from_(origin.relation(["v", "s"])).where("v > 25 AND s = 'ok'")
    shown = connect(origin.paths).execute(f"EXPLAIN {sql.sql(dialect='duckdb')}").fetchall()[0][1]
    assert shown.index("Filter") < shown.index("Positional") < shown.index("READ_PARQUET")
    assert "Filters" not in shown


def test_decode_agrees_with_python(texts: list[bytes]) -> None:
    connection = duckdb.connect()
    connection.register("source", packed(texts))
    checked, kind = arrived(exp.column("s"), RAW_TEXT)
    rows = connection.execute(f"SELECT {checked.sql(dialect='duckdb')} FROM source").fetchall()
    assert kind == "VARCHAR"
    assert [row[0] for row in rows] == [decoded(value) for value in texts]


def test_a_relation_beside_other_tables_keeps_no_text_that_is_none(texts: list[bytes]) -> None:
    """It is kept in a table before anything else is read, and a table refuses bytes that are not UTF-8."""
    stored = pa.array(texts, pa.binary())
    frame = pa.table({"x": pa.Array.from_buffers(pa.string(), len(stored), stored.buffers()), "n": range(len(texts))})
    own = duckdb.connect()
    own.register("frame", frame)
    origin = Table(own.sql("FROM frame"), limits={"rows": 1}).origin.beside()  # type: ignore[union-attr]
    with connect() as cursor, origin.reading(cursor, ["x", "n"]) as relation:
        found = cursor.execute(exp.select("x").from_(relation).order_by("n").sql("duckdb")).fetchall()
    assert [each for (each,) in found] == [decoded(each) for each in texts]
