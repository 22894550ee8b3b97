"""Opening a table reads no private row and shows none; encodings are declared and never guessed."""

from __future__ import annotations

import logging
import os
import traceback
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quincunx.data import arrow, encoding
from quincunx.errors import DataError, QueryError, QuincunxError
from quincunx.spec.unit import AddRemove
from quincunx.table.engines import DuckDB, evaluate
from quincunx.table.rules import plan
from quincunx.table.sql import read
from quincunx.table.table import Table, schema

CANARY = "canary-5e1c"


def total(table: Table, sql: str) -> list[Any]:
    declared = schema({"t": table}, AddRemove(key="p"))
    program = plan(read(sql, declared, evaluate), declared, 1)
    with DuckDB({"t": table}, declared) as engine:
        return [measure.tolist()[0] / 2**20 for measure in engine.run(program).measures]


class Tells:
    """An object whose error holds a private value."""

    def __str__(self) -> str:
        raise ValueError(CANARY)

    def __repr__(self) -> str:
        return CANARY


def reachable(error: BaseException) -> str:
    """Everything that an error shows or carries: texts, attributes, causes, tracebacks."""
    seen: list[str] = []
    while error is not None:
        seen += [str(error), repr(error), repr(vars(error)), repr(error.args)]
        seen += [repr(getattr(error, name, "")) for name in ("object", "doc", "filename")]
        seen += traceback.format_exception(error)
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return " ".join(seen)


FRAMES: dict[str, Any] = {
    "surrogates in objects": lambda: pd.Series(["a", f"{CANARY}\ud800"], dtype="object"),
    "objects that refuse": lambda: pd.Series(["a", Tells()], dtype="object"),
    "surrogates in texts": lambda: pd.Series(["a", f"{CANARY}\ud800"], dtype=pd.StringDtype("python")),
    "surrogates in categories": lambda: pd.Series(
        pd.Categorical.from_codes([0, 1], pd.Index(["a", f"{CANARY}\ud800"], dtype="object"))
    ),
    "bytes that are no text": lambda: pd.Series(
        pd.array(
            pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", CANARY.encode() + b"\xff"]).buffers()),
            dtype=pd.ArrowDtype(pa.string()),
        )
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_with_a_hostile_row_opens_and_answers(
    name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"p": [1, 2], "s": FRAMES[name]()})
    with caplog.at_level(logging.DEBUG):
        table = Table(frame, limits={"rows": 1}, columns={"s": {"type": "text"}})
        assert total(table, "SELECT COUNT(*) AS n, COUNT(s) AS m FROM t") == [2, 1]
    printed = capfd.readouterr()
    shown = caplog.text + printed.out + printed.err + repr(table) + repr(table.notes) + repr(table.origin.fields)
    assert CANARY not in shown


def test_opening_a_frame_looks_at_no_value() -> None:
    """An object that counts how often it is looked at."""
    asked = []

    class Counts:
        def __str__(self) -> str:
            asked.append(1)
            return "x"

    frame = pd.DataFrame({"p": [1], "s": pd.Series([Counts()], dtype="object")})
    table = Table(frame, limits={"rows": 1}, columns={"s": {"type": "text"}})
    declared = schema({"t": table}, AddRemove(key="p"))
    plan(read("SELECT COUNT(s) AS n FROM t", declared, evaluate), declared, 1)
    assert not asked
    assert total(table, "SELECT COUNT(s) AS n FROM t") == [1]
    assert asked


def test_categories_are_not_in_the_types() -> None:
    names = [CANARY, "b"]
    frames: list[Any] = [
        pd.DataFrame({"p": [1, 2], "s": pd.Categorical(names)}),
        pl.DataFrame({"p": [1, 2], "s": names}).cast({"s": pl.Enum(names)}),
        duckdb.sql(f"SELECT UNNEST([1, 2]) AS p, UNNEST(['{CANARY}', 'b']::ENUM('{CANARY}', 'b')[]) AS s"),
    ]
    for frame in frames:
        table = Table(frame, limits={"rows": 1})
        assert CANARY not in repr(table.origin.fields)
        assert total(table, "SELECT COUNT(s) AS n FROM t WHERE s = 'b'") == [1]


@pytest.mark.parametrize("place", ["early", "late"])
def test_a_bad_byte_of_a_csv_file_refuses_nothing_wherever_it_is(place: str, tmp_path: Path) -> None:
    lines = [b"%d,name%d" % (i, i) for i in range(5_000)]
    lines[0 if place == "early" else -1] = b"6000,caf\xe9"
    path = tmp_path / "x.csv"
    path.write_bytes(b"p,s\n" + b"\n".join(lines) + b"\n")
    table = Table(path, limits={"rows": 1})
    assert total(table, "SELECT COUNT(*) AS n, COUNT(s) AS m FROM t") == [5_000, 4_999]
    # An owner that is no text is nobody.
    owned = schema({"t": table}, AddRemove(key="s"))
    program = plan(read("SELECT COUNT(*) AS n FROM t", owned, evaluate), owned, 1)
    with DuckDB({"t": table}, owned) as engine:
        assert engine.run(program).measures[0].tolist() == [4_999 * 2**20]
    assert not os.path.exists(table.origin.folders[0])


def test_only_the_first_line_is_decoded_when_a_csv_file_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b'\xef\xbb\xbfp,"two\nlines",s\r\n1,2,\xff\xff\n')
    table = Table(path, limits={"rows": 1})
    assert [name for name, _ in table.origin.fields] == ["p", "two\nlines", "s"]
    assert encoding.first_line(path, "utf-8") == 'p,"two\nlines",s'
    path.write_bytes(b"p,caf\xe9\n" + CANARY.encode() + b",1\n")
    with pytest.raises(DataError, match="the first line is not utf-8") as refused:
        Table(path)
    assert "latin-1" in refused.value.hint
    assert refused.value.where == "Table.encoding"
    assert CANARY not in reachable(refused.value)


TEXTS = ["é", "ÿ", "plain", "naïve €"]


@pytest.mark.parametrize(("name", "codec"), [("latin-1", "latin-1"), ("windows-1252", "cp1252"), ("utf-16", "utf-16")])
def test_a_declared_encoding_is_used(name: str, codec: str, tmp_path: Path) -> None:
    texts = [text for text in TEXTS if codec != "latin-1" or "€" not in text]
    path = tmp_path / "x.csv"
    path.write_bytes(("p,naïve s\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts))).encode(codec))
    table = Table(path, public=True, encoding=name)
    assert table.values("naïve s") == texts
    assert not os.path.exists(table.origin.folders[0])


def test_every_byte_is_a_value_or_null_in_every_encoding(tmp_path: Path) -> None:
    """The engine's own decoder of Latin-1 ends the question at 0x80."""
    path = tmp_path / "x.csv"
    quiet = [code for code in range(256) if code not in b'\n\r,"']
    path.write_bytes(b"p,s\n" + b"".join(b"%d,<%c>\n" % (code, code) for code in quiet))
    for name, codec in {"utf-8": "utf-8", "latin-1": "latin-1", "windows-1252": "cp1252"}.items():
        wanted = []
        for code in quiet:
            try:
                wanted.append(f"<{bytes([code]).decode(codec)}>")
            except UnicodeDecodeError:
                wanted.append(None)
        assert Table(path, public=True, encoding=name).values("s") == wanted
    path.write_bytes("p,s\n1,ok\n".encode("utf-16") + b"\x00\xd8\x0a\x00\x32")
    assert Table(path, public=True, encoding="utf-16").values("s")[0] == "ok"


def test_decoded_copies_are_private_and_gone(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"p,s\n1,\xff\n")
    folder = str(tmp_path / "apart") + os.sep
    with encoding.readable(str(path), "utf-8", folder) as copy:
        assert copy.startswith(folder)
        assert os.stat(copy).st_mode & 0o777 == 0o600
        assert os.stat(folder).st_mode & 0o777 == 0o700
        assert Path(copy).read_text(encoding="utf-8") == "p,s\n1,\ufdd0\n"
    assert not os.path.exists(folder)
    with pytest.raises(RuntimeError), encoding.readable(str(path), "latin-1", folder):
        raise RuntimeError
    assert not os.path.exists(folder)
    path.write_bytes(b"p,s\n1,x\n")
    with encoding.readable(str(path), "utf-8", folder) as same:
        assert same == str(path)


def test_encodings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"p": [1]}), path)
    for source, given, message in (
        (path, "latin-1", "only CSV files have an encoding"),
        (pa.table({"p": [1]}), "latin-1", "only CSV files have an encoding"),
        (path, "latin1", "unknown encoding"),
        (path, 5, "unknown encoding"),
    ):
        with pytest.raises(DataError, match=message):
            Table(source, encoding=given)  # type: ignore[arg-type]


def test_lengths_are_declared_in_bytes() -> None:
    frame = pa.table({"p": [1, 2, 3], "s": ["éé", "abcde", "x" * 70_000]})
    sql = "SELECT COUNT(*) AS n, COUNT(s) AS m FROM t"
    assert total(Table(frame, limits={"rows": 1}), sql) == [3, 2]
    assert total(Table(frame, limits={"rows": 1}, columns={"s": {"length": 4}}), sql) == [3, 1]
    assert total(Table(frame, limits={"rows": 1}, columns={"s": {"length": 100_000}}), sql) == [3, 3]
    for given, message in ((0, "1 or greater"), (131_073, "too long"), ("x", "expected a finite number")):
        with pytest.raises(QuincunxError, match=message):
            Table(frame, columns={"s": {"length": given}})
    with pytest.raises(DataError, match="only texts have a length"):
        Table(frame, columns={"p": {"length": 4}}).schema("t", {})


def test_names_keys_and_questions_are_unicode() -> None:
    with pytest.raises(DataError, match="name is not Unicode"):
        Table(pd.DataFrame([[1, 1]], columns=pd.Index(["p", "s\ud800"], dtype="object")))
    table = Table(pa.table({"p": [1], "s": ["a"]}), columns={"s": {"keys": ["a", "\ud800"]}})
    with pytest.raises(DataError, match="a key has the wrong type"):
        table.schema("t", {})
    declared = schema({"t": Table(pa.table({"p": [1], "s": ["a"]}), limits={"rows": 1})}, AddRemove(key="p"))
    with pytest.raises(QueryError, match="no text"):
        read("SELECT COUNT(*) AS n FROM t WHERE s = '\ud800'", declared, evaluate)


def test_a_column_that_cannot_be_read_spoils_no_other() -> None:
    frame = pd.DataFrame({"p": [1], "x": np.array([1j]), "y": pd.period_range("2024", periods=1, freq="M"), "z": [1.5]})
    table = Table(frame, limits={"rows": 1}, columns={"z": {"bounds": (0, 2)}})
    assert [name for name, _ in table.origin.fields] == ["p", "z"]
    assert table.notes == (
        "Column x is of a type that the engine cannot read.",
        "Column y is of a type that the engine cannot read.",
    )
    assert total(table, "SELECT SUM(z) AS s FROM t")


def test_without_pyarrow_moments_in_milliseconds_are_refused_by_the_file_s_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = pa.array([1, 2], pa.timestamp("ms"))
    nested = pa.array([{"day": 1}], pa.struct([("day", pa.timestamp("ms"))]))
    slow, fast = tmp_path / "slow.parquet", tmp_path / "fast.parquet"
    pq.write_table(pa.table({"p": [1, 2], "day": moments, "s": ["a", "b"]}), slow)
    pq.write_table(pa.table({"p": [1], "s": nested, "day": pa.array([1], pa.timestamp("us"))}), fast)
    sql = "SELECT COUNT(*) AS n FROM t WHERE day < TIMESTAMP '1970-01-01 00:00:00.002' AND s <> 'b'"
    assert total(Table(slow, limits={"rows": 1}), sql) == [1]
    monkeypatch.setattr(arrow, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    with pytest.raises(DataError, match="'day' holds moments in milliseconds") as refused:
        Table(slow)
    assert "Install pyarrow" in refused.value.hint
    # A nested column of the same name is not meant, and texts need no pyarrow.
    assert total(Table(fast, limits={"rows": 1}), "SELECT COUNT(day) AS n FROM t") == [1]
    text = tmp_path / "text.parquet"
    bad = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())
    pq.write_table(pa.table({"p": [1, 2], "s": bad}), text)
    assert total(Table(text, limits={"rows": 1}), "SELECT COUNT(*) AS n, COUNT(s) AS m FROM t") == [2, 1]


def test_nan_in_a_parquet_file_is_null_whatever_its_statistics_say(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"p": [1, 2, 3], "x": [1.0, 2.0, float("nan")]}), path)
    table = Table(path, limits={"rows": 1}, columns={"x": {"bounds": (0, 10), "step": 1}})
    assert total(table, "SELECT COUNT(x) AS n, SUM(x) AS s FROM t") == [2, 3]
